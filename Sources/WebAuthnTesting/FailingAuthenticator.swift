public import AuthRecovery

/// An authenticator that always fails the same way.
public struct FailingAuthenticator: WebAuthnAuthenticator {
    private let error: WebAuthnError

    /// Creates an authenticator.
    public init(_ error: WebAuthnError) {
        self.error = error
    }

    /// Fails.
    public func register(_ request: WebAuthnRegistrationRequest) throws -> WebAuthnAttestation {
        throw error
    }

    /// Fails.
    public func sign(_ request: WebAuthnSigningRequest) throws -> WebAuthnAssertion {
        throw error
    }
}
