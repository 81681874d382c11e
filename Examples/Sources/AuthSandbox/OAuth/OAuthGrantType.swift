/// The ways in which a token can be asked for, by the short names that the log uses.
enum OAuthGrantType: String, Sendable, CaseIterable {
    case refreshToken = "refresh_token"
    case clientCredentials = "client_credentials"
    case authorizationCode = "authorization_code"
    case deviceCode = "device_code"
    case tokenExchange = "token_exchange"

    /// The value of `grant_type`.
    var wireName: String {
        switch self {
        case .deviceCode: "urn:ietf:params:oauth:grant-type:device_code"
        case .tokenExchange: "urn:ietf:params:oauth:grant-type:token-exchange"
        default: rawValue
        }
    }

    init?(wireName: String) {
        guard let known = Self.allCases.first(where: { $0.wireName == wireName }) else { return nil }
        self = known
    }

    /// Either name.
    init?(name: String) {
        guard let known = OAuthGrantType(rawValue: name) ?? OAuthGrantType(wireName: name) else { return nil }
        self = known
    }

    /// The short name of a known grant; anything else as it stands.
    static func shortName(_ text: String) -> String {
        OAuthGrantType(name: text)?.rawValue ?? text
    }

    /// What a token request asks with, for the log and for faults.
    ///
    /// A short name, `unsupported`, or nil for a request that is none; on the way to an upstream any form with a
    /// `grant_type` is one.
    static func name(of request: SandboxRequest) -> String? {
        let isToken =
            request.isForUpstream || OAuthRoute.find(request.path)?.endpoint == .token
            || ForgeRockRoute.find(request.path)?.endpoint == .oauth(.token)
        guard isToken, Masking.isForm(request),
            request.body.count <= OAuthForm.maximumLength
        else { return nil }
        let field = FormEncoding.fields(request.body).first { $0.name == "grant_type" }
        return field.map { OAuthGrantType(wireName: $0.value)?.rawValue ?? "unsupported" }
    }
}
