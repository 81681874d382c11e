import AuthRecovery
import CommandLineSupport
import HTTPRecovery

/// Asks the person at the terminal.
struct Prompts: Sendable {
    let terminal: Terminal

    /// Asks a question; a password is not shown while it is typed.
    func ask(_ challenge: Challenge) async throws -> ChallengeAnswer {
        if let hint = challenge.hint { tell(hint) }
        while true {
            let text = try await terminal.ask(Self.question(challenge), isHidden: challenge.key.isHidden)
            switch text {
            case "": continue
            case "?": for line in Self.help(challenge) { tell(line) }
            case "resend" where challenge.key.isSent: return .resend
            case "other" where challenge.key != .newPassword: return .useAnotherFactor
            default: return .text(Secret(text))
            }
        }
    }

    /// Lets the person choose a factor.
    func choose(among factors: [Factor]) async throws -> Factor {
        tell("You can go on with:")
        for (index, factor) in factors.enumerated() {
            let destination = factor.destination.map { " to \($0)" } ?? ""
            tell("  \(index + 1)  \(factor.key.title)\(destination)")
        }
        while true {
            let text = try await terminal.ask("Which one? [1-\(factors.count)] ", isHidden: false)
            if let number = Int(text), factors.indices.contains(number - 1) { return factors[number - 1] }
            if let factor = factors.first(where: { $0.providerName == text }) { return factor }
            tell("Please answer with a number from 1 to \(factors.count).")
        }
    }

    /// Tells the person something.
    func tell(_ text: String) {
        terminal.write(Masking.printable(text))
    }

    private static func question(_ challenge: Challenge) -> String {
        let destination = challenge.factor.destination.map { " sent to \($0)" } ?? ""
        let more = challenge.key.isSent ? " (? for help)" : ""
        return "\(challenge.key.title)\(destination)\(more): "
    }

    private static func help(_ challenge: Challenge) -> [String] {
        var lines = ["Type the \(challenge.key.title.lowercased()) and press return."]
        if challenge.key.isSent { lines.append("resend  has a new code sent") }
        lines.append("other   goes on with another way to prove that it is you")
        lines.append("Ctrl-C  ends the sign-in")
        return lines
    }
}

extension AnswerKey {
    /// What the person is asked for, in words.
    var title: String {
        switch self {
        case .password: "Password"
        case .emailCode: "Code by e-mail"
        case .phoneCode: "Code by phone"
        case .emailLink: "Address that the link in the e-mail leads to"
        case .totp: "Code of the authenticator app"
        case .backupCode: "Backup code"
        case .newPassword: "New password"
        case .choice: "Choice"
        case .securityAnswer: "Answer"
        case .webauthn: "Outcome of the security key"
        case .push: "Confirmation on the other device"
        case .phoneNumber: "Phone number"
        case .text: "Answer"
        }
    }

    /// Whether the answer is hidden while it is typed.
    var isHidden: Bool {
        self == .password || self == .newPassword || self == .securityAnswer
    }

    /// Whether the server sends what is asked for, so that it can be sent again.
    var isSent: Bool {
        self == .emailCode || self == .phoneCode || self == .emailLink
    }
}
