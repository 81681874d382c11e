import ArgumentParser
import CommandLineSupport
import HTTPRecovery
import HTTPRecoveryTesting

/// Tells what logged exchanges mean: one JSON object a line in, one a line out.
struct Classify {
    let provider: ProviderName

    func run() throws {
        let classifier = provider.classifier
        let output = StandardOutput(terminal: Terminal(isQuiet: true))
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
