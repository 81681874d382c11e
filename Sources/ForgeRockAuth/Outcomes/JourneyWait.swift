import AuthRecovery
import HTTPRecovery

/// What a step stands for in which nobody types a proof: the end of its journey refuses no name and no password.
///
/// The server has no word of its own for it: it says of a push that was refused, of one that has run out, and of a passkey,
/// what it says of a wrong password.
enum JourneyWait: Sendable, Hashable {
    /// A person who is to confirm on another device.
    case confirmation
    /// A device that is to be set up.
    case registration
    /// A browser that was sent to another site, and came back with an error.
    case visit
    /// A WebAuthn ceremony, with the error's name, as the server was told it, if it has failed on the person's side.
    case ceremony(error: String?)

    /// What a step stands for; nil if it asks for a proof, or does not wait.
    ///
    /// - Parameter returned: What a browser has brought along.
    init?(_ step: JourneyStep, _ returned: FormFields) {
        if returned.names.contains(where: { ["error", "errorCode"].contains($0) }) {
            self = .visit
            return
        }
        guard !JourneyQuestions.of(step).contains(where: \.isProof) else { return nil }
        if let ceremony = step.first(\.ceremony) {
            self = ceremony
        } else if step.first(\.pollingWait) != nil {
            self = ShownOnce(step) == nil ? .confirmation : .registration
        } else {
            return nil
        }
    }

    /// The end of a journey, as that of the wait.
    func outcome(_ outcome: Outcome) -> Outcome {
        guard outcome.kind == .invalidCredentials else { return outcome }
        var outcome = outcome
        outcome.kind = kind
        outcome.remedies = [.restartFlow]
        if case .ceremony(let error) = self { outcome.factorResult = error }
        // What a journey's author has written is better than what can be said without them.
        let isStock = outcome.message.map { ForgeRockErrorRule(text: $0) == .refused } ?? true
        if isStock { outcome.userMessage = text }
        return outcome
    }

    private var kind: Outcome.Kind {
        switch self {
        case .confirmation, .visit: .declined
        case .registration, .ceremony(error: "TimeoutError"): .challengeExpired
        // Browsers call it so too if the person has closed their dialogue.
        case .ceremony(error: "NotAllowedError"), .ceremony(error: "AbortError"): .declined
        // Also one that was carried out, and of which the server does not take what has come.
        case .ceremony: .factorUnavailable
        }
    }

    private var text: String {
        switch self {
        case .confirmation: "It was not confirmed on the other device: it was refused there, or it took too long."
        case .visit: "It was not confirmed on the other site: it was refused there, or has failed."
        case .registration: "The other device was not set up in time."
        case .ceremony(nil): "The passkey was not accepted."
        case .ceremony(let error?):
            switch kind {
            case .declined: "The passkey was not used: it was refused on the device, or none fits (\(error))."
            case .challengeExpired: "The passkey was not used in time (\(error))."
            default: "The passkey could not be used on this device (\(error))."
            }
        }
    }
}

extension JourneyCallback {
    /// The ceremony whose outcome the callback tells; nil if it tells none.
    fileprivate var ceremony: JourneyWait? {
        guard isWebAuthnOutcome, !isUntouched, let outcome = input()?.string?.nonEmpty else { return nil }
        let unsupported = WebAuthn.Failure.unsupported()
        if outcome == unsupported.webAuthnOutcome { return .ceremony(error: unsupported.forgeRockName) }
        let mark = "ERROR::"
        guard outcome.hasPrefix(mark) else { return .ceremony(error: nil) }
        // The text behind the name is the platform's, and nobody's to read here.
        let name = outcome.utf8.dropFirst(mark.utf8.count).prefix(64).prefix(while: \.isAlphanumeric)
        let known = String(decoding: name, as: UTF8.self).nonEmpty
        return .ceremony(error: known ?? WebAuthn.Failure.unknown().forgeRockName)
    }
}
