extension WebAuthn {
    /// Something that makes and uses WebAuthn credentials (W3C Web Authentication Level 3): a security key, a platform
    /// authenticator, one in software.
    ///
    /// The one who implements it is client and authenticator in one: it shows what is needed to the person, makes the
    /// client data for the request's origin, and lets the authenticator sign. ``WebAuthn/ClientData`` helps with the former.
    /// Providers bound the time: a ceremony that takes longer than the request's timeout is cancelled, and cancellation has
    /// to end it.
    public protocol Authenticator: Sendable {
        /// Makes a credential for the relying party (section 5.1.3).
        ///
        /// - Throws: ``WebAuthn/Failure`` for what the relying party is to be told; any other error is told as
        ///   ``WebAuthn/Failure/unknown(platformError:message:)``. `CancellationError` when the task is cancelled.
        func register(_ request: WebAuthn.RegistrationRequest) async throws -> WebAuthn.Attestation

        /// Proves the possession of a credential (section 5.1.4).
        ///
        /// - Throws: As ``register(_:)``.
        func sign(_ request: WebAuthn.SigningRequest) async throws -> WebAuthn.Assertion
    }
}
