import AuthRecovery
import HTTPRecovery

/// A passkey's ceremony: the challenge as Clerk sends it, the proof as Clerk takes it.
struct PasskeyCeremony {
    let authenticator: any WebAuthnAuthenticator
    let time: TimeSource

    /// Signs a challenge within its time.
    ///
    /// - Parameters:
    ///   - nonce: The request options as JSON (Web Authentication section 5.1.8).
    ///   - origin: What the client data is made for; nil is `https://` and the relying party's id.
    /// - Returns: The credential as JSON (section 5.1.8).
    func sign(_ nonce: Secret, origin: String?) async throws -> Secret {
        guard let request = Self.request(nonce, origin: origin) else { throw Self.failure(.badData()) }
        do {
            let assertion = try await time.withTimeout(until: time.now.advanced(by: request.timeout)) {
                [authenticator] in
                try await authenticator.sign(request)
            }
            return Secret(Self.json(assertion).description)
        } catch {
            try Task.checkCancellation()
            switch error {
            case let error as WebAuthnError: throw Self.failure(error)
            case is TimeoutExceeded: throw Self.failure(.timeout())
            case is CancellationError: throw Self.failure(.cancelled())
            default: throw Self.failure(.unknown(platformError: error))
            }
        }
    }

    /// What a ceremony's failure means for the sign-in: who has cancelled does not want to go on; any other failure makes
    /// the passkey one that cannot be used now.
    static func failure(_ error: WebAuthnError) -> RecoveryError {
        var outcome = Outcome(.factorUnavailable, processed: .no, remedies: [.switchFactor])
        if case .cancelled = error { outcome = Outcome(.declined, processed: .no, remedies: [.switchFactor]) }
        outcome.code = "webauthn_\(error.name)"
        return RecoveryError(outcome: outcome, reason: .notRecoverable, cause: error)
    }

    static func request(_ nonce: Secret, origin: String?) -> WebAuthnSigningRequest? {
        guard let parsed = try? JSONValue(parsing: nonce.reveal()) else { return nil }
        let options = parsed["publicKey"] ?? parsed
        guard let challenge = options["challenge"]?.string.flatMap({ Base64.decode($0.utf8) }), !challenge.isEmpty,
            let id = options["rpId"]?.string?.nonEmpty
        else { return nil }
        let timeout = options["timeout"]?.number.map { Duration.milliseconds(min(max($0.saturatedInt, 1), 600_000)) }
        return WebAuthnSigningRequest(
            challenge: challenge,
            relyingPartyID: id,
            origin: origin ?? "https://\(id)",
            allowedCredentials: (options["allowCredentials"]?.array ?? []).prefix(64)
                .compactMap { $0["id"]?.string.flatMap { Base64.decode($0.utf8) } },
            userVerification: options["userVerification"]?.string
                .flatMap { WebAuthnRegistrationRequest.Requirement(rawValue: $0) } ?? .preferred,
            timeout: timeout ?? .seconds(60)
        )
    }

    static func json(_ assertion: WebAuthnAssertion) -> JSONValue {
        let id = Base64.encodeForURL(assertion.credentialID)
        let handle = assertion.userHandle.map { JSONValue.string(Base64.encodeForURL($0)) } ?? .null
        return [
            "id": .string(id), "rawId": .string(id), "type": "public-key",
            "authenticatorAttachment": assertion.attachment.map(JSONValue.string) ?? .null,
            "response": [
                "clientDataJSON": .string(Base64.encodeForURL(assertion.clientDataJSON)),
                "authenticatorData": .string(Base64.encodeForURL(assertion.authenticatorData)),
                "signature": .string(Base64.encodeForURL(assertion.signature)), "userHandle": handle,
            ],
        ]
    }
}
