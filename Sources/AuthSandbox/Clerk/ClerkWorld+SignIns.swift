import HTTPRecovery

extension ClerkWorld {
    private static let signInParameters: Set<String> = [
        "identifier", "password", "strategy", "ticket", "token", "code", "redirect_url", "action_complete_redirect_url",
        "transfer", "locale", "trusted_device_id", "proof_token", "sign_up_if_missing", "oidc_prompt",
        "oidc_login_hint",
    ]

    mutating func createSignIn(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        try limit(\.createSignIn, "create_sign_in", call)
        try checkHuman(call)
        if let stranger = call.form.first(where: { !Self.signInParameters.contains($0.name) }) {
            throw .unknown(stranger.name)
        }
        let strategy = try createStrategy(call)
        let signsUp = try signsUpIfMissing(strategy, call)
        try checkProtected("sign_in", call)
        let client = try clientToBegin(call)
        let end = call.now + call.settings.signInLife
        var signIn = ClerkSignIn(id: call.context.random.identifier("sia_"), client: client, abandonAt: end)
        if call.field("transfer") == "true" {
            let proof = try proofToTransfer(toSignIn: client)
            signIn.account = proof.visitor.flatMap { accountsByIdentifier[$0.lowercased()] }
            signIn.identifier = account(of: signIn)?.user.identifier
            signIn.proofs[.first] = .verified(proof.strategy)
            keep(signIn, "needs_first_factor", call)
            afterFirstFactor(signIn.id, call)
        } else if let strategy, Self.isVisit(strategy) {
            signIn.identifier = strategy == "enterprise_sso" ? try call.required("identifier") : nil
            signIn.proofs[.first] = try beginVisit(strategy, signIn: signIn.id, call)
            keep(signIn, "needs_identifier", call)
        } else if let strategy, Self.isToken(strategy) {
            let (proof, account) = try identity(strategy, call)
            signIn.proofs[.first] = proof
            (signIn.account, signIn.identifier) = (account, account.flatMap { accounts[$0]?.user.identifier })
            keep(signIn, "needs_identifier", call)
            if account != nil { afterFirstFactor(signIn.id, call) }
        } else if strategy == "trusted_device" {
            try challengeDevice(&signIn, call)
            keep(signIn, "needs_first_factor", call)
        } else if strategy == "ticket" {
            let account = try redeemTicket(call)
            (signIn.account, signIn.identifier) = (account, accounts[account]?.user.identifier)
            signIn.proofs[.first] = .verified("ticket")
            keep(signIn, "needs_first_factor", call)
            afterFirstFactor(signIn.id, call)
        } else if let identifier = call.field("identifier") {
            if identifier.isEmpty { throw .null("identifier") }
            signIn.identifier = identifier
            signIn.account = try person(identifier, orNobody: signsUp, call)
            signIn.signsUp = signsUp && signIn.account == nil
            keep(signIn, "needs_first_factor", call)
            do {
                if strategy == "password" {
                    try attemptPassword(signIn, call)
                } else if strategy != nil {
                    try prepare(signIn, call)
                }
            } catch {
                // A refused password leaves nothing behind; one that has to be replaced leaves a sign-in to go on with.
                if !ClerkFailure.passwordStates.values.contains(where: { $0.code == error.code }) {
                    signIns[signIn.id] = nil
                    clients[client]?.signIn = nil
                }
                throw error
            }
        } else if strategy == "passkey" {
            signIn.proofs[.first] = challenge(call)
            keep(signIn, "needs_first_factor", call)
        } else {
            if call.field("password") != nil { throw .missing("identifier") }
            keep(signIn, "needs_identifier", call)
        }
        return wrapped(signInView(signIn.id), client)
    }

    /// The strategy of a creation: nil if only an identifier was given.
    private func createStrategy(_ call: ClerkCall) throws(ClerkFailure) -> String? {
        switch call.field("strategy") {
        case nil, "": return call.field("password") == nil ? nil : "password"
        case "password" where call.field("password") == nil: throw .passwordMissing
        case "ticket": _ = try call.required("ticket")
        case let strategy? where Self.isVisit(strategy) || Self.isToken(strategy):
            try checkProvider(strategy, call)
        case let strategy? where !SandboxUser.knownFirstFactors.contains(strategy):
            throw .notAllowed("strategy", strategy)
        default: break
        }
        return call.field("strategy")
    }

    /// Whether somebody without an account goes on as if they had one, up to the proof that the address or number is theirs.
    private func signsUpIfMissing(_ strategy: String?, _ call: ClerkCall) throws(ClerkFailure) -> Bool {
        guard call.field("sign_up_if_missing") == "true" else { return false }
        guard call.settings.signUpMode == "public" else { throw .signUpIfMissingNotAllowed }
        if let strategy, strategy != "email_code", strategy != "phone_code" { throw .signUpIfMissingStrategy }
        // A user name cannot be proved.
        return call.field("identifier").map { $0.contains("@") || $0.hasPrefix("+") } ?? false
    }

    /// The client that begins something; one that is signed in may not, as long as it has one session alone.
    mutating func clientToBegin(_ call: ClerkCall) throws(ClerkFailure) -> String {
        let client = ensureClient(call)
        if call.settings.isSingleSession, clients[client]?.sessions.isEmpty == false { throw .sessionExists }
        return client
    }

    /// Whom an identifier names; nil for nobody, if that is not to be seen.
    private mutating func person(
        _ identifier: String,
        orNobody isAnybody: Bool,
        _ call: ClerkCall
    ) throws(ClerkFailure) -> String? {
        guard let id = accountsByIdentifier[identifier.lowercased()], let account = accounts[id] else {
            if !isAnybody, !call.settings.protectsAgainstEnumeration { throw .identifierNotFound }
            return nil
        }
        if let refusal = ClerkFailure.states[account.user.state] { throw refusal }
        let own = call.client.flatMap { clients[$0] }?.sessions.first { sessions[$0]?.account == id }
        if let own { throw .alreadySignedIn(session: own) }
        try checkLock(id, call)
        return id
    }

    private mutating func keep(_ signIn: ClerkSignIn, _ status: String, _ call: ClerkCall) {
        signIns[signIn.id] = signIn
        signIns[signIn.id]?.status = status
        clients[signIn.client]?.signIn = signIn.id
        clients[signIn.client]?.updatedAt = call.now
    }

    mutating func getSignIn(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let signIn = try own(signIns, "sign-in", call)
        followOpenedLink(signIn, call)
        if let nonce = call.request.queryItem("rotating_token_nonce") {
            guard nonce == signIn.rotatingNonce else { throw .nonceConsumed }
            signIns[signIn.id]?.rotatingNonce = nil
            afterFirstFactor(signIn.id, call)
        }
        return wrapped(signInView(signIn.id), signIn.client)
    }

    /// The sign-in in the path, which has to be the client's current one.
    func currentSignIn(_ call: ClerkCall) throws(ClerkFailure) -> ClerkSignIn {
        let signIn = try own(signIns, "sign-in", call)
        if signIn.status == "complete" { throw .verificationAlreadyVerified }
        if signIn.status == "abandoned" {
            throw .clientStateInvalid("This sign-in was left alone for too long. Start again.")
        }
        guard clients[signIn.client]?.signIn == signIn.id else { throw .forbidden }
        return signIn
    }

    /// The current sign-in, which has to be at one of its steps.
    func openSignIn(_ call: ClerkCall) throws(ClerkFailure) -> ClerkSignIn {
        let signIn = try currentSignIn(call)
        _ = try call.required("strategy")
        let statuses = call.step == .first ? ["needs_first_factor"] : ["needs_second_factor", "needs_client_trust"]
        if statuses.contains(signIn.status) { return signIn }
        if signIn.proofs[call.step]?.status == "verified" { throw .verificationAlreadyVerified }
        throw .clientStateInvalid("This step is not possible while the sign-in is in status \(signIn.status).")
    }

    /// Goes on after a factor has been proved.
    mutating func after(_ step: ClerkStep, of id: String, _ call: ClerkCall) {
        if signIns[id]?.reverification != nil {
            afterVerified(step, of: id, call)
        } else if step == .first {
            afterFirstFactor(id, call)
        } else {
            complete(id, call)
        }
    }

    private mutating func afterFirstFactor(_ id: String, _ call: ClerkCall) {
        guard let signIn = signIns[id], let user = account(of: signIn)?.user else { return }
        let strategy = signIn.proofs[.first]?.strategy
        clients[signIn.client]?.lastStrategy = strategy
        if let status = user.statusAfterFirstFactor {
            signIns[id]?.status = status
            let check = status == "needs_protect_check" ? makeCheck(call) : nil
            signIns[id]?.check = check
        } else if strategy?.hasPrefix("reset_password") == true {
            signIns[id]?.status = "needs_new_password"
        } else {
            afterPassword(id, call)
        }
    }

    /// Goes on once the password needs no more care.
    mutating func afterPassword(_ id: String, _ call: ClerkCall) {
        guard let signIn = signIns[id], let account = account(of: signIn) else { return }
        if !account.secondFactors.isEmpty {
            signIns[id]?.status = "needs_second_factor"
        } else if account.user.hasDeviceTrust, signIn.proofs[.first]?.strategy == "password",
            !account.trustedClients.contains(signIn.client)
        {
            signIns[id]?.status = "needs_client_trust"
            signIns[id]?.clientTrustState = "pending"
        } else {
            complete(id, call)
        }
    }

    /// Makes the session and rotates the client token.
    private mutating func complete(_ id: String, _ call: ClerkCall) {
        guard let signIn = signIns[id], let account = account(of: signIn)?.id else { return }
        let hasSecond = signIn.proofs[.second]?.status == "verified"
        let session = openSession(of: account, on: signIn.client, hasSecond: hasSecond, call)
        clients[signIn.client]?.signIn = nil
        signIns[id]?.status = "complete"
        signIns[id]?.createdSession = session
        if signIn.clientTrustState != nil { signIns[id]?.clientTrustState = "known" }
        rotateToken(of: signIn.client, call)
    }

    mutating func openSession(of account: String, on client: String, hasSecond: Bool, _ call: ClerkCall) -> String {
        let now = call.now
        let user = accounts[account]?.user
        // Who has come in another way keeps the password that cannot stay: the session is pending for a new one.
        let isOwed = user?.passwordState != "ok"
        let tasks =
            (isOwed ? ["reset-password"] : []) + (user?.tasks ?? []).filter { $0 != "reset-password" || !isOwed }
        let session = ClerkSession(
            id: call.context.random.identifier("sess_"),
            client: client,
            account: account,
            createdAt: now,
            updatedAt: now,
            expireAt: now + call.settings.sessionLife,
            lastActiveAt: now,
            status: tasks.isEmpty ? "active" : "pending",
            tasks: tasks,
            provedAt: hasSecond ? [.first: now, .second: now] : [.first: now]
        )
        sessions[session.id] = session
        mintToken(session.id, call)
        clients[client]?.sessions.append(session.id)
        clients[client]?.lastActiveSession = session.id
        clients[client]?.updatedAt = now
        accounts[account]?.failures = 0
        accounts[account]?.lastSignInAt = now
        accounts[account]?.trustedClients.insert(client)
        return session.id
    }
}
