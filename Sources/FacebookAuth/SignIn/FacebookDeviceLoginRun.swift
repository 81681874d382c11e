import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Begins device logins and sees them through.
struct FacebookDeviceLoginRun: Sendable {
    let api: GraphAPI

    /// Begins a login.
    func begin(_ permissions: [String]) async throws -> FacebookDeviceLogin {
        guard let token = api.app.identification else { throw RecoveryError.missing("client_token") }
        var form = FormFields()
        form.add("access_token", secret: token)
        if !permissions.isEmpty { form.add("scope", permissions.joined(separator: ",")) }
        let response = try await api.send(
            GraphAPI.Call(
                method: .post,
                path: "device/login",
                form: form,
                token: .none,
                // A code that nobody has seen does no harm.
                resend: .replayable,
                presents: .client
            )
        )
        let now = api.client.runtime.time.now
        guard let device = FacebookDeviceLogin(try api.json(in: response), receivedAt: now) else {
            throw api.failure(.unreadable, in: response)
        }
        return device
    }

    /// Asks until the person has answered, and stores the token that comes of it.
    ///
    /// - Parameters:
    ///   - device: The login.
    ///   - operation: What the polls belong to.
    ///   - pausing: Pauses between two of them; nil leaves it to the operation.
    func finish(
        _ device: FacebookDeviceLogin,
        in operation: RecoveryOperation,
        pausing: ((Duration, Outcome.Kind) async throws -> Void)? = nil
    ) async throws -> FacebookSession {
        let response = try await operation.run(FacebookDevicePolling(device), pausing: pausing) { _, operation in
            try await FacebookDeviceLoginRun(api: api.within(operation)).poll(device)
        }
        return try await keep(response)
    }

    private func poll(_ device: FacebookDeviceLogin) async throws -> Response {
        guard let token = api.app.identification else { throw RecoveryError.missing("client_token") }
        var form = FormFields()
        form.add("access_token", secret: token)
        form.add("code", secret: device.deviceCode)
        return try await api.send(
            GraphAPI.Call(
                method: .post,
                path: "device/login_status",
                form: form,
                token: .none,
                // The next question comes at its own time.
                resend: .spending,
                sendBy: SendBy(
                    api.client.runtime.time.wallTime(at: device.expiresAt),
                    orElse: FacebookDevicePolling.expired.outcome
                ),
                presents: .device,
                purpose: .poll
            )
        )
    }

    /// Stores the token before anyone uses it, even where the caller has lost patience; then reads whose it is.
    private func keep(_ response: Response) async throws -> FacebookSession {
        let clock = ServerClock(response.headerFields, receivedAt: api.client.runtime.time.wallTime)
        guard let answer = TokenAnswer(try api.json(in: response), date: clock.now) else {
            throw api.failure(.unreadable, in: response)
        }
        let store = api.store
        let stored = try await Task {
            try await store.update { credentials in
                var fresh = credentials
                fresh.facebookProfile = nil
                credentials = answer.merged(into: fresh)
            }
        }.value
        var session = FacebookSession(expiresAt: stored.credentials.expiresAt)
        do {
            session.user = try await api.profile()
        } catch is RecoveryError {
            // The sign-in has succeeded all the same; who it is can be asked later.
        }
        return session
    }
}

extension GraphAPI {
    /// Reads who is signed in, and keeps it beside the token.
    func profile(_ authorization: FacebookAuthorization? = nil) async throws -> FacebookUser {
        var query = FormFields()
        if !configuration.profileFields.isEmpty {
            query.add("fields", configuration.profileFields.joined(separator: ","))
        }
        let authorization = authorization ?? FacebookAuthorization(self, token: .stored)
        let response = try await send(Call(path: "me", query: query), authorization: authorization)
        return try await keepProfile(in: response, token: authorization.presented?.token)
    }
}
