import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// What ties a sign-in at the identity engine to its beginning; with it, it can be gone on with anywhere.
struct OktaInteraction: RememberedFields {
    var handle = Secret("")
    var state = Secret("")
    var nonce: Secret?
    var proofKey = OAuthClient.ProofKey()

    static var fields: [RememberedField<OktaInteraction>] {
        [
            .init("handle", \.handle), .init("state", \.state), .init("nonce", \.nonce),
            .init("proof_key", \.proofKey),
        ]
    }
}

/// What one step at the identity engine came to.
struct OktaEngineStep: Sendable {
    var answer: OktaEngineAnswer
    var outcome: Outcome
}

extension OktaAPI {
    private static let engineType = "application/ion+json; okta-version=1.0.0"

    /// Begins an interaction, which spends nothing: each one is a flow of its own.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - name: The person's name, if it is known.
    ///   - token: What a link of theirs has brought; nil if there is none.
    func interact(for app: OktaApp, name: String? = nil, with token: OktaLinkToken? = nil) async throws
        -> OktaInteraction
    {
        let oauth = try oauth(for: app, judgedBy: token.map { _ in OktaLinkToken.interaction } ?? OktaClassifier())
        let request = try oauth.authorizationRequest(redirectURI: app.redirectURI, scope: app.scope)
        var form: FormFields = ["redirect_uri": app.redirectURI]
        form.add("scope", app.scope)
        form.add("state", secret: request.state)
        form.add("nonce", secret: request.nonce)
        form.add("code_challenge", request.proofKey.challenge)
        form.add("code_challenge_method", OAuthClient.ProofKey.method)
        form.add(app.assurance)
        form.add("login_hint", name)
        form.add(token)
        let answer = try await oauth.post(form, to: .interact, resend: .replayable)
        guard let handle = answer.members["interaction_handle"]?.string?.nonEmpty else {
            throw RecoveryError(.unreadable, in: answer.response)
        }
        return OktaInteraction(
            handle: Secret(handle),
            state: request.state,
            nonce: request.nonce,
            proofKey: request.proofKey
        )
    }

    /// Reads where a flow stands; reading it twice reads it once.
    ///
    /// - Parameters:
    ///   - interaction: The beginning.
    ///   - stateHandle: The proof of the flow; nil before its first answer.
    func introspect(_ interaction: OktaInteraction, _ stateHandle: Secret?) async throws -> OktaEngineStep {
        let body: JSONValue =
            stateHandle.map { ["stateToken": .string($0.reveal())] }
            ?? ["interactionHandle": .string(interaction.handle.reveal())]
        return try await engineStep(
            Call(
                request: org.request(.post, path: "/idp/idx/introspect"),
                content: ProviderRequest.Content(MessageBody(body.description), type: Self.engineType),
                resend: .replayable,
                presents: .state,
                purpose: .engine
            )
        )
    }

    /// Posts a form.
    func post(
        _ form: OktaForm,
        _ body: JSONValue,
        resend: RequestOptions.ResendPermission,
        purpose: OktaCallPurpose = .engine,
        isAttempt: Bool = false
    ) async throws -> OktaEngineStep {
        let request = try org.request(for: OktaLink(name: form.name, href: form.href))
        return try await engineStep(
            Call(
                request: request,
                content: ProviderRequest.Content(MessageBody(body.description), type: form.accepts),
                resend: resend,
                presents: .state,
                purpose: purpose,
                isAttempt: isAttempt
            )
        )
    }

    private func engineStep(_ call: Call) async throws -> OktaEngineStep {
        var call = call
        call.request.headerFields[.accept] = Self.engineType
        let response = try await send(call)
        guard let answer = engineAnswer(in: response) else { throw RecoveryError(.unreadable, in: response) }
        return OktaEngineStep(answer: answer, outcome: response.outcome)
    }

    /// The answer that a refusal has left behind, if it shows one that goes on.
    func engineAnswer(leftBy error: RecoveryError) -> OktaEngineAnswer? {
        error.response.flatMap { engineAnswer(in: $0) }.flatMap { $0.forms.isEmpty ? nil : $0 }
    }

    private func engineAnswer(in response: RecoveredResponse) -> OktaEngineAnswer? {
        guard let bytes = response.body.bytesInMemory, let json = try? JSONValue(parsing: Array(bytes)),
            json.members != nil
        else { return nil }
        var answer = OktaEngineAnswer(json)
        let clock = ServerClock(response.headerFields, receivedAt: client.runtime.time.wallTime)
        answer.lifetime = json["expiresAt"]?.string.flatMap { Timestamp(rfc3339: $0) }?.elapsed(since: clock.now)
        if let lifetime = answer.lifetime, lifetime > .zero {
            answer.endsAt = client.runtime.time.wallTime.advanced(by: lifetime)
        }
        return answer
    }

    /// Obtains the app's tokens for an interaction code, which is good for one minute and one exchange.
    func exchange(
        interactionCode code: Secret,
        of interaction: OktaInteraction,
        for app: OktaApp,
        _ answer: OktaEngineAnswer?
    ) async throws -> OktaSession {
        let oauth = try oauth(for: app)
        var parameters = FormFields()
        parameters.add("interaction_code", secret: code)
        parameters.add("code_verifier", secret: interaction.proofKey.verifier)
        parameters.add("redirect_uri", app.redirectURI)
        let tokens = try await oauth.tokens(
            OAuthClient.Grant(type: "interaction_code", parameters: parameters, presents: .code, resend: .spending)
        )
        return try await keep(tokens, nonce: interaction.nonce, userID: answer?.userID, login: answer?.login)
    }
}

extension OAuthServer.Endpoint {
    /// Begins a flow of the identity engine.
    static let interact = OAuthServer.Endpoint(rawValue: "interaction_endpoint")
}
