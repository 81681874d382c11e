import HTTPRecovery

/// Which of Okta's texts is meant for a person.
enum OktaText {
    /// The text for the end user: the causes if they judge what the person has entered, or the summary of an error
    /// that is written to them.
    static func userMessage(of envelope: OktaEnvelope, kind: Outcome.Kind) -> String? {
        if speaksInCauses.contains(kind), let text = envelope.causeText { return text }
        guard let code = envelope.code?.uppercased(), addressed.contains(code) else { return nil }
        return envelope.summary
    }

    private static let speaksInCauses: Set<Outcome.Kind> = [
        .passwordRejected, .challengeIncorrect, .invalidCredentials, .passwordExpired, .passwordCompromised,
        .factorUnavailable, .accountLocked, .policyBlocked, .userActionRequired,
    ]

    /// The codes whose summary speaks to the person.
    private static let addressed: Set<String> = Set(
        [
            64, 80, 82, 83, 85, 87, 97, 98, 99, 105, 109, 110, 113, 118, 119, 121, 133, 146, 147, 150, 151, 186, 191,
            204, 205, 207,
        ].map(OktaCodes.code)
    )
}
