import ArgumentParser
import CommandLineSupport
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Transcripts

/// Tells what one pasted response means, in words.
struct Explain {
    let provider: ProviderName
    let hints: PastedExchange.Hints
    let json: Bool
    let terminal: Terminal

    func run() throws {
        if isatty(STDIN_FILENO) != 0 {
            terminal.write("Paste the response, as curl -i prints it, and end it with Ctrl-D on a line of its own.")
        }
        let pasted: PastedExchange
        do {
            let text = try StandardInput.contents(of: "-", upTo: 16 << 20)
            pasted = try PastedExchange(text, hints: hints, now: .system())
        } catch {
            terminal.write("auth-client: \(error)")
            throw ExitCode(ExitStatus.badInput.rawValue)
        }
        let outcome = provider.classifier.classify(pasted.exchange)
        let output = StandardOutput(terminal: terminal)
        guard !json else {
            try output.write(json: outcome.json(name: nil))
            return
        }
        var lines = Explanation(outcome: outcome, now: pasted.exchange.now).lines.map { ScreenText($0) }
        if pasted.supposesStatus { lines.append("  (No status stood there: 400 is supposed. --status tells another.)") }
        if pasted.supposesRequest {
            lines.append("  (No request stood there: --request 'METHOD /path' tells it; some answers depend on it.)")
        }
        for line in lines { try output.write(line) }
    }
}
