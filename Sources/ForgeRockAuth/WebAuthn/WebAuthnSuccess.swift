public import AuthRecovery
public import HTTPRecovery

/// The success of a WebAuthn ceremony, as a journey's node reads it.
///
/// A sign-in with a `WebAuthn.Authenticator` makes it by itself. An app whose ceremony is carried out elsewhere, such as in
/// the browser of a web backend, hands it in: by ``JourneyStep/answerWebAuthn(with:)-(WebAuthnSuccess)``, or from a
/// ``JourneyCallbackResponder`` as the input of the hidden callback.
public struct WebAuthnSuccess: Sendable, Hashable {
    private let text: String
    private let attachment: String?

    /// The success of a registration.
    ///
    /// - Parameters:
    ///   - attestation: The new credential.
    ///   - deviceName: What it is called at the server, without double colons, which part what is sent; nil leaves that to the
    ///     server.
    public init(_ attestation: WebAuthn.Attestation, deviceName: String? = nil) {
        let parts = [
            Self.clientData(attestation.clientDataJSON), Self.signed(attestation.attestationObject),
            Base64.encodeForURL(attestation.credentialID),
        ]
        text = (parts + [deviceName.flatMap(Self.name)].compactMap(\.self)).joined(separator: Self.mark)
        attachment = attestation.attachment
    }

    /// The success of an authentication.
    public init(_ assertion: WebAuthn.Assertion) {
        let parts = [
            Self.clientData(assertion.clientDataJSON), Self.signed(assertion.authenticatorData),
            Self.signed(assertion.signature), Base64.encodeForURL(assertion.credentialID),
        ]
        let handle = assertion.userHandle.flatMap { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
        text = (parts + [handle].compactMap(\.self)).joined(separator: Self.mark)
        attachment = assertion.attachment
    }

    /// The success that a browser tells as JSON: what `PublicKeyCredential.toJSON()` returns there (Web Authentication level 3,
    /// section 5.1.8).
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - deviceName: What a new one is called at the server.
    /// - Returns: Nil if it is no such credential.
    public init?(credential: JSONValue, deviceName: String? = nil) {
        func bytes(_ value: JSONValue?) -> [UInt8]? {
            value?.string?.nonEmpty.flatMap { Base64.decode($0.utf8) }
        }
        let response = credential["response"]
        guard let id = bytes(credential["rawId"] ?? credential["id"]),
            let clientData = bytes(response?["clientDataJSON"])
        else { return nil }
        let attachment = credential["authenticatorAttachment"]?.string
        if let object = bytes(response?["attestationObject"]) {
            self.init(
                WebAuthn.Attestation(
                    credentialID: id,
                    clientDataJSON: clientData,
                    attestationObject: object,
                    attachment: attachment
                ),
                deviceName: deviceName
            )
        } else if let data = bytes(response?["authenticatorData"]), let signature = bytes(response?["signature"]) {
            self.init(
                WebAuthn.Assertion(
                    credentialID: id,
                    clientDataJSON: clientData,
                    authenticatorData: data,
                    signature: signature,
                    userHandle: bytes(response?["userHandle"]),
                    attachment: attachment
                )
            )
        } else {
            return nil
        }
    }

    /// What goes back in the hidden callback `webAuthnOutcome` of a step: a text, or the same in JSON with the
    /// authenticator's attachment if the step wants that.
    public func outcome(for step: JourneyStep) -> String {
        guard step.callbacks.contains(where: \.wantsJSONOutcome) else { return text }
        let value: JSONValue = [
            "authenticatorAttachment": .string(attachment ?? "platform"), "legacyData": .string(text),
        ]
        return value.description
    }

    private static let mark = "::"

    private static func clientData(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// Bytes as signed numbers with commas.
    private static func signed(_ bytes: [UInt8]) -> String {
        bytes.map { String(Int8(bitPattern: $0)) }.joined(separator: ",")
    }

    /// A name without what parts the text; nil if nothing is left of it.
    private static func name(_ text: String) -> String? {
        var bytes: [UInt8] = []
        for byte in text.bounded(to: 256).utf8 where byte != UInt8(ascii: ":") || bytes.last != byte {
            bytes.append(byte)
        }
        return String(decoding: bytes.drop { $0 == UInt8(ascii: ":") }, as: UTF8.self).nonEmpty
    }
}

extension WebAuthnSuccess: Redacted {
    /// What it is; nothing of it.
    public var description: String { "WebAuthnSuccess" }
}

extension JourneyStep {
    /// Answers the WebAuthn ceremony of the step.
    ///
    /// - Returns: Whether the step takes an outcome.
    @discardableResult
    public mutating func answerWebAuthn(with success: WebAuthnSuccess) -> Bool {
        setWebAuthn(success.outcome(for: self))
    }

    /// Answers the WebAuthn ceremony of the step: it has failed, or cannot be carried out here.
    ///
    /// - Returns: Whether the step takes an outcome.
    @discardableResult
    public mutating func answerWebAuthn(with failure: WebAuthn.Failure) -> Bool {
        setWebAuthn(failure.webAuthnOutcome)
    }

    private mutating func setWebAuthn(_ outcome: String) -> Bool {
        guard let index = callbacks.firstIndex(where: \.isWebAuthnOutcome) else { return false }
        callbacks[index].setInput(.string(outcome))
        return true
    }
}
