/// How a client proves itself to the authorization server (RFC 6749 section 2.3).
///
/// It is asked anew for every attempt, since some proofs (signed assertions, DPoP proofs) may be used only once.
public protocol ClientAuthentication: Sendable {
    /// Adds the proof to one attempt.
    ///
    /// - Throws: Whatever keeps the proof from being made; nothing is sent then, and the call fails as `misconfigured`
    ///   with the error as its cause.
    func authenticate(_ attempt: inout OAuthClient.Attempt) async throws
}
