public import AuthRecovery
public import HTTPRecovery

/// A WebAuthn ceremony that a step wants.
public enum WebAuthnCeremony: Sendable, Hashable {
    /// A new credential.
    case registration(WebAuthn.RegistrationRequest)
    /// The proof of a credential.
    case authentication(WebAuthn.SigningRequest)
    /// What the server wants cannot be read: it has no challenge.
    case unreadable

    /// How long the person may take.
    public var timeout: Duration {
        switch self {
        case .registration(let request): request.timeout
        case .authentication(let request): request.timeout
        case .unreadable: .zero
        }
    }
}

extension WebAuthnCeremony {
    /// The ceremony for the origin that the client acts for, as a browser would have it on a page of that origin.
    ///
    /// A relying party that the server leaves open is the origin's host. If the origin does not belong to the one that the
    /// server names, the client data is made for `https://` and that one.
    ///
    /// - Parameter origin: The origin, such as that of the server's base URL.
    public func completed(for origin: Origin) -> WebAuthnCeremony {
        switch self {
        case .registration(var request):
            Self.complete(&request.relyingPartyID, &request.origin, origin)
            return .registration(request)
        case .authentication(var request):
            Self.complete(&request.relyingPartyID, &request.origin, origin)
            return .authentication(request)
        case .unreadable: return self
        }
    }

    private static func complete(_ id: inout String, _ text: inout String, _ origin: Origin) {
        let host = Self.host(of: origin)
        if id.isEmpty { id = host }
        let domain = id.lowercased()
        text = host == domain || host.hasSuffix("." + domain) ? origin.description : "https://\(id)"
    }

    /// The host of an origin, without the port.
    private static func host(of origin: Origin) -> String {
        let authority = origin.authority
        guard let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")), !authority.hasSuffix("]") else {
            return authority
        }
        return String(authority[..<colon])
    }

    /// The options as a browser takes them (Web Authentication level 3, sections 5.1.9 and 5.1.10), bytes as base64url; nil
    /// for a ceremony that cannot be read.
    public var options: JSONValue? {
        func list(_ ids: [[UInt8]]) -> JSONValue {
            .array(ids.map { ["type": "public-key", "id": .string(Base64.encodeForURL($0))] })
        }
        func milliseconds(_ timeout: Duration) -> JSONValue {
            .number(JSONValue.Number(Int(min(max(timeout, .zero), .seconds(86_400)).inSeconds * 1000)))
        }
        switch self {
        case .registration(let request):
            var selection: JSONValue = [
                "userVerification": .string(request.userVerification.rawValue),
                "residentKey": .string(request.residentKey.rawValue),
                "requireResidentKey": .bool(request.residentKey == .required),
            ]
            if let attachment = request.attachment {
                selection = .object(
                    (selection.members ?? []) + [.init("authenticatorAttachment", .string(attachment))]
                )
            }
            return [
                "challenge": .string(Base64.encodeForURL(request.challenge)),
                "rp": ["id": .string(request.relyingPartyID), "name": .string(request.relyingPartyName)],
                "user": [
                    "id": .string(Base64.encodeForURL(request.user.id)), "name": .string(request.user.name),
                    "displayName": .string(request.user.displayName),
                ],
                "pubKeyCredParams": .array(
                    request.algorithms.map { ["type": "public-key", "alg": .number(JSONValue.Number($0))] }
                ),
                "excludeCredentials": list(request.excludedCredentials), "authenticatorSelection": selection,
                "attestation": .string(request.attestation), "timeout": milliseconds(request.timeout),
            ]
        case .authentication(let request):
            return [
                "challenge": .string(Base64.encodeForURL(request.challenge)),
                "rpId": .string(request.relyingPartyID), "allowCredentials": list(request.allowedCredentials),
                "userVerification": .string(request.userVerification.rawValue),
                "timeout": milliseconds(request.timeout),
            ]
        case .unreadable: return nil
        }
    }
}

extension JourneyStep {
    /// The ceremony that the step wants, as the server describes it; nil if it wants none.
    ///
    /// ``WebAuthnCeremony/completed(for:)`` fills in what the server leaves to the client.
    public var webAuthn: WebAuthnCeremony? { first(\.webAuthn) }
}

extension JourneyCallback {
    /// The ceremony that the callback describes, as data or as a script for browsers; nil if it describes none.
    ///
    /// It is what the server says: a relying party that it leaves open has an empty id.
    public var webAuthn: WebAuthnCeremony? {
        switch content {
        case .metadata(let data): WebAuthnMetadata(data)?.ceremony
        case .textOutput(let message?, .script): WebAuthnScript(message)?.ceremony
        default: nil
        }
    }

    /// Whether the callback takes the outcome of a ceremony.
    public var isWebAuthnOutcome: Bool {
        guard case .hidden(let id, _) = content, id == "webAuthnOutcome", let name = inputNames.first else {
            return false
        }
        let digits = name.dropFirst("IDToken".count)
        return name.hasPrefix("IDToken") && (1...2).contains(digits.count)
            && digits.utf8.allSatisfy(\.isDigit)
    }

    /// Whether the outcome is wanted as JSON with the authenticator's attachment.
    var wantsJSONOutcome: Bool {
        if case .metadata(let data) = content { data["supportsJsonResponse"]?.bool == true } else { false }
    }
}
