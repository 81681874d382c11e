public import AuthRecovery
public import HTTPRecovery
public import HTTPTypes

extension ForgeRock {
    /// Sends a request with what is held: the session's cookie, and the access token where there is one.
    ///
    /// An access token that was refused is renewed once, a policy's advice is followed once where somebody can answer,
    /// and each time the request is replayed. Where the server says that the session is dead, it is removed and the
    /// error says that a person has to sign in.
    ///
    /// The field `x-authenticate-response: header` goes along, so that a gateway answers with an advice in a field rather
    /// than with a redirect to a page; whoever does not know the field ignores it. A value among the further fields
    /// replaces it.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the base URL, such as `/json/realms/root/users/ada`, with its query; or a whole URL of
    ///     the same server, such as of a gateway beside it. The session goes to no other server.
    ///   - body: The body.
    ///   - headerFields: Further fields.
    ///   - responder: Answers what a step-up asks; nil where nobody can.
    ///   - callbacks: Answers callbacks of a step-up before the journey looks at them.
    ///   - options: How to deal with what goes wrong in a step-up.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func send(
        _ method: HTTPRequest.Method = .get,
        path: String,
        body: HTTPBody? = nil,
        headerFields: HTTPFields = [:],
        answering responder: (any ChallengeResponder)? = nil,
        callbacks: any CallbackResponder = NoCallbackResponder(),
        options: SignInOptions = SignInOptions()
    ) async throws -> Response {
        var request = api.server.request(method, path: try target(of: path))
        request.headerFields = headerFields
        if !headerFields.contains(Self.authenticateResponse) {
            request.headerFields[Self.authenticateResponse] = "header"
        }
        var (hasRenewed, hasSteppedUp) = (false, false)
        while true {
            let held = try await api.tokens.read().credentials
            let calls = CallNumber()
            do {
                return try await attempt(request, body, held, calls)
            } catch let error as RecoveryError {
                if error.kind == .stepUpRequired, !hasSteppedUp, let responder, body?.canBeRead ?? true,
                    let advice = error.outcome.advice.flatMap({ PolicyAdvice($0) })
                {
                    hasSteppedUp = true
                    try await follow(advice, answering: responder, callbacks: callbacks, options: options)
                    advice.amend(&request)
                } else if error.kind == .credentialRejected, error.outcome.credential == .access, !hasRenewed,
                    oauth != nil, body?.canBeRead ?? true
                {
                    hasRenewed = true
                    try await renew(held, after: error)
                } else if error.refusesSession, let token = held.ssoToken {
                    if error.outcome.tokenAction == .clear {
                        try await api.forget(session: token, call: calls.latest)
                    } else if try await mayLive(token) {
                        // The refusal has another reason than the session.
                        throw error
                    }
                    var conclusion = error
                    conclusion.outcome.kind = .reauthenticationRequired
                    conclusion.outcome.remedies = [.reauthenticate]
                    throw conclusion
                } else {
                    throw error
                }
            }
        }
    }

    /// Where a gateway puts its advice.
    private static let authenticateResponse = HTTPField.Name("x-authenticate-response")!

    /// The person's claims, as the server tells them for the access token.
    ///
    /// - Throws: `RecoveryError`, also where there are no OAuth settings.
    public func userInfo() async throws -> JSONValue {
        let path = api.server.oauth("userinfo").dropFirst(api.server.prefix.count)
        _ = try await accessToken()
        return try await api.json(send(path: String(path)))
    }

    /// The path on the server of what a caller names.
    private func target(of path: String) throws -> String {
        guard path.contains("://"), let request = try? HTTPRequest(url: path) else {
            return api.server.prefix + (path.hasPrefix("/") ? path : "/" + path)
        }
        guard Origin(of: request) == api.server.origin else {
            var outcome = Outcome(.invalidRequest, processed: .no, remedies: [.fixRequest])
            outcome.parameter = "path"
            throw RecoveryError(outcome: outcome, reason: .notRecoverable)
        }
        return request.path ?? "/"
    }

    /// Whether a session may be alive, as far as the server can be asked; one that is over is removed from the store.
    private func mayLive(_ token: Secret) async throws -> Bool {
        do {
            return try await api.information(on: token) != nil
        } catch is RecoveryError {
            try Task.checkCancellation()
            return true
        }
    }

    private func attempt(
        _ request: HTTPRequest,
        _ body: HTTPBody?,
        _ held: Credentials,
        _ calls: CallNumber
    ) async throws -> Response {
        let isUserInfo = request.pathWithoutQuery.hasSuffix("/userinfo")
        var layers: [any Middleware] = isUserInfo ? api.interception(of: .userInfo) : []
        let usesToken = oauth != nil && (held.accessToken != nil || held.refreshToken != nil)
        if usesToken { layers.append(Authorization(tokenManager, audience: [api.server.origin])) }
        if let token = held.ssoToken, !isUserInfo {
            layers.append(
                SessionCookieLayer(
                    origin: api.server.origin,
                    cookieName: try await api.sessionCookieName(),
                    token: token,
                    isPresented: !usesToken
                )
            )
        }
        return try await api.client.send(
            request,
            body: body,
            options: RequestOptions(
                classifier: ForgeRockClassifier(),
                presents: usesToken ? .access : held.ssoToken == nil ? nil : .session,
                attemptLayers: layers,
                observer: { calls.observe($0) }
            )
        )
    }

    /// Renews the access token, unless somebody has done so since; where nothing renews it, it is removed.
    private func renew(_ held: Credentials, after refusal: RecoveryError) async throws {
        let present = try await api.tokens.read().credentials
        if present.accessToken != nil, present.accessToken != held.accessToken { return }
        do {
            _ = try await tokenManager.renew(callContext())
        } catch let error as RecoveryError where error.kind == .reauthenticationRequired {
            if refusal.outcome.tokenAction == .clear, let version = held.version(of: .access),
                error.reason != .renewalInDoubt
            {
                _ = try await api.tokens.clear(.access, ifVersion: version)
            }
            throw error
        }
    }
}
