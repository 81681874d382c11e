import ArgumentParser
import CommandLineSupport

Program.openStandardDescriptors()
if let script = CompletionScript.forZsh(of: HTTPRecoverCommand.self) {
    print(script)
    Program.exit(.success)
}
if CommandLine.arguments.dropFirst().first == ReplayCommand.name {
    let terminal = Terminal()
    do {
        let command = try ReplayCommand.parse(Array(CommandLine.arguments.dropFirst(2)))
        Program.exit(try command.replay(on: terminal, output: StandardOutput(terminal: terminal)))
    } catch let error as FileError {
        terminal.write("http-recover: \(error)")
        Program.exit(.badInput)
    } catch {
        Program.refuse(error, by: ReplayCommand.self)
    }
}
let command: HTTPRecoverCommand
do {
    command = try HTTPRecoverCommand.parse()
} catch {
    Program.refuse(error, by: HTTPRecoverCommand.self)
}
do {
    let plan = try CallPlan(command)
    let runner = try Runner(plan)
    Program.run(emergency: runner.abandon, isFinishing: { runner.isFinishing }, runner.run)
} catch let error as InvalidOption {
    Program.refuse(ValidationError(error.description), by: HTTPRecoverCommand.self)
} catch {
    Terminal().write("http-recover: \(error)")
    Program.exit(.badInput)
}
