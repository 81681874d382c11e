public import AuthRecovery

/// An authenticator that always fails the same way.
public struct FailingAuthenticator: WebAuthn.Authenticator {
    private let error: WebAuthn.Failure

    /// Creates an authenticator.
    public init(_ error: WebAuthn.Failure) {
        self.error = error
    }

    /// Fails.
    public func register(_ request: WebAuthn.RegistrationRequest) throws -> WebAuthn.Attestation {
        throw error
    }

    /// Fails.
    public func sign(_ request: WebAuthn.SigningRequest) throws -> WebAuthn.Assertion {
        throw error
    }
}
