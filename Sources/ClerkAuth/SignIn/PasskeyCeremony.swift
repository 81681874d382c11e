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
            throw WebAuthn.Failure.badData().refusal
        }
        do {
            return Secret(try await authenticator.sign(request, on: time).json.description)
        } catch let error as WebAuthn.Failure {
            throw error.refusal
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
            throw WebAuthn.Failure.badData().refusal
        }
        do {
            return Secret(try await authenticator.register(request, on: time).json.description)
        } catch let error as WebAuthn.Failure {
            throw error.refusal
        }
    }
}
