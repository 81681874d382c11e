import HTTPRecovery

extension ClerkWorld {
    /// The session in the path, which has to be the client's own and alive.
    func liveSession(_ call: ClerkCall) throws(ClerkFailure) -> ClerkSession {
        try alive(own(sessions, "session", call, orElse: .signedOut), call)
    }

    /// The session, unless it is over.
    private func alive(_ session: ClerkSession, _ call: ClerkCall) throws(ClerkFailure) -> ClerkSession {
        if session.isLive { return session }
        switch session.endedCode ?? call.settings.endedSessionCode {
        case "resource_not_found": throw .notFound("session")
        case "signed_out": throw .signedOut
        case "session_status":
            throw ClerkFailure(401, "session_\(session.status)", "Session \(session.status)")
                .saying("The session is no longer active: it is \(session.status).")
        default: throw .authenticationInvalid
        }
    }

    mutating func sessionToken(_ call: ClerkCall, template: String?) throws(ClerkFailure) -> JSONValue {
        let session = try liveSession(call)
        if let id = call.field("organization_id"), !id.isEmpty { try checkMember(of: id, session) }
        if call.settings.requiresTokenSeed {
            let seed = call.request.queryItem("expired_token") ?? call.field("token")
            guard seed.flatMap(claims)?["sid"]?.string == session.id else { throw .tokenSeedMissing }
        }
        sessions[session.id]?.lastActiveAt = call.now
        return ["object": "token", "jwt": .string(mintToken(session.id, template: template, call))]
    }

    mutating func touch(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let session = try liveSession(call)
        let intent = call.field("intent") ?? ""
        guard ["", "focus", "select_session", "select_org"].contains(intent) else {
            throw .invalidValue("intent", intent)
        }
        if let id = call.field("active_organization_id"), !id.isEmpty {
            try checkMember(of: id, session)
            sessions[session.id]?.organization = id
            finish(task: "choose-organization", of: session.id)
        }
        sessions[session.id]?.lastActiveAt = call.now
        sessions[session.id]?.updatedAt = call.now
        clients[session.client]?.lastActiveSession = session.id
        mintToken(session.id, call)
        return wrapped(sessionView(session.id), intent == "focus" ? nil : session.client)
    }

    mutating func end(_ call: ClerkCall, as status: String) throws(ClerkFailure) -> JSONValue {
        let session = try liveSession(call)
        finish(session.id, as: status, now: call.now)
        return wrapped(sessionView(session.id), session.client)
    }

    mutating func endAllSessions(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        guard let id = call.client else { throw .signedOut }
        for session in clients[id]?.sessions ?? [] { finish(session, as: "removed", now: call.now) }
        return wrapped(clientView(id), nil)
    }

    // MARK: The signed-in person

    /// The session that a request to `/me` speaks for: that of its session token, or one of its client.
    mutating func speakingSession(_ call: ClerkCall) throws(ClerkFailure) -> ClerkSession {
        var session: ClerkSession?
        if let claims = ClerkCall.bearer(call.request).flatMap(claims), let id = claims["sid"]?.string {
            if let client = sessions[id]?.client { settle(client: client, now: call.now) }
            if let expires = claims["exp"]?.int, expires * 1000 > call.now { session = sessions[id] }
        } else {
            guard let client = call.client else { throw .signedOut }
            let wanted = call.request.queryItem("_clerk_session_id") ?? clients[client]?.lastActiveSession
            session = wanted.flatMap { sessions[$0] }.flatMap { $0.client == client ? $0 : nil }
        }
        guard let session else { throw .authenticationInvalid }
        return try alive(session, call)
    }

    mutating func revokeOwnSession(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let session = try speakingSession(call)
        guard let target = sessions[call.id], target.account == session.account else { throw .notFound("session") }
        finish(target.id, as: "revoked", now: call.now)
        return wrapped(sessionView(target.id), call.client)
    }

    // MARK: Tokens

    /// Makes a session's JWT and remembers it as the last one, if it is of no template.
    @discardableResult
    mutating func mintToken(_ id: String, template: String? = nil, _ call: ClerkCall) -> String {
        guard let session = sessions[id] else { return "" }
        let (now, end) = (call.now, call.now + call.settings.sessionTokenLife)
        let token = jwt(
            .present([
                "exp": .int(end / 1000), "fva": session.factorAges(at: now), "iat": .int(now / 1000),
                "iss": "https://sandbox.invalid", "jti": .string(call.context.random.letters(20).lowercased()),
                "nbf": .int(now / 1000 - 10), "sid": .string(id), "sts": .string(session.status),
                "sub": .string(session.account), "v": 2,
                "template": template.map { .string(String($0.prefix(100))) },
            ])
        )
        if template == nil {
            sessions[id]?.lastToken = token
            sessions[id]?.lastTokenExpires = end
        }
        return token
    }

    /// A JWT with these claims, signed with the sandbox's own key.
    func jwt(_ claims: JSONValue) -> String {
        OAuthJWT.make(type: "JWT", claims: claims, key: signingKey, keyID: instance)
    }

    /// The claims of a JWT that this sandbox has made, however old.
    func claims(of token: String) -> JSONValue? {
        let jwt = OAuthJWT(token)
        return jwt?.isSigned(with: signingKey) == true ? jwt?.claims : nil
    }

    // MARK: Proving oneself again

    mutating func beginVerification(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let session = try liveSession(call)
        try checkHuman(call, before: "account")
        let level = try call.required("level")
        guard level == "multi_factor" || ClerkStep(rawValue: level) != nil else { throw .invalidValue("level", level) }
        if let id = verificationElsewhere(session, level, call) {
            if signIns[id]?.proofs[.first]?.status != "unverified" { sessions[session.id]?.verification = nil }
            if signIns[id]?.status == "needs_second_factor" { sessions[session.id]?.verification = id }
            return wrapped(verificationView(of: id), session.client)
        }
        let account = accounts[session.account]
        let hasSecond = account?.secondFactors.isEmpty == false
        let verification = ClerkSignIn(
            id: call.context.random.identifier("svr_"),
            client: session.client,
            abandonAt: call.now + call.settings.codeLife,
            identifier: account?.user.identifier,
            account: session.account,
            status: level == "second_factor" && hasSecond ? "needs_second_factor" : "needs_first_factor",
            reverification: (session.id, level)
        )
        signIns[verification.id] = verification
        sessions[session.id]?.verification = verification.id
        return wrapped(verificationView(of: verification.id), session.client)
    }

    /// The verification for which somebody visits an identity provider: who comes back asks in this way what has become of
    /// it, and is told once.
    private func verificationElsewhere(_ session: ClerkSession, _ level: String, _ call: ClerkCall) -> String? {
        guard let open = session.verification.flatMap({ signIns[$0] }), open.reverification?.level == level,
            open.abandonAt > call.now, let proof = open.proofs[.first], Self.isVisit(proof.strategy)
        else { return nil }
        return open.id
    }

    /// The verification that is under way for the session in the path, which has to be at one of its steps.
    func openVerification(_ call: ClerkCall) throws(ClerkFailure) -> ClerkSignIn {
        let session = try liveSession(call)
        guard let verification = session.verification.flatMap({ signIns[$0] }) else { throw .verificationMissing }
        if verification.status == "complete" { throw .verificationAlreadyVerified }
        if verification.abandonAt <= call.now { throw .verificationExpired }
        guard verification.status == "needs_\(call.step.rawValue)" else {
            throw .clientStateInvalid("This step is not possible in status \(verification.status).")
        }
        _ = try call.required("strategy")
        return verification
    }

    /// Goes on after a factor of a session's verification has been proved.
    mutating func afterVerified(_ step: ClerkStep, of id: String, _ call: ClerkCall) {
        guard let verification = signIns[id], let purpose = verification.reverification else { return }
        sessions[purpose.session]?.provedAt[step] = call.now
        sessions[purpose.session]?.lastActiveAt = call.now
        let hasSecond = !offered(verification, .second).isEmpty
        let wantsSecond = step == .first && purpose.level == "multi_factor" && hasSecond
        signIns[id]?.status = wantsSecond ? "needs_second_factor" : "complete"
        if !wantsSecond { accounts[verification.account ?? ""]?.failures = 0 }
    }
}
