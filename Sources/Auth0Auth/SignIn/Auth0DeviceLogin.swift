import AuthRecovery
import HTTPRecovery

/// Device logins at a tenant.
struct Auth0DeviceLogin: DeviceLoginServer {
    var api: Auth0API

    var wish: JSONValue {
        get { .null }
        set {}
    }

    var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }

    var rules: DeviceLoginRules {
        DeviceLoginRules(expired: Self.expired) { $0.code == "slow_down" }
    }

    /// What a login comes to that has lasted too long.
    private static var expired: Outcome {
        var outcome = Outcome(.flowExpired, processed: .no, remedies: [.restartFlow])
        outcome.code = "expired_token"
        outcome.credential = .device
        outcome.tokenAction = .clear
        return outcome
    }

    func begin() async throws -> OAuthClient.DeviceAuthorization {
        var parameters = FormFields()
        parameters.add("audience", api.configuration.audience)
        return try await api.oauth.authorizeDevice(scope: api.configuration.scope, parameters: parameters)
    }

    func poll(_ device: OAuthClient.DeviceAuthorization) async throws -> RecoveredResponse {
        try await api.poll(device, orElse: Self.expired)
    }

    func finish(_ response: RecoveredResponse) async throws -> Auth0Session {
        try await api.keep(api.tokens(in: response))
    }
}
