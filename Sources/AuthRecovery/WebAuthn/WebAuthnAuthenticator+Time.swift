public import HTTPRecovery

extension WebAuthnAuthenticator {
    /// Makes a credential within the request's time.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - time: What the time is measured by.
    /// - Throws: ``WebAuthnError`` for whatever goes wrong; `CancellationError` as soon as the task is cancelled.
    public func register(
        _ request: WebAuthnRegistrationRequest,
        on time: TimeSource
    ) async throws -> WebAuthnAttestation {
        try await ceremony(request.timeout, on: time) { try await register(request) }
    }

    /// Proves the possession of a credential within the request's time.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - time: What the time is measured by.
    /// - Throws: ``WebAuthnError`` for whatever goes wrong; `CancellationError` as soon as the task is cancelled.
    public func sign(_ request: WebAuthnSigningRequest, on time: TimeSource) async throws -> WebAuthnAssertion {
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
            case let error as WebAuthnError: throw error
            case is TimeoutExceeded: throw WebAuthnError.timeout()
            case is CancellationError: throw WebAuthnError.cancelled()
            default: throw WebAuthnError.unknown(platformError: error)
            }
        }
    }
}
