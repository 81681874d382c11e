public import AuthRecovery
import HTTPRecovery

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

extension JourneyCallback {
    /// The ceremony that the callback describes, as data or as a script for browsers; nil if it describes none.
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
