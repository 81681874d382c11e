import ArgumentParser
import CommandLineSupport
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting

/// Tells what logged exchanges mean: one JSON object a line in, one a line out.
struct Classify {
    let provider: ProviderName

    func run() throws {
        let classifier = provider.classifier
        let output = StandardOutput(terminal: Terminal(isQuiet: true))
        if isatty(STDIN_FILENO) != 0 {
            Terminal().write("Write an exchange in a line, as --help shows, and end with Ctrl-D on a line of its own.")
        }
        do {
            try StandardInput.forEachLine { line in
                if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
                let answer = RecordedExchange.answer(to: line, by: classifier)
                try output.write(json: answer)
            }
        } catch {
            Terminal().write("auth-client: \(error)")
            throw ExitCode(ExitStatus.badInput.rawValue)
        }
    }
}
