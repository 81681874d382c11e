import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Sign-ins by the login dialog at Facebook's site, to which a person's browser is sent, and from which it comes back.
struct FacebookLoginDialog: Sendable, ClientBound {
    /// By what name its errors are known.
    static let name = "login_dialog"

    var api: GraphAPI
    let web: FacebookConfiguration.WebLogin
    var permissions: [String]
    /// Why a person is asked who has been asked before.
    var authType: FacebookConfiguration.WebLogin.AuthType?

    var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }

    /// Whether a verifier stands for the app's secret, which then is not needed.
    private var usesProofKey: Bool { web.usesProofKey ?? (api.app.secret == nil) }

    /// A request to the dialog, with a new state.
    func request() throws(RecoveryError) -> OAuthClient.AuthorizationRequest {
        if !usesProofKey, api.app.secret == nil { throw .missing("client_secret") }
        let random = api.client.runtime.random
        let state = Secret(Base64.encodeForURL(random.bytes(32)))
        let nonce = usesProofKey ? Secret(Base64.encodeForURL(random.bytes(32))) : nil
        let proofKey = OAuthClient.ProofKey(random: random)
        var query: FormFields = [
            "client_id": api.app.id, "redirect_uri": web.redirectURI, "response_type": "code", "return_scopes": "true",
        ]
        let scope = (usesProofKey ? ["openid"] : []) + permissions
        if !scope.isEmpty { query.add("scope", scope.joined(separator: ",")) }
        query.add("auth_type", authType?.rawValue)
        if authType == .reauthenticate { query.add("auth_nonce", Base64.encodeForURL(random.bytes(16))) }
        query.add("state", secret: state)
        if usesProofKey {
            query.add("nonce", secret: nonce)
            query.add("code_challenge", proofKey.challenge)
            query.add("code_challenge_method", OAuthClient.ProofKey.method)
        }
        let request = api.site.request(.get, path: "dialog/oauth", query: query)
        return OAuthClient.AuthorizationRequest(
            url: "\(Origin(of: request))\(request.path ?? "/")",
            state: state,
            nonce: nonce,
            proofKey: proofKey,
            redirectURI: web.redirectURI,
            issuer: nil,
            requiresIssuer: false
        )
    }

    /// What the person is asked for.
    func challenge(for request: OAuthClient.AuthorizationRequest) -> Challenge {
        Challenge(
            factor: Factor(key: .redirect, providerName: Self.name, destination: api.site.origin.description),
            prompt: "Open the page in a browser, and sign in to Facebook there.",
            url: Secret(request.url)
        )
    }

    /// Takes the code out of where the browser came back, and exchanges it; it is sent once.
    ///
    /// - Throws: `RecoveryError`: of the kind `invalid_request` with the code `state_mismatch` if the address is no answer
    ///   to the request, `declined` if the person said no, or as the dialog or the exchange says.
    func finish(
        _ request: OAuthClient.AuthorizationRequest,
        at url: Secret
    ) async throws -> FacebookSession {
        let redirect = FacebookRedirect(url: url)
        let code = try redirect.code(for: request, judgedBy: api.classifier, at: api.client.runtime.time.wallTime)
        var query: FormFields = ["client_id": api.app.id, "redirect_uri": request.redirectURI]
        if usesProofKey {
            query.add("code_verifier", secret: request.proofKey.verifier)
        } else {
            query.add("client_secret", secret: api.app.secret)
        }
        query.add("code", secret: code)
        let answer: OAuthClient.TokenAnswer
        let date: Timestamp
        do {
            (answer, date) = try await api.datedTokens(
                GraphAPI.Call(
                    path: "oauth/access_token",
                    query: query,
                    token: .none,
                    resend: .spending,
                    presents: .code
                )
            )
        } catch let error as RecoveryError where [.transport, .timedOut, .unavailable].contains(error.kind) {
            // The code may be used up: the way to another one is the dialog.
            var error = error
            error.outcome.remedies = [.resync]
            throw error
        }
        try request.check(answer)
        if let token = answer.idToken { _ = try await api.verify(token, nonce: request.nonce, at: date) }
        return try await api.signedIn(with: answer, permissions: redirect.permissions ?? api.asked(permissions))
    }
}
