import AuthRecovery
import HTTPRecovery

/// A passkey's ceremony: the challenge as Clerk sends it, the proof as Clerk takes it.
struct PasskeyCeremony {
    let authenticator: any WebAuthn.Authenticator
    let time: TimeSource

    /// Signs a challenge within its time.
    ///
    /// - Parameters:
    ///   - nonce: The request options as JSON (Web Authentication section 5.1.8).
    ///   - origin: What the client data is made for; nil is `https://` and the relying party's id.
    /// - Returns: The credential as JSON (section 5.1.8).
    func sign(_ nonce: Secret, origin: String?) async throws -> Secret {
        let options = try? JSONValue(parsing: nonce.reveal())
        guard let request = options.flatMap({ WebAuthn.SigningRequest(options: $0, origin: origin) }) else {
            throw Self.failure(.badData())
        }
        do {
            return Secret(try await authenticator.sign(request, on: time).json.description)
        } catch let error as WebAuthn.Failure {
            throw Self.failure(error)
        }
    }

    /// Makes a passkey within its time.
    ///
    /// - Parameters:
    ///   - nonce: The creation options as JSON (Web Authentication section 5.1.8).
    ///   - origin: What the client data is made for; nil is `https://` and the relying party's id.
    /// - Returns: The credential as JSON (section 5.1.8).
    func register(_ nonce: Secret, origin: String?) async throws -> Secret {
        let options = try? JSONValue(parsing: nonce.reveal())
        guard let request = options.flatMap({ WebAuthn.RegistrationRequest(options: $0, origin: origin) }) else {
            throw Self.failure(.badData())
        }
        do {
            return Secret(try await authenticator.register(request, on: time).json.description)
        } catch let error as WebAuthn.Failure {
            throw Self.failure(error)
        }
    }

    /// What a ceremony's failure means for the sign-in: who has cancelled does not want to go on; any other failure makes
    /// the passkey one that cannot be used now.
    static func failure(_ error: WebAuthn.Failure) -> RecoveryError {
        var outcome = Outcome(.factorUnavailable, processed: .no, remedies: [.switchFactor])
        if case .cancelled = error { outcome = Outcome(.declined, processed: .no, remedies: [.switchFactor]) }
        outcome.code = "webauthn_\(error.name)"
        return RecoveryError(outcome: outcome, reason: .notRecoverable, cause: error)
    }
}
