public import AuthRecovery
public import HTTPRecovery

extension Auth0 {
    /// A sign-in to be stepped; nothing is sent before its first step.
    ///
    /// A password, a code and what a browser comes back with are sent once each. If the token store fails after a recovery
    /// code was used up, the error is an ``Auth0UnkeptRecoveryCode`` with the new one. A block has no end that a tenant
    /// would state: it holds until the person says that it is lifted, or `lockouts.forget(_:)` is told so; an hour after it was
    /// met last one attempt finds out.
    ///
    /// Where a password was leaked, the usual `compromisedPasswordFallback` has here two more: the login page (`.redirect`), if
    /// the configuration has a redirect URI, and a new password (`.password`), which the person has set by themselves, or, if
    /// the configuration has a realm, by a mail that is sent if they choose that.
    ///
    /// - Parameters:
    ///   - method: What it begins with.
    ///   - options: How to deal with what goes wrong; nil for the usual, with a push before a code that is sent.
    public func signInFlow(
        _ method: Auth0SignInMethod,
        options: SignInOptions? = nil
    ) -> SignInFlow<Auth0Session> {
        let machine: any SignInMachine<Auth0Session> =
            switch method {
            case .identifier(let name, let password):
                Auth0SignInMachine(self, identifier: name, password: password)
            case .passwordless(let way, let address):
                Auth0SignInMachine(self, entry: .passwordless(way), identifier: address)
            case .passkey: Auth0SignInMachine(self, entry: .passwordless(.passkey))
            case .newPasskey(let account):
                Auth0SignInMachine(self, entry: .passwordless(.passkey), identifier: account.email, making: account)
            case .token(let subject): Auth0SignInMachine(self, exchanging: subject)
            case .browser(let hint):
                Auth0SignInMachine(self, entry: .browser, identifier: hint ?? "")
            case .device: DeviceSignInMachine(Auth0DeviceLogin(api: api))
            case .renewal: Auth0SignInMachine(self, renews: true)
            }
        let preference: [Factor.Key] = [.password, .totp, .push, .phoneCode, .emailCode, .backupCode]
        var options = options ?? SignInOptions(preference: preference)
        // By default what replaces a leaked password helps as well as what stands in for it.
        if options.compromisedPasswordFallback == SignInOptions().compromisedPasswordFallback {
            options.compromisedPasswordFallback += [.redirect, .password]
        }
        return SignInFlow(machine, client: client, options: options)
    }

    /// A sign-in to be stepped, with a name; nothing is sent before its first step.
    ///
    /// - Parameters:
    ///   - identifier: The e-mail address or user name; nil asks for it (`Factor.identifier`).
    ///   - password: The password; nil asks for it, or for what the configuration has in its place.
    ///   - options: How to deal with what goes wrong; nil for the usual.
    public func signInFlow(
        identifier: String?,
        password: Secret?,
        options: SignInOptions?
    ) -> SignInFlow<Auth0Session> {
        signInFlow(.identifier(identifier ?? "", password: password), options: options)
    }

    /// Signs in, through everything that can stand in the way.
    ///
    /// - Parameters:
    ///   - method: What it begins with.
    ///   - responder: Answers what is asked.
    ///   - options: How to deal with what goes wrong; nil for the usual.
    /// - Returns: The session; its tokens are stored before this returns.
    /// - Throws: `RecoveryError` for what could not be recovered from, ``Auth0UnkeptRecoveryCode``, `Challenge.NoAnswer` if
    ///   the responder had none, `CancellationError` as soon as the task is cancelled.
    public func signIn(
        _ method: Auth0SignInMethod,
        answering responder: any ChallengeResponder,
        options: SignInOptions? = nil
    ) async throws -> Auth0Session {
        var flow = signInFlow(method, options: options)
        return try await flow.run(answering: responder)
    }

    /// Takes a sign-in up again.
    public func signInMachine(from memory: JSONValue) -> (any SignInMachine<Auth0Session>)? {
        if let recalled = memory[Auth0SignInMachine.name] {
            var machine = Auth0SignInMachine(self)
            return machine.recall(recalled) ? machine : nil
        }
        return DeviceSignInMachine(Auth0DeviceLogin(api: api), from: memory)
    }

    /// Has a mail sent with a link to set a new password, as after one that was leaked.
    ///
    /// - Parameters:
    ///   - email: The person's address.
    ///   - connection: The database connection; nil for the configuration's.
    /// - Throws: `RecoveryError`; each call sends a mail, so one whose answer is lost is not repeated. Of the kind
    ///   `misconfigured`, and nothing is sent, if neither names the connection: a tenant has no default here.
    ///   `CancellationError` as soon as the task is cancelled.
    public func sendPasswordReset(email: String, connection: String? = nil) async throws {
        try await api.sendPasswordReset(email: email, connection: connection)
    }

    // MARK: For whom a server asks

    /// The same tenant, asked for somebody at this address, so that failed logins count against it and not against all who
    /// use the server.
    ///
    /// The tenant believes it of an app with a secret alone, and only if the app's settings say so ("Trust Token Endpoint IP
    /// Header"). A block then holds for the name from this address; ``lockoutAccount(for:)`` says what it is kept under. Each
    /// step of a sign-in between requests is taken at a tenant that is asked for the same address.
    ///
    /// - Parameter address: The person's IP address.
    public func acting(forAddress address: String) -> Auth0 {
        var auth0 = self
        auth0.api.forwardedFor = address
        return auth0
    }

    /// What a block of somebody's is kept under, as `lockouts` wants it: the name, with the address that is acted for.
    ///
    /// - Parameter identifier: The name.
    public func lockoutAccount(for identifier: String) -> String {
        Self.account(identifier, from: api.forwardedFor)
    }

    static func account(_ identifier: String, from address: String?) -> String {
        let name = LockoutLedger.account(for: identifier)
        return address.map { "\(name) at \($0)" } ?? name
    }
}
