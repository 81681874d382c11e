import CommandLineSupport
import HTTPRecovery

/// What an exchange came to, in words for whoever debugs it.
struct Explanation {
    let outcome: Outcome
    let now: Timestamp

    /// The lines, the most important first.
    var lines: [String] {
        var lines = ["\(answer): \(outcome.kind.rawValue)", "  \(outcome.kind.explanation)"]
        for (name, value) in facts { lines.append("  \(name.padded(to: 14))\(value)") }
        lines += remedies
        if let text = outcome.userMessage {
            lines.append("  The provider's words for the person:")
            lines.append("    \(text.prefix(1000))")
        } else if outcome.isFailure {
            lines.append("  What to tell the person:")
            let error = RecoveryError(outcome: outcome, reason: .notRecoverable)
            lines.append("    \(error.userMessage)")
        }
        for (index, item) in outcome.items.prefix(50).enumerated() {
            lines.append("")
            lines += Explanation(outcome: item, now: now).lines.enumerated().map { number, line in
                number == 0 ? "Item \(index + 1) of \(outcome.items.count), \(line)" : line
            }
        }
        return lines
    }

    private var answer: String {
        if let error = outcome.transportError {
            return "No answer (\(error.certainty.rawValue.replacing("_", with: " ")))"
        }
        return outcome.status.map { "HTTP \($0)" } ?? "No status"
    }

    /// What is known, by its name.
    private var facts: [(String, String)] {
        var facts: [(String, String)] = []
        func add(_ name: String, _ value: String?) {
            if let value { facts.append((name, String(value.prefix(300)))) }
        }
        add("code", outcome.code.map { code in outcome.subcode.map { "\(code), subcode \($0)" } ?? code })
        add("state", outcome.statusType)
        add("factor", outcome.factorResult)
        add("parameter", outcome.parameter)
        add("message", outcome.message)
        if outcome.kind != .ok { add("holds for", outcome.scope.explanation) }
        add("wait", outcome.retryAfter.map { wait($0) } ?? (outcome.kind == .rateLimited ? "no time is stated" : nil))
        switch outcome.lockout {
        case .remaining(let time): add("locked", wait(time))
        case .indefinite: add("locked", "until somebody unlocks it")
        case nil: break
        }
        if outcome.isFailure { add("processed", outcome.processed.explanation) }
        if outcome.credential != nil || outcome.tokenAction != .keep {
            let credential = outcome.credential.map { "\($0.rawValue): " } ?? ""
            add("credential", credential + outcome.tokenAction.explanation)
        }
        add("advice", outcome.advice?.description)
        add("trace id", outcome.traceID)
        return facts
    }

    private var remedies: [String] {
        guard outcome.kind != .ok else { return [] }
        guard !outcome.remedies.isEmpty else { return ["  Nothing is known to help."] }
        let heading = outcome.isFailure ? "  What helps, best first:" : "  What the flow wants next:"
        return [heading] + outcome.remedies.map { "    \($0.rawValue.padded(to: 22))\($0.explanation)" }
    }

    private func wait(_ duration: Duration) -> String {
        "\(HumanTime.text(duration)), until \(HumanTime.clock(now.advanced(by: duration), now: now))"
    }
}

extension String {
    /// The text with blanks behind it, so that what follows stands in a column.
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
