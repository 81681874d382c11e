import ArgumentParser
import CommandLineSupport

Program.openStandardDescriptors()
if let script = CompletionScript.forZsh(of: HTTPRecoverCommand.self) {
    print(script)
    Program.exit(.success)
}
/// Runs a command that sends nothing, and ends the program with it.
func perform<Command: ParsableCommand>(
    _: Command.Type,
    _ work: (Command, Terminal, StandardOutput) throws -> ExitStatus
) -> Never {
    let terminal = Terminal()
    let arguments = Array(CommandLine.arguments.dropFirst(2))
    do {
        let command = try Command.parse(arguments)
        Program.exit(try work(command, terminal, StandardOutput(terminal: terminal)))
    } catch let error as FileError {
        terminal.write("http-recover: \(error)")
        Program.exit(.badInput)
    } catch {
        Program.refuse(error, by: Command.self, arguments: arguments)
    }
}
switch CommandLine.arguments.dropFirst().first {
case ReplayCommand.name: perform(ReplayCommand.self) { try $0.replay(on: $1, output: $2) }
case SimulateCommand.name: perform(SimulateCommand.self) { try $0.simulate(on: $1, output: $2) }
default: break
}
let command: HTTPRecoverCommand
let words: CommandWords
do {
    do {
        words = try CommandWords(CommandLine.arguments.dropFirst(), of: HTTPRecoverCommand.self)
    } catch {
        throw ValidationError(error.description)
    }
    command = try HTTPRecoverCommand.parse(words.arguments)
} catch {
    Program.refuse(error, by: HTTPRecoverCommand.self)
}
do {
    let plan = try CallPlan(command, words)
    let runner = try Runner(plan)
    Program.run(emergency: runner.abandon, isFinishing: { runner.isFinishing }, runner.run)
} catch let error as InvalidOption {
    Program.refuse(ValidationError(error.description), by: HTTPRecoverCommand.self)
} catch {
    Terminal().write("http-recover: \(error)")
    Program.exit(.badInput)
}
