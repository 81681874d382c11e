public import AuthRecovery
public import HTTPRecovery
import HTTPTypes

extension ForgeRock {
    /// Sends a request with what is held: the session's cookie, and the access token if there is one.
    ///
    /// An access token that was refused is renewed once and the request replayed within the call. A policy's advice is
    /// followed once if somebody can answer: they have all the time they need, and what is sent then is a call with
    /// bounds of its own, as far as no operation around sets them. If the server says that the session is dead, it is
    /// removed and the error says that a person has to sign in.
    ///
    /// What is repeated after a step-up tells of it: a gateway by `_txid` in the query, a service that asks the policy by
    /// itself by the fields `X-TxID` or `X-Tree`, and `X-IdToken` where an ID token is held.
    ///
    /// The field `x-authenticate-response: header` goes along, so that a gateway answers with an advice in a field rather
    /// than with a redirect to a page; whoever does not know the field ignores it. A value among the further fields
    /// replaces it. A request to the REST API says that it speaks the protocol's version 1.0; which version of the resource
    /// answers is the server's choice, unless `Accept-API-Version` is among the fields.
    ///
    /// - Parameters:
    ///   - wanted: The request. Its path is below the base URL, such as `/json/realms/root/users/ada`; or it is a whole URL
    ///     of the same server, such as of a gateway beside it. The session goes to no other server.
    ///   - responder: Answers what a step-up asks; nil if nobody can.
    ///   - callbacks: Answers callbacks of a step-up before the journey looks at them.
    ///   - options: How to deal with what goes wrong in a step-up.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func send(
        _ wanted: ProviderRequest,
        answering responder: (any ChallengeResponder)?,
        callbacks: any JourneyCallbackResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> RecoveredResponse {
        var request = api.server.request(wanted.method, path: try target(of: wanted.path))
        request.addQuery(wanted.query)
        request.headerFields = wanted.headerFields
        let body = wanted.body?.body(typedIn: &request.headerFields)
        if !wanted.headerFields.contains(Self.authenticateResponse) {
            request.headerFields[Self.authenticateResponse] = "header"
        }
        let isResource = request.pathWithoutQuery.hasPrefix(api.server.prefix + "/json/")
        if isResource, !wanted.headerFields.contains(ForgeRockAPI.apiVersion) {
            request.headerFields[ForgeRockAPI.apiVersion] = "protocol=1.0"
        }
        guard let responder else { return try await attempt(request, body, api, wanted.resend) }
        let first = request
        return try await api.client.attended(
            request,
            where: { $0.policyAdvice != nil && body?.canBeRead ?? true },
            send: { try await attempt($0, body, api.within($1), wanted.resend) },
            asking: { error, operation in
                var request = first
                guard let advice = error.policyAdvice else { return request }
                try await within(operation).follow(advice, answering: responder, callbacks: callbacks, options: options)
                advice.amend(&request)
                return request
            }
        )
    }

    /// Sends a request with what is held, without answers to callbacks.
    public func send(
        _ request: ProviderRequest,
        answering responder: (any ChallengeResponder)?
    ) async throws -> RecoveredResponse {
        try await send(request, answering: responder, callbacks: NoJourneyCallbackResponder())
    }

    /// Where a gateway puts its advice.
    private static let authenticateResponse = HTTPField.Name("x-authenticate-response")!

    /// The person's claims, as the server tells them for the access token.
    ///
    /// - Throws: `RecoveryError`, also if there are no OAuth settings.
    public func userInfo() async throws -> JSONValue {
        let path = api.server.oauth("userinfo").dropFirst(api.server.prefix.count)
        _ = try await accessToken()
        return try await send(path: String(path)).json()
    }

    /// The path on the server of what a caller names.
    private func target(of path: String) throws -> String {
        guard path.holds("://"), let request = try? HTTPRequest(url: path) else {
            return api.server.prefix + (path.hasPrefix("/") ? path : "/" + path)
        }
        guard Origin(of: request) == api.server.origin else {
            var outcome = Outcome(.invalidRequest, processed: .no, remedies: [.fixRequest])
            outcome.parameter = "path"
            throw RecoveryError(outcome: outcome, reason: .notRecoverable)
        }
        return request.path ?? "/"
    }

    private func attempt(
        _ request: HTTPRequest,
        _ body: MessageBody?,
        _ api: ForgeRockAPI,
        _ resend: RequestOptions.ResendPermission
    ) async throws -> RecoveredResponse {
        let held = try await api.tokens.read().credentials
        guard held.ssoToken != nil || held.accessToken != nil || held.refreshToken != nil else {
            throw RecoveryError.signedOut
        }
        let isUserInfo = request.pathWithoutQuery.hasSuffix("/userinfo")
        var layers: [any ClientLayer] = isUserInfo ? api.interception(of: .userInfo) : []
        var policies: [any RecoveryPolicy] = []
        let usesToken = oauth != nil && (held.accessToken != nil || held.refreshToken != nil)
        if usesToken {
            layers.append(Authorization(tokens, audience: [api.server.origin]))
            policies.append(SessionRenewal(tokens) { $0.credential == .access })
        }
        if let token = held.ssoToken {
            policies.append(api.settling(token))
            if !isUserInfo {
                layers.append(
                    SessionCookieLayer(
                        origin: api.server.origin,
                        cookieName: try await api.sessionCookieName(),
                        token: token,
                        idToken: held.idToken,
                        isPresented: !usesToken
                    )
                )
            }
        }
        return try await api.client.send(
            request,
            body: body,
            options: RequestOptions(
                resend: resend,
                classifier: ForgeRockClassifier(),
                presents: usesToken ? .access : held.ssoToken == nil ? nil : .session,
                attemptLayers: layers,
                policies: policies
            )
        )
    }
}

extension RecoveryError {
    /// What a policy wants done before it allows the request; nil if it is something else that is wrong.
    fileprivate var policyAdvice: PolicyAdvice? {
        kind == .stepUpRequired ? outcome.advice.flatMap { PolicyAdvice($0) } : nil
    }
}
