import AuthRecovery
import HTTPRecovery
import Testing

@Suite struct SignInRulesTests {
    typealias Reaction = SignInRules.Reaction

    private static let options = SignInOptions(maxRounds: 3, maxRestarts: 1)

    private func reaction(
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        answering key: Factor.Key? = .emailCode,
        round: Int = 1,
        restarts: Int = 0,
        resyncs: Int = 0,
        isAboutName: Bool = false,
        options: SignInOptions = options
    ) -> Reaction {
        let outcome = Outcome(kind, remedies: remedies)
        let challenge = key.map { Challenge(factor: Factor(key: $0, providerName: $0.rawValue), round: round) }
        return SignInRules.reaction(
            to: outcome,
            of: challenge,
            restarts: restarts,
            resyncs: resyncs,
            isAboutName: isAboutName,
            options: options
        )
    }

    /// What each kind leads to while everything is still allowed, with every remedy at hand.
    private static func expected(_ kind: Outcome.Kind) -> Reaction {
        switch kind {
        case .passwordCompromised: .switchFactor([.emailCode, .phoneCode])
        case .passwordExpired, .factorUnavailable: .switchFactor(nil)
        // With the remedy to begin again, the code of a flow that has ended is wanted anew.
        case .invalidCredentials, .challengeExpired: .newChallenge
        // In a word that nobody knows, where whoever has read it says first that the person can tell.
        case .challengeIncorrect, .passwordRejected, .invalidRequest, .userActionRequired, .unknown: .askAgain
        case .flowExpired: .restart
        case .stateConflict, .notFound, .credentialRejected: .resync
        default: .fail
        }
    }

    @Test func aWordThatNobodyKnowsIsReadAgain() {
        #expect(reaction(.unknown, [.resync]) == .resync)
        #expect(reaction(.unknown, [.resync, .askUser]) == .resync)
        #expect(reaction(.unknown, [.resync], restarts: 1) == .fail)
        #expect(reaction(.unknown) == .fail)
    }

    @Test(arguments: Outcome.Kind.allCases)
    func everyKindHasItsReactionInEveryRoundAndRestart(kind: Outcome.Kind) {
        let remedies: [Outcome.Remedy] = [
            .askUser, .switchFactor, .newChallenge, .resync, .restartFlow, .changePassword,
        ]
        for round in 1...4 {
            for restarts in 0...2 {
                var expected = Self.expected(kind)
                if round >= 3, expected == .askAgain || expected == .newChallenge { expected = .fail }
                if restarts >= 1, expected == .restart || expected == .resync { expected = .fail }
                let got = reaction(kind, remedies, round: round, restarts: restarts)
                #expect(got == expected, "\(kind) round \(round) restarts \(restarts)")
            }
        }
    }

    /// A step whose outcome nobody knows costs no restart, and there may be several.
    @Test(arguments: Outcome.Kind.allCases)
    func whereAFlowStandsIsReadAsOftenAsAQuestionIsAsked(kind: Outcome.Kind) {
        let lost: Set<Outcome.Kind> = [.unavailable, .transport, .timedOut]
        for resyncs in 0...4 {
            let got = reaction(kind, [.resync], restarts: 1, resyncs: resyncs)
            #expect((got == .resync) == (lost.contains(kind) && resyncs < 3), "\(kind) \(resyncs)")
        }
    }

    /// Nor is a password sent again by a new beginning while nobody knows what became of the last answer.
    @Test func aFlowIsNotBegunAgainOverALostAnswer() {
        #expect(reaction(.flowExpired, [.restartFlow]) == .restart)
        #expect(reaction(.flowExpired, [.restartFlow], resyncs: 1) == .fail)
        let patient = SignInOptions(maxRestarts: 2)
        #expect(reaction(.flowExpired, [.restartFlow], resyncs: 3, options: patient) == .restart)
    }

    @Test func aLockoutIsUnlockedWhereThatIsARemedyAndNotAgainAndAgain() {
        #expect(reaction(.accountLocked, [.unlock, .contactAdmin]) == .unlock)
        #expect(reaction(.accountLocked, [.unlock], restarts: 1) == .fail)
        #expect(reaction(.accountLocked, [.wait]) == .fail)
    }

    @Test func anotherConfirmationIsTheWishOfThePerson() {
        for kind in [Outcome.Kind.challengeExpired, .challengeIncorrect] {
            #expect(reaction(kind, [.newChallenge, .switchFactor], answering: .push) == .askAgain)
            #expect(reaction(kind, [.newChallenge], answering: .push, round: 3) == .fail)
        }
        #expect(reaction(.declined, answering: .push) == .fail)
    }

    @Test func whatWasSignedIsNotSignedAgain() {
        #expect(reaction(.challengeIncorrect, [.newChallenge], answering: .webauthn) == .newChallenge)
        #expect(reaction(.challengeIncorrect, [.newChallenge], answering: .webauthn, round: 3) == .fail)
        #expect(reaction(.challengeIncorrect, [.newChallenge], answering: .totp) == .askAgain)
    }

    @Test func anActionOfThePersonIsAskedForOnlyWhereItIsAnAnswer() {
        #expect(reaction(.userActionRequired, [.askUser]) == .askAgain)
        #expect(reaction(.userActionRequired, [.visitProvider]) == .fail)
    }

    @Test(arguments: Outcome.Kind.allCases)
    func withoutARemedyOnlyWhatTheKindItselfSaysHelps(kind: Outcome.Kind) {
        let expected: Reaction =
            switch kind {
            case .passwordExpired, .factorUnavailable, .challengeExpired, .invalidRequest, .stateConflict, .notFound,
                .credentialRejected, .userActionRequired, .unknown:
                .fail
            case .invalidCredentials: .askAgain
            default: Self.expected(kind)
            }
        #expect(reaction(kind) == expected)
    }

    @Test(arguments: Outcome.Kind.allCases)
    func whereNothingWasAnsweredNothingIsAskedAgain(kind: Outcome.Kind) {
        let got = reaction(kind, Outcome.Remedy.allCases, answering: nil)
        #expect(got != .askAgain && got != .newChallenge, "\(kind)")
    }

    @Test func theFallbackIsTheCallersChoice() {
        let off = SignInOptions(compromisedPasswordFallback: [])
        #expect(reaction(.passwordCompromised, answering: .password, options: off) == .fail)
        let totp = SignInOptions(compromisedPasswordFallback: [.totp])
        #expect(reaction(.passwordCompromised, answering: .password, options: totp) == .switchFactor([.totp]))
        #expect(reaction(.passwordCompromised, answering: .newPassword) == .askAgain)
        #expect(reaction(.passwordCompromised, answering: .newPassword, round: 3) == .fail)
    }

    @Test func anUnknownNameIsNotMendedByAnotherPassword() {
        for kind in [Outcome.Kind.invalidCredentials, .invalidRequest] {
            let remedies: [Outcome.Remedy] = [.askUser, .switchFactor]
            #expect(reaction(kind, remedies, answering: .password, isAboutName: true) == .fail)
            #expect(reaction(kind, remedies, answering: .password) == .askAgain)
        }
    }

    @Test func aCodeThatWasNeverSentIsSent() {
        #expect(reaction(.stateConflict, [.newChallenge]) == .newChallenge)
        #expect(reaction(.stateConflict, [.newChallenge], round: 3) == .fail)
        #expect(reaction(.stateConflict, [.resync, .restartFlow]) == .resync)
        #expect(reaction(.stateConflict, [.restartFlow]) == .restart)
    }

    @Test func theBestFactorIsThePreferredOneAndThenTheDefault() {
        func factor(_ key: Factor.Key, _ id: String = "", isDefault: Bool = false) -> Factor {
            Factor(key: key, providerName: key.rawValue, id: id, isDefault: isDefault)
        }
        let factors = [
            factor(.push), factor(.phoneCode, "1"), factor(.phoneCode, "2", isDefault: true), factor(.totp),
        ]
        #expect(SignInRules.best(of: factors, by: [.phoneCode, .totp])?.id == "2")
        #expect(SignInRules.best(of: factors, by: [.totp])?.key == .totp)
        #expect(SignInRules.best(of: factors, by: [])?.id == "2")
        #expect(SignInRules.best(of: [factor(.push), factor(.webauthn)], by: [.totp])?.key == .push)
        #expect(SignInRules.best(of: [], by: [.totp]) == nil)
    }

    @Test func optionsOutOfRangeAreClamped() {
        let options = SignInOptions(maxRounds: 0, maxRestarts: -1)
        #expect(options.maxRounds == 1)
        #expect(options.maxRestarts == 0)
    }
}
