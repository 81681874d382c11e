import ArgumentParser
import CommandLineSupport
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting

/// Tries policies on virtual time, without a network.
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http-recover simulate",
        abstract: "Tries how calls would be recovered on a script of answers, without sending anything.",
        discussion: """
            Each line of standard input is a scenario, a JSON object; each is answered with a line: what was sent when, what \
            was waited for, and how each call ended. Time is virtual: hours take no longer than seconds.

              {"options": {"preset": "batch"}, "calls": [{"answers": [{"status": 503}]}]}

            An answer is a "status" or an "error", such as "unknown" for one that was lost; the last of a call's answers is \
            repeated. Options are those of a policy file, such as {"max_attempts": 4, "backoff": {"base_s": 0.1}}; those that \
            are absent are off. "preset" sets many, and has all that is absent: standard, aggressive, batch, interactive, none, aws_standard, grpc, \
            polly_standard. "random" holds the random numbers in turn, such as [0.5, 0.2], and "name" comes back in the \
            answer. A line that is no valid scenario is answered with "invalid", a sentence.

            EXIT STATUS
              0    every line was answered
              64   the program was called wrongly
              65   standard input cannot be read, or the plot cannot be written
            """
    )

    /// What tells the command from a request, as the first argument.
    static let name = "simulate"

    @Option(
        help: ArgumentHelp("Draws the calls of the last scenario over time.", valueName: "FILE.svg"),
        completion: .file()
    )
    var plot: String?

    @Flag(name: .shortAndLong, help: "Tells errors alone.")
    var quiet = false

    /// Answers each line as soon as it has come.
    func simulate(on terminal: Terminal, output: StandardOutput) throws -> ExitStatus {
        if isatty(STDIN_FILENO) != 0, !quiet {
            terminal.write("Write a scenario in a line, as simulate --help shows, and end with Ctrl-D on its own line.")
        }
        let drawing = try plot.map { try AtomicFile($0) }
        try StandardInput.forEachLine { line in
            guard line.contains(where: { $0 > UInt8(ascii: " ") }) else { return }
            var plot: String?
            let answer = Simulation.answer(
                to: Array(line),
                classifier: { ProviderChoice(rawValue: $0)?.classifier },
                drawing: drawing.map { _ in { plot = $0 } }
            )
            try output.write(json: answer)
            guard let drawing, let plot, try drawing.restart() else { return }
            try drawing.write(Array(plot.utf8)[...])
        }
        try drawing?.commit()
        return .success
    }
}
