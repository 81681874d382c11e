/// The ways in which a token can be asked for, by the short names that the log uses.
enum OAuthGrantType: String, Sendable, CaseIterable {
    case refreshToken = "refresh_token"
    case clientCredentials = "client_credentials"
    case authorizationCode = "authorization_code"
    case deviceCode = "device_code"
    case tokenExchange = "token_exchange"
    /// What a flow of Okta's identity engine ends in; no discovery document tells of it.
    case interactionCode = "interaction_code"

    /// The value of `grant_type`.
    var wireName: String {
        switch self {
        case .deviceCode: "urn:ietf:params:oauth:grant-type:device_code"
        case .tokenExchange: "urn:ietf:params:oauth:grant-type:token-exchange"
        default: rawValue
        }
    }

    /// The grant that a `grant_type` asks for.
    static func onWire(_ name: String) -> OAuthGrantType? { allCases.first { $0.wireName == name } }

    /// The short name of a known grant; anything else as it stands.
    static func shortName(_ text: String) -> String { onWire(text)?.rawValue ?? text }
}

extension SandboxRequest {
    /// What it asks for tokens with, for the log and for faults.
    ///
    /// A short name, `unsupported`, or nil for a request that is none; on the way to an upstream any form with a
    /// `grant_type` is one.
    var grant: String? {
        guard Masking.isForm(self), body.count <= OAuthForm.maximumLength,
            isForUpstream || SandboxProvider.all.contains(where: { $0.world.isTokenRequest(self) })
        else { return nil }
        let field = FormEncoding.fields(body).first { $0.name == "grant_type" }
        return field.map { OAuthGrantType.onWire($0.value)?.rawValue ?? "unsupported" }
    }
}
