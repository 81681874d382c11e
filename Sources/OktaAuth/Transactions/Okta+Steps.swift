public import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension Okta {
    // MARK: Single steps

    /// Begins a transaction with name and password.
    ///
    /// - Parameter credentials: The name and the password; sent once.
    /// - Returns: Where the transaction stands.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func authenticate(_ credentials: OktaCredentials) async throws -> OktaState {
        var api = api
        api.account = LockoutLedger.account(for: credentials.username)
        return try await state(api.authenticate(credentials))
    }

    /// Begins a transaction with the one-time token of an activation.
    ///
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func authenticate(activationToken: Secret) async throws -> OktaState {
        try await state(api.redeem(.activation(activationToken)))
    }

    /// Reads where a transaction stands.
    ///
    /// - Throws: `RecoveryError`; of the kind `flow_expired` if it is over. `CancellationError` as soon as the task is
    ///   cancelled.
    public func resume(stateToken: Secret) async throws -> OktaState {
        try await state(api.read(stateToken))
    }

    /// Begins to recover a forgotten password.
    ///
    /// - Returns: A challenge, also for a name that the org does not know.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func forgotPassword(_ request: OktaRecoveryRequest) async throws -> OktaState {
        try await state(api.recover(.password, request))
    }

    /// Begins to unlock an account.
    ///
    /// - Returns: A challenge, also for a name that the org does not know.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func unlock(_ request: OktaRecoveryRequest) async throws -> OktaState {
        try await state(api.recover(.unlock, request))
    }

    /// Goes on with the one-time token of a recovery link.
    ///
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    public func redeem(recoveryToken: Secret) async throws -> OktaState {
        try await state(api.redeem(.recovery(recoveryToken)))
    }

    /// Asks whether the person has answered a push, until they have.
    ///
    /// It stops at everything but "not yet", and never has another push sent. Limits, lost answers and outages are
    /// waited out, and after them the state is read before it is asked on; five in a row end it. It waits on the
    /// client's clock.
    ///
    /// - Parameters:
    ///   - state: The state that waits.
    ///   - show: Told the transaction if it brings a new number to choose on the phone.
    /// - Returns: The state that is not waiting any more.
    /// - Throws: `RecoveryError`: of the kind `declined` if the person said no, `challenge_expired` if they took
    ///   too long. `CancellationError` as soon as the task is cancelled.
    public func poll(
        _ state: OktaState,
        showing show: @Sendable (OktaTransaction) async -> Void = { _ in }
    ) async throws -> OktaState {
        try await api.client.operation { operation in
            try await api.poll(state, in: operation) { await show($0.transaction) }
        }
    }

    /// Makes a session, or obtains the app's tokens, from the one-time token of a success.
    ///
    /// - Returns: The session; it, or its tokens, are stored before this returns.
    /// - Throws: `RecoveryError`: whatever it says, the token is used up then. `CancellationError` as soon as the task is
    ///   cancelled.
    public func exchange(_ sessionToken: Secret) async throws -> OktaSession {
        try await api.exchange(sessionToken, of: nil)
    }

    private func state(_ transaction: OktaTransaction?) throws -> OktaState {
        guard let transaction else { throw RecoveryError(.unreadable, in: nil) }
        return OktaState(transaction, api: api)
    }
}

extension OktaAPI {
    /// What a recovery is for.
    enum Recovery: String {
        case password, unlock
    }

    /// Credentials with what the configuration adds to them.
    func completed(_ credentials: OktaCredentials) -> OktaCredentials {
        var credentials = credentials
        credentials.audience = credentials.audience ?? configuration.audience
        credentials.relayState = credentials.relayState ?? configuration.relayState
        credentials.deviceToken = credentials.deviceToken ?? configuration.contextDeviceToken
        return credentials
    }

    /// Begins a transaction.
    func authenticate(_ credentials: OktaCredentials) async throws -> OktaTransaction? {
        var members = completed(credentials).members
        var options: [JSONValue.Member] = []
        if configuration.warnsOfExpiry { options.append(.init("warnBeforePasswordExpired", true)) }
        if configuration.enrollsOptionalFactors { options.append(.init("multiOptionalFactorEnroll", true)) }
        if !options.isEmpty { members.append(.init("options", .object(options))) }
        return try await step(
            Call(request: org.request(.post, path: "/api/v1/authn"), body: .object(members), isAttempt: true)
        )
    }

    /// Reads a transaction; reading it twice reads it once.
    func read(_ stateToken: Secret) async throws -> OktaTransaction? {
        try await step(
            Call(
                request: org.request(.post, path: "/api/v1/authn"),
                body: ["stateToken": .string(stateToken.reveal())],
                resend: .replayable,
                presents: .state
            )
        )
    }

    /// Ends a transaction; ending it twice ends it once.
    func cancel(_ stateToken: Secret) async throws {
        _ = try await step(
            Call(
                request: org.request(.post, path: "/api/v1/authn/cancel"),
                body: ["stateToken": .string(stateToken.reveal())],
                resend: .replayable,
                presents: .state
            )
        )
    }

    /// Begins a recovery.
    func recover(_ what: Recovery, _ request: OktaRecoveryRequest) async throws -> OktaTransaction? {
        try await step(
            Call(
                request: org.request(.post, path: "/api/v1/authn/recovery/\(what.rawValue)"),
                body: .object(request.members),
                purpose: .sending
            )
        )
    }
}
