import HTTPRecovery

extension ClerkWorld {
    private static let signInParameters: Set<String> = [
        "identifier", "password", "strategy", "ticket", "token", "code", "redirect_url", "action_complete_redirect_url",
        "transfer", "locale", "trusted_device_id", "proof_token", "sign_up_if_missing",
    ]

    mutating func createSignIn(
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        try limit(context.settings.rateLimits.createSignIn, "create_sign_in", exchange, now: context.now)
        if exchange.field("transfer") == "true" { throw Self.noTransfer }
        if let stranger = exchange.form.first(where: { !Self.signInParameters.contains($0.name) }) {
            throw .unknown(stranger.name)
        }
        let strategy = try createStrategy(exchange)
        let client = ensureClient(&exchange, context: &context)
        if context.settings.isSingleSession, clients[client]?.sessions.isEmpty == false { throw .sessionExists }

        var signIn = ClerkSignIn(
            id: context.random.identifier("sia_"),
            client: client,
            createdAt: context.now,
            abandonAt: context.now + context.settings.signInLife,
            status: "needs_identifier"
        )
        if strategy == "ticket" {
            signIn.account = try redeemTicket(exchange, context: context)
            signIn.identifier = signIn.account.flatMap { accounts[$0]?.user.identifier }
            signIn.first = .init(strategy: "ticket", status: "verified", attempts: 1)
            signIn.status = "needs_first_factor"
            keep(signIn)
            afterFirstFactor(signIn.id, &exchange, context: &context)
            return wrapped(signInView(signIn.id), client)
        }
        guard let identifier = exchange.field("identifier") else {
            if strategy == "passkey" {
                signIn.status = "needs_first_factor"
                signIn.first = challenge(exchange, context: &context)
                keep(signIn)
                return wrapped(signInView(signIn.id), client)
            }
            if exchange.field("password") != nil { throw .missing("identifier") }
            keep(signIn)
            return wrapped(signInView(signIn.id), client)
        }
        if identifier.isEmpty { throw .null("identifier") }
        signIn.identifier = identifier
        signIn.status = "needs_first_factor"
        signIn.account = try accountToSignIn(identifier, client: client, exchange, context: &context)
        keep(signIn)
        do {
            try takeFirstStep(of: signIn.id, strategy: strategy, &exchange, context: &context)
        } catch {
            // A refused password leaves nothing behind; one that has to be replaced leaves a sign-in to go on with.
            let goesOn = [
                "form_password_compromised", "form_password_pwned", "password_reset_required",
                "password_too_long_needs_reset",
            ]
            if !goesOn.contains(error.code) { discard(signIn.id) }
            throw error
        }
        return wrapped(signInView(signIn.id), client)
    }

    /// The strategy of a creation: nil where only an identifier was given.
    private func createStrategy(_ exchange: ClerkExchange) throws(ClerkFailure) -> String? {
        switch exchange.field("strategy") {
        case nil, "": return exchange.field("password") == nil ? nil : "password"
        case "password":
            guard exchange.field("password") != nil else {
                throw ClerkFailure(
                    422,
                    "form_conditional_param_missing",
                    "is missing",
                    long: "password must be included when strategy is password.",
                    parameter: "password"
                )
            }
            return "password"
        case "ticket":
            _ = try exchange.required("ticket")
            return "ticket"
        case let strategy?:
            guard SandboxUser.knownFirstFactors.contains(strategy) else { throw .invalidValue("strategy", strategy) }
            return strategy
        }
    }

    private mutating func accountToSignIn(
        _ identifier: String,
        client: String,
        _ exchange: ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> String? {
        guard let id = accountsByIdentifier[identifier.lowercased()], let account = accounts[id] else {
            if !context.settings.protectsAgainstEnumeration { throw .identifierNotFound }
            return nil
        }
        switch account.user.state {
        case "banned": throw ClerkFailure(403, "user_banned", "User is banned", long: "This account has been banned.")
        case "deactivated":
            throw ClerkFailure(403, "user_deactivated", "User is deactivated", long: "This account is deactivated.")
        case "deprovisioned":
            throw ClerkFailure(401, "deprovisioned", "User is deprovisioned", long: "This account is deprovisioned.")
        default: break
        }
        let own = clients[client]?.sessions.first { sessions[$0]?.account == id }
        if let own { throw .alreadySignedIn(session: own) }
        try checkLock(id, context: context)
        return id
    }

    private mutating func takeFirstStep(
        of signIn: String,
        strategy: String?,
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) {
        switch strategy {
        case nil: break
        case "password": try attemptPassword(signIn, &exchange, context: &context)
        case let code?: try prepare(signIn, strategy: code, isSecond: false, exchange, context: &context)
        }
    }

    mutating func getSignIn(
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        guard let client = exchange.client else { throw .clientNotFound }
        guard let signIn = signIns[exchange.id], signIn.client == client else { throw .notFound("sign-in") }
        followOpenedLink(signIn.id, &exchange, context: &context)
        return wrapped(signInView(signIn.id), client)
    }

    /// The sign-in in the path, which has to be the client's current one.
    func currentSignIn(_ exchange: ClerkExchange) throws(ClerkFailure) -> ClerkSignIn {
        guard let client = exchange.client else { throw .clientNotFound }
        guard let signIn = signIns[exchange.id], signIn.client == client else { throw .notFound("sign-in") }
        if signIn.status == "complete" { throw .verificationAlreadyVerified }
        if signIn.status == "abandoned" {
            throw .clientStateInvalid("This sign-in was left alone for too long. Start again.")
        }
        guard clients[client]?.signIn == signIn.id else {
            throw ClerkFailure(
                403,
                "resource_forbidden",
                "Forbidden",
                long: "This sign-in is not the latest one of the client."
            )
        }
        return signIn
    }

    private mutating func keep(_ signIn: ClerkSignIn) {
        signIns[signIn.id] = signIn
        clients[signIn.client]?.signIn = signIn.id
        clients[signIn.client]?.updatedAt = signIn.createdAt
    }

    private mutating func discard(_ id: String) {
        guard let client = signIns.removeValue(forKey: id)?.client else { return }
        if clients[client]?.signIn == id { clients[client]?.signIn = nil }
    }

    /// Goes on after a first factor has been proved.
    mutating func afterFirstFactor(
        _ id: String,
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) {
        if signIns[id]?.reverification != nil { return afterVerifiedFactor(id, isSecond: false, context: context) }
        guard let signIn = signIns[id], let account = signIn.account.flatMap({ accounts[$0] }) else { return }
        clients[signIn.client]?.lastStrategy = signIn.first?.strategy
        if let status = account.user.statusAfterFirstFactor {
            signIns[id]?.status = status
            return
        }
        let isReset = signIn.first?.strategy.hasPrefix("reset_password") ?? false
        if isReset || account.user.passwordState != "ok" {
            signIns[id]?.status = "needs_new_password"
        } else {
            afterPassword(id, &exchange, context: &context)
        }
    }

    /// Goes on once the password needs no more care.
    mutating func afterPassword(_ id: String, _ exchange: inout ClerkExchange, context: inout SandboxContext) {
        guard let signIn = signIns[id], let account = signIn.account.flatMap({ accounts[$0] }) else { return }
        if !account.secondFactors.isEmpty {
            signIns[id]?.status = "needs_second_factor"
        } else if account.user.hasDeviceTrust, signIn.first?.strategy == "password",
            !account.trustedClients.contains(signIn.client)
        {
            signIns[id]?.status = "needs_client_trust"
            signIns[id]?.clientTrustState = "pending"
        } else {
            complete(id, &exchange, context: &context)
        }
    }

    /// Makes the session and rotates the client token.
    mutating func complete(_ id: String, _ exchange: inout ClerkExchange, context: inout SandboxContext) {
        if signIns[id]?.reverification != nil { return afterVerifiedFactor(id, isSecond: true, context: context) }
        guard let signIn = signIns[id], let accountID = signIn.account, accounts[accountID] != nil else { return }
        let session = openSession(
            of: accountID,
            on: signIn.client,
            hasSecond: signIn.second?.status == "verified",
            context: &context
        )
        clients[signIn.client]?.signIn = nil
        signIns[id]?.status = "complete"
        signIns[id]?.createdSession = session
        if signIn.clientTrustState != nil { signIns[id]?.clientTrustState = "known" }
        rotateToken(of: signIn.client, &exchange, context: &context)
    }

    /// Makes a session.
    mutating func openSession(
        of accountID: String,
        on client: String,
        hasSecond: Bool,
        context: inout SandboxContext
    ) -> String {
        let now = context.now
        let tasks = accounts[accountID]?.user.tasks ?? []
        let session = ClerkSession(
            id: context.random.identifier("sess_"),
            client: client,
            account: accountID,
            createdAt: now,
            updatedAt: now,
            expireAt: now + context.settings.sessionLife,
            lastActiveAt: now,
            status: tasks.isEmpty ? "active" : "pending",
            tasks: tasks,
            firstFactorAt: now,
            secondFactorAt: hasSecond ? now : nil
        )
        sessions[session.id] = session
        mintToken(session.id, template: nil, context: &context)
        clients[client]?.sessions.append(session.id)
        clients[client]?.lastActiveSession = session.id
        clients[client]?.updatedAt = now
        accounts[accountID]?.failures = 0
        accounts[accountID]?.lastSignInAt = now
        accounts[accountID]?.trustedClients.insert(client)
        return session.id
    }
}
