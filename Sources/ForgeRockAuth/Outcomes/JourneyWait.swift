import AuthRecovery
import HTTPRecovery

/// What a step waits for in which nobody proves anything: the end of its journey refuses no name and no password.
///
/// The server has no word of its own for it: it says of a push that was refused, and of one that has run out, what it says
/// of a wrong password.
enum JourneyWait: Sendable, Hashable {
    /// A person who is to confirm on another device.
    case confirmation
    /// A device that is to be set up.
    case registration
    /// A browser that was sent to another site, and came back with an error.
    case visit

    /// What a step waits for; nil if it asks for a proof, or does not wait.
    ///
    /// - Parameter returned: What a browser has brought along.
    init?(_ step: JourneyStep, _ returned: FormFields) {
        if returned.names.contains(where: { ["error", "errorCode"].contains($0) }) {
            self = .visit
            return
        }
        guard step.first(\.pollingWait) != nil, !JourneyQuestions.of(step).contains(where: \.isProof) else {
            return nil
        }
        self = ShownOnce(step) == nil ? .confirmation : .registration
    }

    /// The end of a journey, as that of the wait.
    func outcome(_ outcome: Outcome) -> Outcome {
        guard outcome.kind == .invalidCredentials else { return outcome }
        var outcome = outcome
        outcome.kind = self == .registration ? .challengeExpired : .declined
        outcome.remedies = [.restartFlow]
        // What a journey's author has written is better than what can be said without them.
        let isStock = outcome.message.map { ForgeRockErrorRule(text: $0) == .refused } ?? true
        if isStock { outcome.userMessage = text }
        return outcome
    }

    private var text: String {
        switch self {
        case .confirmation: "It was not confirmed on the other device: it was refused there, or it took too long."
        case .visit: "It was not confirmed on the other site: it was refused there, or has failed."
        case .registration: "The other device was not set up in time."
        }
    }
}
