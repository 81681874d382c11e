import AuthRecovery
import CommandLineSupport
import HTTPRecovery
import Locking

/// Asks the person at the terminal.
final class Prompts: Sendable {
    let terminal: Terminal
    /// The last thing that was told.
    private let told = Locked<ScreenText?>(nil)
    /// What was wished for last, while nothing was said about it.
    private let wish = Locked<Wish?>(nil)
    private let bounds: CommandBounds

    /// What a person may wish for instead of giving an answer.
    private enum Wish: Equatable {
        case resend
        case other(Factor)
    }

    init(terminal: Terminal, bounds: CommandBounds) {
        self.terminal = terminal
        self.bounds = bounds
    }

    /// Asks a question; a password is not shown while it is typed.
    func ask(_ challenge: Challenge) async throws -> Challenge.Answer {
        switch takeWish() {
        case .resend where challenge.key.isSent: tell("A new one was sent\(Prompts.destination(challenge.factor)).")
        case .other(let factor) where factor.isSame(as: challenge.factor):
            // Nobody can type what a security key says.
            if challenge.key == .webauthn { throw Challenge.NoAnswer(.webauthn) }
            tell("There is no other way here.")
        default: break
        }
        if challenge.key == .webauthn {
            tell("This program cannot ask a security key.")
            return another(than: challenge)
        }
        for line in Prompts.preparation(challenge, on: terminal) { tell(line) }
        while true {
            let text = try await ask(Prompts.question(challenge), isHidden: challenge.key.isHidden)
            told.withLock { $0 = nil }
            switch text {
            case "" where challenge.isOptional: return .useAnotherFactor
            case "": continue
            case "?": for line in Prompts.help(challenge) { tell(line) }
            case "resend" where challenge.key.isSent || challenge.key == .push:
                wish.withLock { $0 = .resend }
                return .resend
            case "resend" where challenge.key.isRead: tell("Nothing is sent for this, so nothing can be sent again.")
            case "other" where challenge.key == .newPassword: tell("There is no other way here.")
            case "other": return another(than: challenge)
            // What is no part of an address would only end the sign-in.
            case _ where challenge.key == .redirect && !text.contains { ":=".contains($0) }:
                tell("Please copy the whole address from the browser.")
            case _ where challenge.key == .push: for line in Prompts.help(challenge) { tell(line) }
            default: return .text(Secret(text))
            }
        }
    }

    /// Asks a question that is about no factor.
    func ask(_ question: ScreenText, isHidden: Bool) async throws -> String {
        try await bounds.hold { [terminal] in try await terminal.ask(question, isHidden: isHidden) }
    }

    private func another(than challenge: Challenge) -> Challenge.Answer {
        wish.withLock { $0 = .other(challenge.factor) }
        return .useAnotherFactor
    }

    /// Lets the person choose a factor.
    func choose(among factors: [Factor]) async throws -> Factor {
        tell(Prompts.heading(factors))
        let isSetUp = Prompts.isSetUp(factors)
        let lines = factors.map { Prompts.line($0, isSetUp: isSetUp) }
        for (index, factor) in factors.enumerated() {
            // What looks like another one is told apart by the provider's own name.
            let isAlone = lines.count { $0 == lines[index] } == 1
            let name: ScreenText = isAlone ? "" : " (\(factor.providerName, limit: 100))"
            tell("  \(index + 1)  \(lines[index])\(name)")
        }
        while true {
            let text = try await ask("Which one? [1-\(factors.count)] ", isHidden: false)
            if let number = Int(text), number > 0, number <= factors.count { return factors[number - 1] }
            if let factor = factors.first(where: { $0.providerName == text }) { return factor }
            tell("Please answer with a number from 1 to \(factors.count); Ctrl-C ends the sign-in.")
        }
    }

    /// Whether a choice is about what is set up: a number is typed in for what does not exist yet.
    private static func isSetUp(_ factors: [Factor]) -> Bool { factors.contains { $0.key == .phoneNumber } }

    /// What stands above a choice.
    private static func heading(_ factors: [Factor]) -> ScreenText {
        if factors.allSatisfy({ $0.key == .choice || $0.key == .text }) { return "Please choose:" }
        return isSetUp(factors) ? "You can set up:" : "You can go on with:"
    }

    /// What a factor is called where it is one of several, and what choosing it does.
    private static func line(_ factor: Factor, isSetUp: Bool) -> ScreenText {
        let name: ScreenText = factor.destination.map { " (\($0, limit: 200))" } ?? ""
        // Where something is sent to is known; for what is yet to be set up, it is asked for first.
        let sent: ScreenText = factor.destination.map { " to \($0, limit: 200) (sends one now)" } ?? ""
        // A question to choose stands by itself, and so does a choice that is no way to prove oneself.
        return switch factor.key {
        case .securityAnswer: "\(factor.destination ?? factor.key.title, limit: 200)"
        case .choice: "\(factor.destination ?? factor.providerName, limit: 200)"
        case .text: "\(factor.destination ?? words(factor.providerName), limit: 200)"
        case .redirect: "Sign in at \(factor.destination ?? factor.providerName, limit: 200)"
        case .password where waysOut[factor.providerName] != nil: "\(waysOut[factor.providerName] ?? "", limit: 200)"
        case .password where factor.providerName == "reset_password": "A new password, by a link\(sent)"
        case .newPassword where factor.providerName == "recover": "A new password in place of a forgotten one"
        case .webauthn: "Passkey or security key\(name)"
        case .totp where isSetUp: "Authenticator app\(name)"
        case .phoneNumber:
            factor.destination.map { "Phone number \($0, limit: 200)" } ?? "Another phone number (sends a code there)"
        case .emailLink: "Link by e-mail\(sent)"
        case .push where factor.destination != nil: "\(factor.key.title)\(name) (sends one now)"
        case _ where factor.key.isSent: "\(factor.key.title)\(sent)"
        // No code goes there: it is what the person calls it.
        default: "\(factor.key.title)\(name)"
        }
    }

    /// What the person does before the password is taken again, at Auth0.
    private static let waysOut = [
        "blocked_account": "The link of the e-mail that told you of the block, then the password",
        "changed_password": "A new password that you have set where you manage your account",
    ]

    /// A provider's name of something, such as `organization_name`, as it is written in a sentence of its own.
    private static func words(_ name: String) -> String {
        let words = String(name.map { $0 == "_" || $0 == "-" ? " " : $0 })
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// Tells the person something.
    ///
    /// - Parameters:
    ///   - text: What to tell.
    ///   - isRepeated: Whether it is told again if it was the last thing that was told.
    func tell(_ text: ScreenText, isRepeated: Bool = true) {
        let isNew = told.withLock { told in
            defer { told = text }
            return told != text
        }
        wish.withLock { $0 = nil }
        if isNew || isRepeated { terminal.write(text) }
    }

    /// What is to be known of something that is answered elsewhere; whoever reads it has asked for it.
    static func shown(_ challenge: Challenge, on terminal: Terminal?) -> [ScreenText] {
        var lines: [ScreenText] = []
        if let prompt = challenge.prompt { lines.append("\(prompt, limit: 500)") }
        // The server's words may have it already.
        if let number = challenge.number, challenge.prompt?.contains(number) != true {
            lines.append("Choose the number \(number, limit: 64) on your phone.")
        }
        if lines.isEmpty, challenge.key == .emailLink {
            lines.append("A link was sent\(destination(challenge.factor)). Please open it, on any device.")
        } else if let url = challenge.url {
            lines.append("Please open this address on your device: \(url.reveal())")
        } else if lines.isEmpty, challenge.key == .push {
            lines.append(
                challenge.setup == nil
                    ? "A confirmation was sent to your phone. Please answer it there."
                    : "Please set the confirmation up on your phone."
            )
        }
        return lines + setup(challenge, on: terminal)
    }

    /// What the person has to keep, to open or to scan.
    ///
    /// They are the one who needs it, and this is their screen.
    private static func setup(_ challenge: Challenge, on terminal: Terminal?) -> [ScreenText] {
        guard let setup = challenge.setup?.reveal() else { return [] }
        // What a page of another party needs.
        if (try? JSONValue(parsing: setup).members) != nil { return told(setup) }
        // Codes to write down, one a line.
        if challenge.key == .backupCode || challenge.key == .text {
            let heading: [ScreenText] =
                challenge.prompt == nil ? ["Write down these codes; they are shown this once:"] : []
            return heading + setup.split(separator: "\n").map { "  \($0, limit: 100)" }
        }
        if let picture = SetupPicture(setup) { return told(picture) }
        let line: ScreenText = "To set it up: \(setup)"
        // An app on another device reads the address from the screen.
        let isForApp = ["otpauth:", "pushauth:", "mfauth:"].contains { setup.lowercased().hasPrefix($0) }
        guard isForApp, let terminal, terminal.isInteractive, let code = QRCode(setup),
            code.lines.allSatisfy({ $0.count <= terminal.width })
        else { return [line] }
        return [line] + code.lines.map { ScreenText($0) }
    }

    private static func told(_ picture: SetupPicture) -> [ScreenText] {
        do {
            return [
                "To set it up, scan the picture in \(try picture.keep(), limit: 1000) with your phone, and remove the file then."
            ]
        } catch {
            return ["To set it up, a picture has to be scanned, which could not be kept: \("\(error)", limit: 300)"]
        }
    }

    /// What stands above a question.
    private static func preparation(_ challenge: Challenge, on terminal: Terminal) -> [ScreenText] {
        var lines: [ScreenText] = []
        let ours = [challenge.key.title, challenge.question]
        if let prompt = challenge.prompt, !ours.contains(where: { says(prompt, $0) }) {
            lines.append("\(prompt, limit: 500)")
        }
        if let hint = challenge.hint { lines += told(hint) }
        lines += setup(challenge, on: terminal)
        if challenge.form != nil {
            lines.append("A browser has to post a form to get there: let --return-uri lead to this machine.")
        } else if let url = challenge.url {
            lines.append("Please open this address in a browser: \(url.reveal())")
        }
        if challenge.isOptional { lines.append("The password expires soon. Press return to keep it for now.") }
        return lines
    }

    /// A hint as it is to be read: of an object, as of a captcha, each member stands in a line of its own.
    private static func told(_ hint: String) -> [ScreenText] {
        guard let members = try? JSONValue(parsing: hint).members else { return ["\(hint, limit: 500)"] }
        return members.prefix(32).map { member in
            "  \(member.key, limit: 100): \(member.value.string ?? "\(member.value)", limit: 400)"
        }
    }

    private func takeWish() -> Wish? {
        wish.withLock { wish in
            defer { wish = nil }
            return wish
        }
    }

    private static func destination(_ factor: Factor) -> ScreenText {
        factor.destination.map { " to \($0, limit: 200)" } ?? ""
    }

    /// Whether a server's words say no more than ours.
    private static func says(_ prompt: String, _ title: String) -> Bool {
        prompt.filter(\.isLetter).lowercased() == title.filter(\.isLetter).lowercased()
    }

    private static func question(_ challenge: Challenge) -> ScreenText {
        var notes: [String] = []
        if let left = challenge.attemptsLeft, challenge.round > 1 {
            notes.append(left == 1 ? "last try" : "\(left) tries left")
        }
        if challenge.key.isSent { notes.append("? for help") }
        if challenge.key == .push { notes.append("resend, other or ?") }
        let more = notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
        let line: ScreenText = "\(challenge.question, limit: 250)\(more)"
        return line.description.last.map { "?:".contains($0) } == true ? "\(line) " : "\(line): "
    }

    private static func help(_ challenge: Challenge) -> [ScreenText] {
        var lines: [ScreenText] = []
        if challenge.key == .push {
            lines.append("resend  has another confirmation sent to your phone")
        } else {
            lines.append("Type the \(challenge.key.title.lowercased()) and press return.")
        }
        if challenge.key.isSent { lines.append("resend  has a new code sent") }
        if challenge.key != .newPassword { lines.append("other   goes on with another way to prove that it is you") }
        lines.append("Ctrl-C  ends the sign-in")
        return lines
    }
}

extension Challenge {
    /// Whether it can be left: a password that is still good.
    fileprivate var isOptional: Bool {
        key == .newPassword && ["PASSWORD_WARN", "reenroll-authenticator-warning"].contains(factor.providerName)
    }
}

extension Factor.Key {
    /// Whether it is read off something that the person has.
    var isRead: Bool { self == .totp || self == .backupCode }
}
