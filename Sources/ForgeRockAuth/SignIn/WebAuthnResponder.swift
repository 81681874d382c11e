import AuthRecovery
import HTTPRecovery

/// Answers the hidden callback of a WebAuthn ceremony, on success and on failure.
struct WebAuthnResponder: Sendable {
    let authenticator: (any WebAuthn.Authenticator)?
    let time: TimeSource

    /// What a ceremony came to.
    struct Result {
        /// What goes back to the server.
        var outcome: String
        /// Why it failed; nil if it did not.
        var error: WebAuthn.Failure?
    }

    /// Performs the ceremony of a step; nil if the step takes no outcome of one.
    ///
    /// - Throws: `CancellationError` alone: whatever else goes wrong, the server is told.
    func outcome(for step: JourneyStep) async throws -> Result? {
        guard step.callbacks.contains(where: \.isWebAuthnOutcome) else { return nil }
        let ceremony = step.first(\.webAuthn)
        guard let authenticator else {
            let error = WebAuthn.Failure.unsupported()
            return Result(outcome: error.webAuthnOutcome, error: error)
        }
        do {
            let outcome = try await perform(ceremony ?? .unreadable, with: authenticator)
            let wantsJSON = step.callbacks.contains(where: \.wantsJSONOutcome)
            return Result(outcome: wantsJSON ? outcome.json : outcome.text)
        } catch let error as WebAuthn.Failure {
            return Result(outcome: error.webAuthnOutcome, error: error)
        }
    }

    private func perform(
        _ ceremony: WebAuthnCeremony,
        with authenticator: any WebAuthn.Authenticator
    ) async throws -> WebAuthnSuccess {
        switch ceremony {
        case .registration(let request): WebAuthnSuccess(try await authenticator.register(request, on: time))
        case .authentication(let request): WebAuthnSuccess(try await authenticator.sign(request, on: time))
        case .unreadable: throw WebAuthn.Failure.badData(message: "the ceremony cannot be read")
        }
    }
}

/// The success of a ceremony as a journey's node reads it.
struct WebAuthnSuccess {
    let text: String
    private let attachment: String

    init(_ attestation: WebAuthn.Attestation) {
        text = [
            Self.clientData(attestation.clientDataJSON), Self.signed(attestation.attestationObject),
            Base64.encodeForURL(attestation.credentialID),
        ].joined(separator: "::")
        attachment = attestation.attachment ?? "platform"
    }

    init(_ assertion: WebAuthn.Assertion) {
        text = [
            Self.clientData(assertion.clientDataJSON), Self.signed(assertion.authenticatorData),
            Self.signed(assertion.signature), Base64.encodeForURL(assertion.credentialID),
            String(decoding: assertion.userHandle ?? [], as: UTF8.self),
        ].joined(separator: "::")
        attachment = assertion.attachment ?? "platform"
    }

    /// The same with the authenticator's attachment.
    var json: String {
        let value: JSONValue = ["authenticatorAttachment": .string(attachment), "legacyData": .string(text)]
        return value.description
    }

    private static func clientData(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// Bytes as signed numbers with commas.
    private static func signed(_ bytes: [UInt8]) -> String {
        bytes.map { String(Int8(bitPattern: $0)) }.joined(separator: ",")
    }
}
