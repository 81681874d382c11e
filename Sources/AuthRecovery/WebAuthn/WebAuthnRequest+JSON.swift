public import HTTPRecovery

// Options and credentials as JSON (Web Authentication level 3, sections 5.1.8 to 5.1.10).

extension WebAuthn.SigningRequest {
    /// Reads the options of a request for an assertion, bare or in a member `publicKey`.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - relyingPartyID: The relying party's id if the options name none; nil refuses such options.
    ///   - origin: What the client data is made for; nil is `https://` and the relying party's id.
    /// - Returns: Nil if there is no challenge, or no relying party.
    public init?(options: JSONValue, relyingPartyID: String? = nil, origin: String? = nil) {
        let options = options["publicKey"] ?? options
        guard let challenge = options["challenge"].flatMap(WebAuthnJSON.bytes), !challenge.isEmpty,
            let id = options["rpId"]?.string?.nonEmpty ?? relyingPartyID
        else { return nil }
        self.init(
            challenge: challenge,
            relyingPartyID: id,
            origin: origin ?? "https://\(id)",
            allowedCredentials: WebAuthnJSON.credentials(options["allowCredentials"]),
            userVerification: WebAuthnJSON.requirement(options["userVerification"]) ?? .preferred,
            timeout: WebAuthnJSON.timeout(options["timeout"])
        )
    }
}

extension WebAuthn.RegistrationRequest {
    /// Reads the options of a request for a new credential, bare or in a member `publicKey`.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - relyingPartyID: The relying party's id if the options name none; nil refuses such options.
    ///   - origin: What the client data is made for; nil is `https://` and the relying party's id.
    ///   - userID: The handle of a text that the options name the user by; nil, the default, reads it as base64url.
    /// - Returns: Nil if there is no challenge, or no relying party.
    public init?(
        options: JSONValue,
        relyingPartyID: String? = nil,
        origin: String? = nil,
        userID: ((String) -> [UInt8])? = nil
    ) {
        let options = options["publicKey"] ?? options
        guard let challenge = options["challenge"].flatMap(WebAuthnJSON.bytes), !challenge.isEmpty,
            let id = options["rp"]?["id"]?.string?.nonEmpty ?? relyingPartyID
        else { return nil }
        let user = options["user"]
        let selection = options["authenticatorSelection"]
        let handle = user?["id"]?.string.map { userID?($0) ?? WebAuthnJSON.bytes(.string($0)) ?? [] }
        let isResident = selection?["requireResidentKey"]?.bool == true
        self.init(
            challenge: challenge,
            relyingPartyID: id,
            relyingPartyName: options["rp"]?["name"]?.string ?? "",
            origin: origin ?? "https://\(id)",
            user: User(
                id: Array((handle ?? []).prefix(64)),
                name: user?["name"]?.string ?? "",
                displayName: user?["displayName"]?.string ?? ""
            ),
            algorithms: (options["pubKeyCredParams"]?.array ?? []).prefix(32)
                .compactMap { $0["alg"]?.number.map { Int(clamping: $0.saturatedInt) } },
            excludedCredentials: WebAuthnJSON.credentials(options["excludeCredentials"]),
            userVerification: WebAuthnJSON.requirement(selection?["userVerification"]) ?? .preferred,
            residentKey: WebAuthnJSON.requirement(selection?["residentKey"])
                ?? (isResident ? .required : .discouraged),
            attachment: selection?["authenticatorAttachment"]?.string,
            attestation: options["attestation"]?.string ?? "none",
            timeout: WebAuthnJSON.timeout(options["timeout"])
        )
    }
}

extension WebAuthn.Assertion {
    /// The credential as JSON.
    public var json: JSONValue {
        WebAuthnJSON.credential(
            credentialID,
            attachment,
            [
                "clientDataJSON": .string(Base64.encodeForURL(clientDataJSON)),
                "authenticatorData": .string(Base64.encodeForURL(authenticatorData)),
                "signature": .string(Base64.encodeForURL(signature)),
                "userHandle": userHandle.map { .string(Base64.encodeForURL($0)) } ?? .null,
            ]
        )
    }
}

extension WebAuthn.Attestation {
    /// The credential as JSON.
    public var json: JSONValue {
        WebAuthnJSON.credential(
            credentialID,
            attachment,
            [
                "clientDataJSON": .string(Base64.encodeForURL(clientDataJSON)),
                "attestationObject": .string(Base64.encodeForURL(attestationObject)),
            ]
        )
    }
}

/// The parts that options and credentials share.
package enum WebAuthnJSON {
    /// The bytes that a text holds in base64url.
    package static func bytes(_ value: JSONValue) -> [UInt8]? { value.string.flatMap { Base64.decode($0.utf8) } }

    /// The ids of a list of credentials; a number for each byte is understood, too.
    package static func credentials(_ list: JSONValue?) -> [[UInt8]] {
        (list?.array ?? []).prefix(256)
            .compactMap { entry in
                guard let numbers = entry["id"]?.array else { return entry["id"].flatMap(bytes) }
                return numbers.prefix(4096).compactMap { $0.number.map { UInt8(truncatingIfNeeded: $0.saturatedInt) } }
            }
    }

    /// How much a property is wanted; nil for what is no such word.
    package static func requirement(_ value: JSONValue?) -> WebAuthn.RegistrationRequest.Requirement? {
        value?.string.flatMap { WebAuthn.RegistrationRequest.Requirement(rawValue: $0) }
    }

    /// The time in milliseconds, as a number or its text: between one of them and an hour; 60 s if there is none.
    package static func timeout(_ value: JSONValue?) -> Duration {
        guard let number = value?.lenientNumber, number.double > 0 else { return .seconds(60) }
        return min(max(.saturating(seconds: number.double / 1000), .milliseconds(1)), .seconds(3600))
    }

    fileprivate static func credential(_ id: [UInt8], _ attachment: String?, _ response: JSONValue) -> JSONValue {
        let text = Base64.encodeForURL(id)
        return [
            "id": .string(text), "rawId": .string(text), "type": "public-key",
            "authenticatorAttachment": attachment.map(JSONValue.string) ?? .null, "response": response,
        ]
    }
}
