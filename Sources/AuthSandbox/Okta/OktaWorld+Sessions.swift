import HTTPRecovery
import HTTPRecoveryTesting

// Sessions, and what they open.
extension OktaWorld {
    mutating func session(_ exchange: OktaExchange) throws(OktaFailure) -> SandboxResponse {
        let method = exchange.request.method
        switch exchange.route.parts.joined(separator: "/") {
        case "":
            guard method == "POST" else { throw .method }
            let token = try redeem(sessionToken: exchange.required("sessionToken"), now: exchange.now)
            return .json(view(start(token, exchange), exchange))
        case "me":
            guard method == "GET" || method == "DELETE" else { throw .method }
            guard let session = current(exchange.request, now: exchange.now) else { throw .noSession }
            guard method == "DELETE" else { return .json(view(session, exchange)) }
            sessions[session.id] = nil
            return SandboxResponse(status: 204)
        case "me/lifecycle/refresh":
            guard method == "POST" else { throw .method }
            guard var session = current(exchange.request, now: exchange.now) else { throw .noSession }
            session.expiresAt = exchange.now + exchange.okta.sessionLife
            sessions[session.id] = session
            return .json(view(session, exchange))
        default: throw .path
        }
    }

    /// People, as whoever has a session sees them: themselves.
    mutating func person(_ exchange: OktaExchange) throws(OktaFailure) -> SandboxResponse {
        let (pattern, id) = exchange.route.pattern
        guard exchange.request.method == "GET" else { throw .method }
        if pattern == "{id}/factors/questions" {
            guard accounts[id] != nil else { throw .notFound("\(String(id.prefix(64))) (User)") }
            return .json(
                .array(
                    Self.questions.map { ["question": .string($0.key), "questionText": .string($0.value)] }
                )
            )
        }
        guard pattern == "{id}" else { throw .path }
        guard let session = current(exchange.request, now: exchange.now), let account = accounts[session.account]
        else { throw .session }
        guard id == "me" || id == account.id else { throw OktaFailure(403, 6, "You do not have permission.") }
        return .json([
            "id": .string(account.id),
            "status": "ACTIVE",
            "created": exchange.time(account.createdAt),
            "passwordChanged": exchange.time(account.passwordChangedAt),
            "profile": [
                "login": .string(account.login), "email": .optional(account.user.emails.first),
                "firstName": .optional(account.user.firstName), "lastName": .optional(account.user.lastName),
            ],
        ])
    }

    /// Ends the sessions of whoever an ID token names (OpenID Connect RP-Initiated Logout 1.0).
    mutating func logout(_ request: SandboxRequest) -> SandboxResponse {
        guard request.method == "GET" || request.method == "POST" else { return OAuthFailure.notFound.response }
        let token = request.queryItem("id_token_hint").flatMap { OAuthJWT($0) }
        guard let subject = token?.claims["sub"]?.string else {
            return OAuthFailure("invalid_request", "The id_token_hint is missing or no ID token.").response
        }
        sessions = sessions.filter { $0.value.account != subject }
        guard let target = request.queryItem("post_logout_redirect_uri") else {
            return .text("<html><body>Signed out</body></html>\n", status: 200, type: "text/html; charset=utf-8")
        }
        let state = request.queryItem("state").map { "?state=\(FormEncoding.encode($0))" } ?? ""
        return .redirect(to: target + state)
    }

    /// The session of a request's cookie.
    func current(_ request: SandboxRequest, now: Int64) -> OktaSession? {
        for header in request.headers where header.name == "cookie" {
            for pair in header.value.split(separator: ";") {
                let plain = pair.drop { $0 == " " }
                guard plain.hasPrefix("sid="), let session = sessions[String(plain.dropFirst(4))] else { continue }
                if session.expiresAt > now { return session }
            }
        }
        return nil
    }

    /// Uses a session token up.
    private mutating func redeem(sessionToken: String, now: Int64) throws(OktaFailure) -> OktaOneTimeToken {
        guard let token = sessionTokens[sessionToken], !token.isUsed, token.expiresAt > now,
            accounts[token.account] != nil
        else { throw .authentication }
        sessionTokens[sessionToken]?.isUsed = true
        return token
    }

    private mutating func start(_ token: OktaOneTimeToken, _ exchange: OktaExchange) -> OktaSession {
        counters.sessions += 1
        let session = OktaSession(
            id: "102" + random.letters(24),
            account: token.account,
            createdAt: exchange.now,
            expiresAt: exchange.now + exchange.okta.sessionLife,
            methods: token.methods
        )
        sessions[session.id] = session
        return session
    }

    private func view(_ session: OktaSession, _ exchange: OktaExchange) -> JSONValue {
        [
            "id": .string(session.id),
            "userId": .string(session.account),
            "login": .optional(accounts[session.account]?.login),
            "createdAt": exchange.time(session.createdAt),
            "expiresAt": exchange.time(session.expiresAt),
            "status": "ACTIVE",
            "lastPasswordVerification": exchange.time(session.createdAt),
            "amr": .array(session.methods.map(JSONValue.string)),
            "mfaActive": .bool(session.methods.contains("mfa")),
            "_links": [
                "self": link("\(exchange.origin)/api/v1/sessions/me", method: "GET"),
                "refresh": link("\(exchange.origin)/api/v1/sessions/me/lifecycle/refresh"),
            ],
        ]
    }

    // MARK: The authorization endpoint

    /// Who is signed in at `/oauth2/…/authorize`: whom a session token or the cookie stands for.
    ///
    /// - Parameters:
    ///   - request: The request; it leaves with the person's name in the place of the session token.
    ///   - context: The time and the settings.
    /// - Returns: A page, where the settings want one for a token that is not good.
    mutating func signIn(atAuthorize request: inout SandboxRequest, context: SandboxContext) -> SandboxResponse? {
        guard let text = request.queryItem("sessionToken") else {
            if let session = current(request, now: context.now), let login = accounts[session.account]?.login {
                if let refusal = stepUp(session.methods, request, context) { return refusal }
                request.query.removeAll { $0.name == "login_hint" }
                request.query.append(.init(name: "login_hint", value: login))
            }
            return nil
        }
        request.query.removeAll { $0.name == "sessionToken" || $0.name == "login_hint" }
        if let token = try? redeem(sessionToken: text, now: context.now), let login = accounts[token.account]?.login {
            if let refusal = stepUp(token.methods, request, context) { return refusal }
            request.query.append(.init(name: "login_hint", value: login))
        } else if context.settings.okta.authorizeFailure == "page" {
            let page = "<html><head><title>Sign in</title></head><body><form></form></body></html>\n"
            return .text(page, status: 200, type: "text/html; charset=utf-8")
        }
        return nil
    }

    /// What an app that wants more than a password answers to somebody who has proved no more; nil if it is satisfied.
    private func stepUp(_ methods: [String], _ request: SandboxRequest, _ context: SandboxContext) -> SandboxResponse? {
        guard context.settings.okta.appRequiresMFA, !methods.contains("mfa"),
            let target = request.queryItem("redirect_uri")
        else { return nil }
        var fields: [(String, String)] = [("error", "login_required")]
        fields.append(("error_description", Self.reauthenticationText))
        if let state = request.queryItem("state") { fields.append(("state", state)) }
        let query = fields.map { "\($0)=\(FormEncoding.encode($1))" }.joined(separator: "&")
        return .redirect(to: target + (target.contains("?") ? "&" : "?") + query)
    }

    private static let reauthenticationText =
        "The client specified not to prompt, but the client app requires re-authentication or MFA."
}
