import AuthRecovery
import HTTPRecovery

/// The data of a `MetadataCallback` that describes a ceremony.
///
/// Newer servers name the type and prefix their members with an underscore; older ones have neither, and put pieces of
/// script where lists should be.
struct WebAuthnMetadata {
    private let data: JSONValue
    private let isRegistration: Bool

    /// Reads the data; nil if it is about something else.
    init?(_ data: JSONValue) {
        guard case .object = data else { return nil }
        let type = data["_type"]?.string
        guard type == "WebAuthn" || (type == nil && data["challenge"]?.string != nil) else { return nil }
        self.data = data
        switch data["_action"]?.string {
        case "webauthn_registration": isRegistration = true
        case "webauthn_authentication": isRegistration = false
        default: isRegistration = data["_pubKeyCredParams"] != nil || data["pubKeyCredParams"] != nil
        }
    }

    var ceremony: WebAuthnCeremony {
        guard let text = data["challenge"]?.string?.nonEmpty, let challenge = Base64.decode(text.utf8) else {
            return .unreadable
        }
        let id = relyingPartyID
        if isRegistration {
            return .registration(
                WebAuthn.RegistrationRequest(
                    challenge: challenge,
                    relyingPartyID: id,
                    relyingPartyName: data["relyingPartyName"]?.string ?? "",
                    origin: "https://\(id)",
                    user: user,
                    algorithms: algorithms,
                    excludedCredentials: credentials("excludeCredentials"),
                    userVerification: WebAuthnJSON.requirement(selection("userVerification").map(JSONValue.string))
                        ?? .preferred,
                    residentKey: residentKey,
                    attachment: selection("authenticatorAttachment"),
                    attestation: data["attestationPreference"]?.string?.nonEmpty ?? "none",
                    timeout: WebAuthnJSON.timeout(data["timeout"])
                )
            )
        }
        return .authentication(
            WebAuthn.SigningRequest(
                challenge: challenge,
                relyingPartyID: id,
                origin: "https://\(id)",
                allowedCredentials: credentials("allowCredentials"),
                userVerification: WebAuthnJSON.requirement(data["userVerification"]) ?? .preferred,
                timeout: WebAuthnJSON.timeout(data["timeout"])
            )
        )
    }

    private func member(_ name: String) -> JSONValue? {
        data["_" + name] ?? data[name]
    }

    /// The id itself, or what a piece of script such as `rpId: "example.com",` or `id: "example.com",` holds; empty for the
    /// host that the client acts for.
    private var relyingPartyID: String {
        let text = member("relyingPartyId")?.string ?? ""
        return WebAuthnScript.quoted("rpId", in: text) ?? WebAuthnScript.quoted("id", in: text)
            ?? (text.contains(":") ? "" : text)
    }

    private var user: WebAuthn.RegistrationRequest.User {
        let name = data["userName"]?.string ?? ""
        let id = data["userId"]?.string ?? name
        return WebAuthn.RegistrationRequest.User(
            // A browser makes the handle from the characters of the text.
            id: Array(id.utf8),
            name: name,
            displayName: data["displayName"]?.string ?? name
        )
    }

    private var algorithms: [Int] {
        switch member("pubKeyCredParams") {
        case .array(let entries)?:
            entries.prefix(64).compactMap { $0["alg"]?.number.flatMap { Int(exactly: $0.saturatedInt) } }
        case .string(let text)?: WebAuthnScript.numbers(after: "alg", in: text)
        default: []
        }
    }

    private func credentials(_ name: String) -> [[UInt8]] {
        switch member(name) {
        case .array(let entries)?: WebAuthnJSON.credentials(.array(entries))
        case .string(let text)?: WebAuthnScript.byteArrays(in: text)
        default: []
        }
    }

    /// A member of the wanted authenticator, which older servers send as a JSON text.
    private func selection(_ name: String) -> String? {
        let value = member("authenticatorSelection")
        let object = value?.string.flatMap { try? JSONValue(parsing: $0) } ?? value
        return object?[name]?.string?.nonEmpty
    }

    private var residentKey: WebAuthn.RegistrationRequest.Requirement {
        if let stated = selection("residentKey").flatMap(WebAuthn.RegistrationRequest.Requirement.init) {
            return stated
        }
        let value = member("authenticatorSelection")
        let object = value?.string.flatMap { try? JSONValue(parsing: $0) } ?? value
        return object?["requireResidentKey"]?.bool == true ? .required : .discouraged
    }
}
