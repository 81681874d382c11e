package import AuthRecovery

/// An authenticator that is as good as another one but for its signatures, each of which is of something else.
package struct ForgingAuthenticator: WebAuthn.Authenticator {
    private let real: any WebAuthn.Authenticator

    /// An authenticator with the credentials of another.
    package init(_ real: any WebAuthn.Authenticator) { self.real = real }

    /// Makes a credential as the other does.
    package func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation {
        try await real.register(request)
    }

    /// Makes an assertion with the signature of the one before.
    package func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion {
        let other = try await real.sign(request)
        var assertion = try await real.sign(request)
        assertion.signature = other.signature
        return assertion
    }
}
