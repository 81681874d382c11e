public import HTTPRecovery

extension WebAuthn.Authenticator {
    /// Makes a credential within the request's time.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - time: What the time is measured by.
    /// - Throws: ``WebAuthn/Failure`` for whatever goes wrong; `CancellationError` as soon as the task is cancelled.
    public func register(
        _ request: WebAuthn.RegistrationRequest,
        on time: TimeSource
    ) async throws -> WebAuthn.Attestation {
        try await ceremony(request.timeout, on: time) { try await register(request) }
    }

    /// Proves the possession of a credential within the request's time.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - time: What the time is measured by.
    /// - Throws: ``WebAuthn/Failure`` for whatever goes wrong; `CancellationError` as soon as the task is cancelled.
    public func sign(_ request: WebAuthn.SigningRequest, on time: TimeSource) async throws -> WebAuthn.Assertion {
        try await ceremony(request.timeout, on: time) { try await sign(request) }
    }

    private func ceremony<Credential: Sendable>(
        _ timeout: Duration,
        on time: TimeSource,
        _ body: @escaping @Sendable () async throws -> Credential
    ) async throws -> Credential {
        do {
            return try await time.withTimeout(until: time.now.advanced(by: timeout), body)
        } catch {
            try Task.checkCancellation()
            switch error {
            case let error as WebAuthn.Failure: throw error
            case is TimeoutExceeded: throw WebAuthn.Failure.timeout()
            case is CancellationError: throw WebAuthn.Failure.cancelled()
            default: throw WebAuthn.Failure.unknown(platformError: error)
            }
        }
    }
}
