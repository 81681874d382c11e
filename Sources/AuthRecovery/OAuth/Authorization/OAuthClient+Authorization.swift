public import HTTPRecovery
import HTTPTypes

extension OAuthClient {
    /// A request for an authorization code, with a new state, nonce and proof key (RFC 6749 section 4.1.1, RFC 7636).
    ///
    /// - Parameters:
    ///   - redirectURI: Where the person is sent back to, as it is registered.
    ///   - scope: What is asked for; with `openid` in it an ID token, which is tied to the request by a nonce.
    ///   - parameters: Further parameters, such as `prompt` or `login_hint`.
    /// - Throws: `RecoveryError` of the kind `misconfigured` if the server's authorization endpoint is not known.
    public func authorizationRequest(
        redirectURI: String,
        scope: String? = nil,
        parameters: FormFields = FormFields()
    ) throws(RecoveryError) -> OAuthClient.AuthorizationRequest {
        let endpoint = try server.request(to: .authorization)
        let random = client.runtime.random
        let state = random.token()
        let isOpenID = scope?.split(separator: " ").contains("openid") == true
        let nonce = isOpenID ? random.token() : nil
        let proofKey = OAuthClient.ProofKey(random: random)
        var query: FormFields = ["response_type": "code", "client_id": clientID, "redirect_uri": redirectURI]
        query.add("scope", scope)
        query.add("state", secret: state)
        query.add("nonce", secret: nonce)
        query.add("code_challenge", proofKey.challenge)
        query.add("code_challenge_method", OAuthClient.ProofKey.method)
        query.add(parameters)
        return OAuthClient.AuthorizationRequest(
            url: "\(Origin(of: endpoint))\((endpoint.path ?? "/").addingQuery(query.encoded))",
            state: state,
            nonce: nonce,
            proofKey: proofKey,
            redirectURI: redirectURI,
            issuer: server.issuer,
            requiresIssuer: server.namesItselfInRedirects
        )
    }

    /// Obtains tokens for what the person has granted.
    ///
    /// - Parameters:
    ///   - request: The request that the person was sent out with.
    ///   - url: The URL at which they came back.
    /// - Throws: `RecoveryError` if the redirect is no answer to the request, if the server refuses, and if
    ///   the ID token belongs to another request or is missing; `CancellationError` as soon as the task is cancelled.
    public func tokens(
        for request: OAuthClient.AuthorizationRequest,
        redirectedTo url: String
    ) async throws -> OAuthClient.TokenAnswer {
        let answer = try await tokens(request.grant(for: OAuthClient.AuthorizationRedirect(url: url)))
        try request.check(answer)
        return answer
    }
}
