import ArgumentParser
import CommandLineSupport

Program.openStandardDescriptors()
if let script = CompletionScript.forZsh(of: HTTPRecoverCommand.self) {
    print(script)
    Program.exit(.success)
}
/// The command that sends nothing, and its options, which may stand in front of it too; nil for a request.
func ownCommand() -> (name: String, arguments: [String])? {
    var (front, rest): ([String], ArraySlice<String>) = ([], CommandLine.arguments.dropFirst())
    while let word = rest.popFirst() {
        switch word {
        case ReplayCommand.name, SimulateCommand.name: return (word, front + rest)
        case "-q", "--quiet": front.append(word)
        case "--plot": front += [word] + (rest.popFirst().map { [$0] } ?? [])
        case _ where word.hasPrefix("--plot="): front.append(word)
        default: return nil
        }
    }
    return nil
}
/// Runs a command that sends nothing, and ends the program with it.
func perform<Command: ParsableCommand>(
    _: Command.Type,
    _ arguments: [String],
    _ work: (Command, Terminal, StandardOutput) throws -> ExitStatus
) -> Never {
    let terminal = Terminal()
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
if let (name, arguments) = ownCommand() {
    if name == ReplayCommand.name { perform(ReplayCommand.self, arguments) { try $0.replay(on: $1, output: $2) } }
    perform(SimulateCommand.self, arguments) { try $0.simulate(on: $1, output: $2) }
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
    if !command.report.isSilent { Terminal().write("http-recover: \(error)") }
    Program.exit(.badInput)
}
