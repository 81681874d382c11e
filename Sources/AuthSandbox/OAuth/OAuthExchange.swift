import HTTPRecovery

/// One request on its way through the provider.
final class OAuthExchange {
    let request: SandboxRequest
    let route: OAuthRoute
    let now: Int64
    var settings: SandboxOAuthSettings
    /// The scheme and the authority that the request was sent to.
    let origin: String
    var form = OAuthForm()
    /// Who has sent it, once that is proved.
    var client = SandboxOAuthClient(id: "")
    /// The thumbprint of the key that its tokens are bound to; nil for none.
    var key: String?
    /// Lines for the sandbox's log.
    var log: [String] = []

    init(_ request: SandboxRequest, route: OAuthRoute, context: SandboxContext) {
        self.request = request
        self.route = route
        now = context.now
        settings = context.settings.oauth
        origin = context.origin
    }

    /// Who the provider is; the server below `/oauth2` is the organization's own, whose issuer has no path.
    var issuer: String { origin + (route.base == "/oauth2" ? "" : route.base) }

    /// Where an endpoint of the same base is.
    func url(of endpoint: OAuthEndpoint) -> String { origin + route.path(of: endpoint) }

    /// How strong a sign-in is that was asked for.
    var acr: String? { form.value("acr_values")?.split(separator: " ").first.map { String($0.prefix(200)) } }
}
