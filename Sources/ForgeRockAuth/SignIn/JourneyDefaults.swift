import HTTPRecovery

/// Answers callbacks whose answer does not depend on the person.
enum JourneyDefaults {
    /// Answers a callback, or leaves it as it is.
    ///
    /// - Throws: `RecoveryError` for what cannot be done here at all: a captcha, a visit to another site.
    static func answer(_ callback: inout JourneyCallback, in step: JourneyStep) throws {
        switch callback.content {
        case .deviceBinding, .deviceSigningVerifier, .appIntegrity:
            // The word that takes the node to the outcome for devices that cannot do it.
            callback.setInput("Unsupported", named: "clientError")
        case .protectInitialize, .protectEvaluation:
            callback.setInput("PingOne Protect is not available on this platform", named: "clientError")
        case .reCaptcha(let siteKey):
            var outcome = Outcome(.challengeRequired, processed: .yes, remedies: [.solveChallenge])
            outcome.details = siteKey.map { ["recaptchaSiteKey": .string($0)] }
            throw failure(outcome, in: step)
        case .redirect(let redirect):
            var outcome = Outcome(.userActionRequired, processed: .yes, remedies: [.visitProvider])
            outcome.details = redirect.url.map {
                ["redirectUrl": .string($0), "redirectMethod": .string(redirect.method)]
            }
            outcome.userMessage = redirect.url.map { "This goes on in a browser, at \($0.bounded(to: 2048))" }
            throw failure(outcome, in: step)
        case .identityProvider(let name):
            var outcome = Outcome(.userActionRequired, processed: .yes, remedies: [.visitProvider])
            outcome.details = name.map { ["provider": .string($0)] }
            throw failure(outcome, in: step)
        default:
            break
        }
    }

    private static func failure(_ outcome: Outcome, in step: JourneyStep) -> RecoveryError {
        var outcome = outcome
        outcome.statusType = step.stage?.bounded(to: 256)
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }
}
