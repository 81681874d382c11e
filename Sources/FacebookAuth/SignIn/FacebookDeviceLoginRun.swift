import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Begins device logins and sees them through.
struct FacebookDeviceLoginRun: Sendable {
    /// What a server that is asked too often adds to the interval.
    private static let slowing: Duration = .seconds(5)
    /// The longest that lost answers alone make the interval.
    private static let longestBackoff: Duration = .seconds(60)

    let api: GraphAPI
    let wait: @Sendable (Duration, Outcome.Kind) async throws -> Void

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
    /// "Not yet" and "too fast" are no failures; the latter makes the interval longer for good. An answer that is lost,
    /// an outage or a limit is followed by another question at twice the interval, as long as the login lasts. Where the
    /// lost answer held the token, the login has to be begun again.
    func finish(_ device: FacebookDeviceLogin) async throws -> FacebookSession {
        let time = api.client.runtime.time
        var interval = device.interval
        var reason = Outcome.Kind.challengePending
        var stated: Duration?
        var failure: RecoveryError?
        while true {
            let delay = max(interval, stated ?? .zero)
            guard time.now.advanced(by: delay) < device.expiresAt else { throw Self.expired }
            do {
                try await wait(delay, reason)
            } catch let bound as RecoveryError {
                // A limit or an outage that is not waited out is told as what it is.
                guard var failure else { throw bound }
                failure.reason = bound.reason
                throw failure
            }
            do {
                let response = try await poll(device)
                let outcome = response.outcome
                guard outcome.kind == .continue else { return try await keep(response) }
                if outcome.subcode == "1349172" { interval = interval.saturatingAdding(Self.slowing) }
                (reason, stated, failure) = (.challengePending, outcome.retryAfter, nil)
            } catch let error as RecoveryError where error.kind == .invalidRequest && failure?.hasLostAnswer == true {
                // The answer that was lost held the token: the code is used up, and nobody can obtain that token now.
                throw Self.expired
            } catch let error as RecoveryError where error.isPassing {
                interval = max(interval, min(interval.scaled(by: 2), Self.longestBackoff))
                (reason, stated, failure) = (error.kind, error.retryAfter, error)
                guard time.now.advanced(by: max(interval, stated ?? .zero)) < device.expiresAt else { throw error }
            }
        }
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
                    orElse: Self.expired.outcome
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

    private static var expired: RecoveryError {
        var outcome = Outcome(.flowExpired, processed: .no, remedies: [.restartFlow])
        outcome.tokenAction = .clear
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }
}

extension RecoveryError {
    /// Whether the server may have answered what nobody has read.
    fileprivate var hasLostAnswer: Bool { !outcome.provesNothingSpent }

    /// Whether a device login outlives the error: nothing was said about the login itself.
    fileprivate var isPassing: Bool {
        switch kind {
        case .transport, .timedOut, .unavailable, .rateLimited, .quotaExhausted:
            reason != .recoveryOff && (remedies.contains(.retry) || remedies.contains(.wait))
        default: false
        }
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
