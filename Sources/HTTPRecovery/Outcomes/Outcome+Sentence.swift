extension Outcome {
    /// A sentence for a person about a call that ended with the outcome for a reason.
    ///
    /// The kind tells what the service has said. If the service has said nothing that a person needs, as when it
    /// refused a token that there was no time to renew, the reason tells what happened.
    func sentence(endedBy reason: History.StopReason) -> String {
        switch reason {
        case .tooManyRedirects, .redirectRefused, .redirectInvalid:
            return "The service points to a place where this cannot go on. Please contact the maker of the app."
        case .renewalInDoubt:
            return "It is not certain that you are still signed in. Please sign in again."
        case .renewalLimit:
            return "The service does not accept the sign-in at the moment. Please try again later."
        default: break
        }
        if isSilent, let sentence = Self.sentence(ofBound: reason) { return sentence }
        return provesEndOfSession ? "Your session has ended. Please sign in again." : kind.userMessage
    }

    /// What a bound of our own has to tell a person; nil if the reason is none.
    private static func sentence(ofBound reason: History.StopReason) -> String? {
        switch reason {
        case .deadlinePassed, .deadlineWouldPass: "There was not enough time to finish this. Please try again."
        case .budgetExhausted, .breakerOpen: "The service has too much trouble at the moment. Please try again later."
        case .waitExceedsLimit: "This would take too long now. Please try again later."
        case .attemptsExhausted: "This did not succeed after several attempts. Please try again later."
        default: nil
        }
    }

    /// Whether the kind tells a person nothing about a call that was given up for a bound of our own.
    private var isSilent: Bool {
        kind == .credentialRejected || kind == .misconfigured || kind == .nonceRequired
    }

    /// Whether it is known that what kept the person signed in is of no use any more.
    private var provesEndOfSession: Bool {
        switch kind {
        case .reauthenticationRequired: tokenAction == .clear || credential != nil
        case .credentialRejected:
            tokenAction == .clear && credential != .code && credential != .device && credential != .state
        default: false
        }
    }
}
