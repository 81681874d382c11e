import HTTPRecovery
import Testing

@Suite("What a person reads")
struct PersonTextTests {
    private static let ended = "Your session has ended. Please sign in again."

    private static func error(
        _ kind: Outcome.Kind,
        _ reason: History.StopReason = .notRecoverable,
        tokenAction: Outcome.TokenAction = .keep,
        credential: Outcome.CredentialKind? = nil
    ) -> RecoveryError {
        var outcome = Outcome(kind)
        outcome.tokenAction = tokenAction
        outcome.credential = credential
        return RecoveryError(outcome: outcome, reason: reason)
    }

    /// A refusal that takes nothing away proves no end, whichever credential it names.
    @Test(arguments: [Outcome.TokenAction.keep, .clear, .rotate])
    func whoeverHasToSignInIsToldOfAnEndOnlyWhereSomethingWasRefusedForGood(action: Outcome.TokenAction) throws {
        var refusal = Outcome(.credentialRejected, status: 401)
        refusal.credential = .session
        refusal.tokenAction = action
        guard
            case .failed(let conclusion, let reason, _) = FailureContext.RemediationResult.reauthenticationRequired(
                after: refusal
            )
        else {
            Issue.record("nothing is repaired")
            return
        }
        #expect(conclusion.kind == .reauthenticationRequired && conclusion.remedies == [.reauthenticate])
        let error = RecoveryError(outcome: conclusion, reason: reason)
        #expect((error.userMessage == Self.ended) == (action == .clear))
    }

    @Test func aSessionHasEndedOnlyWhereThatIsKnown() {
        #expect(Self.error(.credentialRejected, tokenAction: .clear, credential: .access).userMessage == Self.ended)
        let concluded = Self.error(.reauthenticationRequired, .repairFailed, tokenAction: .clear, credential: .access)
        #expect(concluded.userMessage == Self.ended)
        #expect(Self.error(.reauthenticationRequired, .repairFailed, credential: .refresh).userMessage == Self.ended)
        for reason in Self.reasons {
            let text = Self.error(.credentialRejected, reason, credential: .access).userMessage
            #expect(!text.contains("ended"), "\(reason)")
        }
    }

    @Test func whoHasShownNothingIsAskedToSignIn() {
        #expect(Self.error(.reauthenticationRequired).userMessage == "Please sign in to go on.")
        #expect(Self.error(.reauthenticationRequired, .repairFailed).userMessage == "Please sign in to go on.")
    }

    @Test(arguments: [
        History.StopReason.deadlinePassed, .deadlineWouldPass, .budgetExhausted, .attemptsExhausted, .waitExceedsLimit,
        .breakerOpen,
    ])
    func ourOwnBoundsBlameNobody(reason: History.StopReason) {
        for kind in [Outcome.Kind.credentialRejected, .misconfigured, .nonceRequired] {
            let text = Self.error(kind, reason, tokenAction: .keep).userMessage
            #expect(text != kind.userMessage, "\(kind) \(reason)")
            #expect(text.contains("try again"), "\(kind) \(reason): \(text)")
        }
    }

    @Test(arguments: [
        History.StopReason.deadlinePassed, .deadlineWouldPass, .budgetExhausted, .attemptsExhausted, .waitExceedsLimit,
        .accountLocked,
    ])
    func whatTheServiceHasSaidStaysSaid(reason: History.StopReason) {
        for kind in [Outcome.Kind.rateLimited, .quotaExhausted, .unavailable, .transport, .accountLocked, .timedOut] {
            #expect(Self.error(kind, reason).userMessage == kind.userMessage)
        }
        var outcome = Outcome(.credentialRejected)
        outcome.userMessage = "The provider's own."
        #expect(RecoveryError(outcome: outcome, reason: reason).userMessage == "The provider's own.")
    }

    @Test func everyReasonHasASentenceWithEveryKind() {
        for kind in Outcome.Kind.allCases {
            for reason in Self.reasons {
                let text = Self.error(kind, reason).userMessage
                #expect(text.hasSuffix(".") && text.first?.isUppercase == true)
                #expect(!text.contains(reason.rawValue) && !text.contains("_"))
            }
        }
    }

    private static let reasons: [History.StopReason] = [
        .methodNotIdempotent, .processedUnknown, .bodyNotReplayable, .budgetExhausted, .deadlineWouldPass,
        .deadlinePassed, .waitExceedsLimit, .attemptsExhausted, .breakerOpen, .accountLocked, .identityChanged,
        .repairFailed, .renewalLimit, .renewalInDoubt, .tooManyRedirects, .redirectRefused, .redirectInvalid,
        .alreadyRepaired, .notRecoverable,
    ]
}
