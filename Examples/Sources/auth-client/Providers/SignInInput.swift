import AuthRecovery
import CommandLineSupport

/// Who signs in, and who answers what is asked.
struct SignInInput: Sendable {
    let options: ClientOptionsValue
    let terminal: Terminal
    private let answers: AnswerFile
    private let prompts: Prompts?

    init(options: ClientOptionsValue, terminal: Terminal) throws {
        self.options = options
        self.terminal = terminal
        self.prompts = terminal.canAsk ? Prompts(terminal: terminal) : nil
        self.answers = try options.answers.map { try AnswerFile(path: $0) } ?? AnswerFile()
    }

    /// Answers from the file first, then from the person.
    var responder: Responder {
        Responder(answers: answers, terminal: prompts) { if !terminal.isQuiet { tell($0) } }
    }

    /// Whether a new password can be had: it was prepared, or the person can be asked.
    var hasNewPassword: Bool { answers.has(.newPassword) || prompts != nil }

    /// Who signs in.
    func identifier() async throws -> String {
        var identifier = options.identifier ?? ""
        if identifier.isEmpty, let prompts {
            identifier = try await prompts.terminal.ask("E-mail address, phone number or user name: ", isHidden: false)
        }
        guard !identifier.isEmpty else { throw InputError("--identifier is missing: who signs in?") }
        return identifier
    }

    /// The password that the sign-in begins with; nil where another factor is to be chosen, or nobody has one.
    func openingPassword() async throws -> Secret? {
        if options.passwordFromInput { return Secret(try StandardInput.firstLine()) }
        if answers.has(.choice) { return nil }
        if let password = answers.take(.password) { return password }
        guard let prompts, options.answers == nil else { return nil }
        return Secret(try await prompts.terminal.ask("Password: ", isHidden: true))
    }

    /// The password on standard input; nil where it is not to come from there.
    func passwordFromInput() throws -> Secret? {
        options.passwordFromInput ? Secret(try StandardInput.firstLine()) : nil
    }

    /// The next prepared outcome of a WebAuthn ceremony, which is used up with this.
    func takeWebAuthnOutcome() -> Secret? {
        answers.take(.webauthn)
    }

    /// Tells the person something, whoever reads the output.
    func tell(_ text: String) {
        terminal.write(Masking.printable(text, limit: 2000))
    }
}

extension ClientOptionsValue {
    /// The options of a sign-in with the bounds of the command, which hold for the waits between two calls too.
    func bounding(_ options: SignInOptions) -> SignInOptions {
        var options = options
        options.deadline = deadline
        options.maxWait = maxWait
        return options
    }
}
