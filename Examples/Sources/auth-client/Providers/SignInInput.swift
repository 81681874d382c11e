import AuthRecovery
import CommandLineSupport
import HTTPRecovery

/// Who signs in, and who answers what is asked.
struct SignInInput: Sendable {
    let options: ClientOptionsValue
    let terminal: Terminal
    private let answers: AnswerFile
    private let prompts: Prompts?
    private let bounds: CommandBounds
    /// Listens where the browser comes back; nil if that is not on this machine, or nobody is sent there.
    private let listener: LoopbackListener?

    init(
        options: ClientOptionsValue,
        terminal: Terminal,
        bounds: CommandBounds,
        listener: LoopbackListener? = nil
    ) throws {
        self.bounds = bounds
        self.listener = listener
        self.options = options
        self.terminal = terminal
        self.prompts = terminal.canAsk ? Prompts(terminal: terminal, bounds: bounds) : nil
        self.answers = try options.answers.map { try AnswerFile(path: $0) } ?? AnswerFile()
    }

    /// Answers from the file first, then from the person.
    var responder: Responder {
        let output = StandardOutput(terminal: terminal)
        return Responder(
            answers: answers,
            terminal: prompts,
            hasSecurityKey: options.softwareKey != nil,
            visit: { try await visit($0) },
            link: { try await link() },
            tell: { if !terminal.isQuiet { tell($0) } },
            // Where events stand alone, it is a part of what the command brings.
            display: { if terminal.isQuiet { try? output.write($0) } else { tell($0) } }
        )
    }

    /// Sends the person to a page, and waits until the browser comes back; nil if it comes back elsewhere.
    private func visit(_ challenge: Challenge) async throws -> Secret? {
        guard let url = challenge.url, let listener = try listener ?? listener(for: challenge, at: url) else {
            return nil
        }
        // The address is for the person's own browser; it opens nothing without what this program keeps to itself.
        var address = url.reveal()
        if challenge.form != nil {
            guard let page = challenge.page else { return nil }
            address = listener.serve(page.reveal())
        }
        tell(Browser.open(address) ? "The browser was asked to open:" : "To go on, open this address in a browser:")
        tell("  \(address)")
        tell("Waiting for it to come back to \(listener.uri, limit: 200). Ctrl-C ends the sign-in.")
        return Secret(try await bounds.hold { try await listener.visit(after: url.reveal()) })
    }

    /// Waits until the link of an e-mail was opened in a browser of this machine; nil if nobody listens.
    private func link() async throws -> Secret? {
        guard let listener else { return nil }
        tell("A link was sent by e-mail. Please open it on this machine.")
        tell("Waiting for it to come back to \(listener.uri, limit: 200). Ctrl-C ends the sign-in.")
        return Secret(try await bounds.hold { try await listener.visit() })
    }

    /// Listens where a server lets its own request come back, as PingAM does; a request for SAML does not say where, nor
    /// does Okta's page of another provider, behind which the app's own address stands.
    private func listener(for challenge: Challenge, at url: Secret) throws -> LoopbackListener? {
        let stated = LoopbackListener.redirectURI(in: url.reveal()) ?? challenge.form?["redirect_uri"].first?.reveal()
        let own = options.provider == .okta ? options.redirectURI : options.forgeRock.returnURI
        guard let uri = stated ?? own, LoopbackListener.isLocal(uri) else { return nil }
        let listener = try LoopbackListener(uri: uri)
        // A server that was told of an address without a port sends the browser there, and to no other port.
        return stated != nil || listener.uri == uri ? listener : nil
    }

    /// Checks at the end that every choice that was prepared was one.
    func checkChoices() throws(InputError) { try answers.checkChoices() }

    /// Whether a new password can be had: it was prepared, or the person can be asked.
    var hasNewPassword: Bool { answers.has(.newPassword) || prompts != nil }

    /// Whether the person at the terminal is asked who signs in.
    var asksForIdentifier: Bool { prompts != nil && options.identifier?.isEmpty != false }

    /// Who signs in.
    func identifier() async throws -> String {
        if let identifier = options.identifier, !identifier.isEmpty { return identifier }
        guard let prompts else { throw InputError("--identifier is missing: who signs in?") }
        while true {
            let question: ScreenText = "E-mail address, phone number or user name"
            let identifier = try await prompts.ask("\(question): ", isHidden: false)
            if !identifier.isEmpty, identifier != "?" { return identifier }
            prompts.tell("Type the \(question) that you sign in with. Ctrl-C ends the sign-in.")
        }
    }

    /// The password that the sign-in begins with; nil if another factor is to be chosen, or nobody has one.
    func openingPassword() async throws -> Secret? {
        if let password = try await preparedPassword() { return password }
        guard let prompts, options.answers == nil else { return nil }
        let answer = try await prompts.ask(Challenge(factor: Factor(key: .password, providerName: "password")))
        if case .text(let password) = answer { return password }
        return nil
    }

    /// The password in place of one that was refused; the refusal stands if nobody has another.
    func password(after refusal: RecoveryError) async throws -> Secret {
        guard prompts != nil || answers.has(.password) else { throw refusal }
        await responder.notice(refusal.outcome)
        let factor = Factor(key: .password, providerName: "password")
        let answer = try await responder.answer(Challenge(factor: factor, previousFailure: refusal.outcome))
        guard case .text(let password) = answer else { throw refusal }
        return password
    }

    /// The password that the sign-in begins with, if it was prepared.
    func preparedPassword() async throws -> Secret? {
        if let password = try await passwordFromInput() { return password }
        return answers.has(.choice) ? nil : answers.take(.password)
    }

    /// The password on standard input; nil if it is not to come from there.
    func passwordFromInput() async throws -> Secret? {
        guard options.passwordFromInput else { return nil }
        // Somebody sits there after all.
        if let prompts { return Secret(try await prompts.ask("Password: ", isHidden: true)) }
        return Secret(try StandardInput.firstLine())
    }

    /// The next prepared outcome of a WebAuthn ceremony, which is used up with this.
    func takeWebAuthnOutcome() -> Secret? {
        answers.take(.webauthn)
    }

    /// Tells the person something, whoever reads the output.
    func tell(_ text: ScreenText) {
        terminal.write(text)
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
