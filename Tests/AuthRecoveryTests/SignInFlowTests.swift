import AuthRecovery
import HTTPRecovery
import Testing

@Suite struct SignInFlowTests {
    private let log = EventLog()

    private func run(
        _ machine: inout ScriptedMachine,
        _ person: ScriptedPerson = ScriptedPerson(),
        _ options: SignInOptions = SignInOptions()
    ) async throws -> String {
        try await machine.signIn(answering: person, options: options, emit: { [log] in log.add($0) })
    }

    @Test func aPasswordThatIsAcceptedAsksNobody() async throws {
        var machine = ScriptedMachine(opening: .password, .success(.finished("s")))
        let person = ScriptedPerson()
        #expect(try await run(&machine, person) == "s")
        #expect(machine.calls == ["begin"])
        #expect(person.questions.isEmpty && person.choices.isEmpty && log.words.isEmpty)
    }

    @Test func aWrongPasswordIsAskedForAgain() async throws {
        var machine = ScriptedMachine(opening: .password, .failure(.refused(.invalidCredentials)))
        let person = ScriptedPerson(.text("right"))
        #expect(try await run(&machine, person) == "session")
        #expect(machine.calls == ["begin", "submit password right"])
        #expect(person.questions.map(\.round) == [2])
        #expect(person.questions.first?.previousFailure?.kind == .invalidCredentials)
        #expect(person.notices == [.invalidCredentials])
    }

    @Test func anAnswerThatALockHasCostIsAskedForAnewAndNotForEver() async throws {
        let over = RecoveryError(outcome: Outcome(.accountLocked), reason: .lockoutOver)
        var machine = ScriptedMachine(.success(.ask(Challenge(factor: .totp))), .failure(over))
        let person = ScriptedPerson(.text("1"), .text("2"))
        #expect(try await run(&machine, person) == "session")
        #expect(machine.calls == ["begin", "submit totp 1", "submit totp 2"])
        #expect(person.questions.map(\.round) == [1, 2] && person.notices == [.accountLocked])

        var endless = ScriptedMachine(
            [.success(.ask(Challenge(factor: .totp)))] + Array(repeating: .failure(over), count: 9)
        )
        let patient = ScriptedPerson(Array(repeating: .success(.text("1")), count: 9), choosing: nil)
        let error = await #expect(throws: RecoveryError.self) { try await run(&endless, patient) }
        #expect(error?.kind == .accountLocked && endless.calls.count == 1 + 4)
    }

    @Test func whySomethingIsAskedForIsToldBeforeAndOnce() async throws {
        let factor = Factor(key: .newPassword, providerName: "new")
        var machine = ScriptedMachine(
            .success(.ask(Challenge(factor: factor, occasion: Outcome(.passwordExpired)))),
            .failure(.refused(.passwordRejected))
        )
        let person = ScriptedPerson(.text("weak"), .text("better"))
        _ = try await run(&machine, person)
        #expect(
            person.told == [
                "notice password_expired", "ask new_password", "notice password_rejected", "ask new_password",
            ]
        )
    }

    @Test func everyQuestionSaysWhyItIsAsked() async throws {
        let ask = { (factor: Factor) in ScriptedMachine.Answer.success(.ask(Challenge(factor: factor))) }
        let expired = ScriptedMachine.Answer.failure(.refused(.flowExpired, .restartFlow))
        let wrong = ScriptedMachine.Answer.failure(.refused(.challengeIncorrect))
        let fallback: [ScriptedMachine.Answer] = [
            .failure(.refused(.passwordCompromised)), .success(.choose([.email])), ask(.email),
        ]
        let rows: [([ScriptedMachine.Answer], [Outcome.Kind])] = [
            ([ask(.totp)], [.challengeRequired]),
            ([ask(.totp), wrong], [.challengeRequired, .challengeIncorrect]),
            // The last refusal is the reason, until an answer was accepted.
            (fallback, [.passwordCompromised]),
            (fallback + [ask(.totp)], [.passwordCompromised, .challengeRequired]),
            ([ask(.totp), expired, ask(.totp), ask(.email)], [.challengeRequired, .flowExpired, .challengeRequired]),
        ]
        for (answers, occasions) in rows {
            var machine = ScriptedMachine(opening: .password, answers)
            let person = ScriptedPerson(Array(repeating: .success(.text("x")), count: occasions.count))
            _ = try await run(&machine, person)
            #expect(person.questions.map(\.occasion.kind) == occasions)
            #expect(!person.notices.contains(.challengeRequired), "what is usual is no news")
        }
    }

    @Test func aRefusedWishForACodeIsNoOccasion() async throws {
        var machine = ScriptedMachine(
            .success(.ask(Challenge(factor: .email))),
            .failure(.refused(.rateLimited)),
            .success(.choose([.email, .totp])),
            .success(.ask(Challenge(factor: .totp)))
        )
        let person = ScriptedPerson(.resend, .useAnotherFactor, .text("1"))
        _ = try await run(&machine, person)
        #expect(person.questions.map(\.occasion.kind).last == .challengeRequired)
    }

    @Test func whatHasCalledForASignInIsTheOccasionOfItsQuestions() async throws {
        let (ask, person) = (ScriptedMachine.Answer.success(.ask(Challenge(factor: .totp))), ScriptedPerson(.text("1")))
        var machine = ScriptedMachine(ask)
        _ = try await machine.signIn(answering: person, because: Outcome(.stepUpRequired))
        #expect(person.questions.map(\.occasion.kind) == [.stepUpRequired] && person.notices.isEmpty)
    }

    @Test func aSecurityQuestionStandsInNoEvent() async throws {
        let question = Factor(key: .securityAnswer, providerName: "question", destination: "First pet?")
        var machine = ScriptedMachine(.success(.ask(Challenge(factor: question, prompt: "First pet?"))))
        let person = ScriptedPerson(.text("Rex"))
        _ = try await run(&machine, person)
        #expect(log.words == ["challenge security_answer"])
        #expect(person.questions.first?.factor.destination == "First pet?")
    }

    @Test func itEndsAfterTheLastRound() async throws {
        let wrong = ScriptedMachine.Answer.failure(.refused(.challengeIncorrect))
        var machine = ScriptedMachine(.success(.ask(Challenge(factor: .totp))), wrong, wrong, wrong, wrong)
        let person = ScriptedPerson(.text("1"), .text("2"), .text("3"), .text("4"))
        let error = await #expect(throws: RecoveryError.self) { try await run(&machine, person) }
        #expect(error?.kind == .challengeIncorrect)
        #expect(machine.calls == ["begin", "submit totp 1", "submit totp 2", "submit totp 3"])
        #expect(person.questions.map(\.round) == [1, 2, 3])
        #expect(person.notices.count == 2, "the last refusal is thrown, not noticed")
    }

    @Test func theRoundsOfAFactorCountOnWhenThePersonReturnsToIt() async throws {
        let wrong = ScriptedMachine.Answer.failure(.refused(.challengeIncorrect))
        let both = ScriptedMachine.Answer.success(.choose([.totp, .email]))
        var machine = ScriptedMachine(
            .success(.ask(Challenge(factor: .totp))),
            wrong,
            wrong,
            both,
            .success(.ask(Challenge(factor: .email))),
            both,
            .success(.ask(Challenge(factor: .totp))),
            wrong
        )
        let person = ScriptedPerson(
            .text("1"),
            .text("2"),
            .useAnotherFactor,
            .useAnotherFactor,
            .text("3"),
            .text("4")
        )
        await #expect(throws: RecoveryError.self) { try await run(&machine, person) }
        #expect(person.questions.map(\.round) == [1, 2, 3, 1, 3])
    }

    @Test func aCompromisedPasswordBecomesTheFallbackInOrderOfPreference() async throws {
        var machine = ScriptedMachine(
            opening: .password,
            .failure(.refused(.passwordCompromised)),
            .success(.choose([.password, .phone, .totp, .email])),
            .success(.ask(Challenge(factor: .email)))
        )
        let person = ScriptedPerson(.text("424242"))
        #expect(try await run(&machine, person) == "session")
        #expect(
            machine.calls == [
                "begin", "replace password password_compromised", "choose email_code", "submit email_code 424242",
            ]
        )
        #expect(person.choices == [[.phone, .email]])
        #expect(log.words == ["fallback password email_code", "challenge email_code a•••@example.com"])
    }

    @Test func thePersonChoosesTheFallbackButNotOutsideOfIt() async throws {
        for (choice, chosen) in [(Factor.phone, "phone_code"), (.totp, "email_code"), (.password, "email_code")] {
            var machine = ScriptedMachine(
                opening: .password,
                .failure(.refused(.passwordCompromised)),
                .success(.choose([.password, .phone, .totp, .email]))
            )
            _ = try await run(&machine, ScriptedPerson(choosing: choice))
            #expect(machine.calls.last == "choose \(chosen)")
        }
    }

    @Test func withoutAFallbackTheRefusalStands() async throws {
        let compromised = ScriptedMachine.Answer.failure(.refused(.passwordCompromised))
        var off = ScriptedMachine(opening: .password, compromised)
        let error = await #expect(throws: RecoveryError.self) {
            try await run(&off, ScriptedPerson(), SignInOptions(compromisedPasswordFallback: []))
        }
        #expect(error?.kind == .passwordCompromised)
        #expect(off.calls == ["begin"])
        var none = ScriptedMachine(opening: .password, compromised, .success(.choose([.password, .totp])))
        await #expect(throws: RecoveryError.self) { try await run(&none) }
        #expect(none.calls.count == 2)
        #expect(log.words.isEmpty)
    }

    @Test func aFactorThatIsUnavailableIsNotTriedAgain() async throws {
        let unavailable = ScriptedMachine.Answer.failure(.refused(.factorUnavailable, .switchFactor))
        let all = ScriptedMachine.Answer.success(.choose([.totp, .email, .phone]))
        var machine = ScriptedMachine(
            all,
            unavailable,
            all,
            unavailable,
            all,
            .success(.ask(Challenge(factor: .phone)))
        )
        _ = try await run(&machine, ScriptedPerson(.text("1")))
        #expect(
            machine.calls == [
                "begin", "choose totp", "replace totp factor_unavailable", "choose email_code",
                "replace email_code factor_unavailable", "choose phone_code", "submit phone_code 1",
            ]
        )
        #expect(log.words.prefix(2) == ["fallback totp email_code", "fallback email_code phone_code"])
    }

    @Test func whenEveryFactorIsUnavailableItEnds() async throws {
        let unavailable = ScriptedMachine.Answer.failure(.refused(.factorUnavailable, .switchFactor))
        let all = ScriptedMachine.Answer.success(.choose([.totp, .email]))
        var machine = ScriptedMachine(all, unavailable, all, unavailable, all)
        let error = await #expect(throws: RecoveryError.self) { try await run(&machine) }
        #expect(error?.kind == .factorUnavailable)
        #expect(machine.calls.count == 5)
    }

    @Test func aResendKeepsTheQuestionAndItsRound() async throws {
        let ask = ScriptedMachine.Answer.success(.ask(Challenge(factor: .email)))
        var machine = ScriptedMachine(ask, .failure(.refused(.challengeIncorrect)), ask)
        let person = ScriptedPerson(.text("1"), .resend, .text("2"))
        _ = try await run(&machine, person)
        #expect(machine.calls == ["begin", "submit email_code 1", "resend email_code", "submit email_code 2"])
        #expect(person.questions.map(\.round) == [1, 2, 2])
        #expect(person.questions.map { $0.previousFailure?.kind } == [nil, .challengeIncorrect, .challengeIncorrect])
    }

    @Test func anExpiredCodeIsSentAgainAndAskedForAgain() async throws {
        let ask = ScriptedMachine.Answer.success(.ask(Challenge(factor: .email)))
        var machine = ScriptedMachine(ask, .failure(.refused(.challengeExpired, .newChallenge)), ask)
        let person = ScriptedPerson(.text("1"), .text("2"))
        _ = try await run(&machine, person)
        #expect(machine.calls == ["begin", "submit email_code 1", "resend email_code", "submit email_code 2"])
        #expect(person.questions.map(\.round) == [1, 2])
        #expect(person.questions.last?.previousFailure?.kind == .challengeExpired)
    }

    @Test func whereNoOtherCodeIsToBeHadYetTheOneThatWasSentIsStillAskedFor() async throws {
        let ask = ScriptedMachine.Answer.success(.ask(Challenge(factor: .email)))
        var machine = ScriptedMachine(ask, .failure(.refused(.rateLimited, .wait)), .success(.finished("s")))
        let person = ScriptedPerson(.resend, .text("1"))
        #expect(try await run(&machine, person) == "s")
        #expect(machine.calls == ["begin", "resend email_code", "submit email_code 1"])
        #expect(person.questions.map(\.round) == [1, 1])
        #expect(person.notices == [.rateLimited])
    }

    @Test func whereTheCodeIsOfNoUseALimitOnNewOnesEndsIt() async throws {
        let ask = ScriptedMachine.Answer.success(.ask(Challenge(factor: .email)))
        var machine = ScriptedMachine(
            ask,
            .failure(.refused(.challengeExpired, .newChallenge)),
            .failure(.refused(.rateLimited, .wait))
        )
        let error = await #expect(throws: RecoveryError.self) { try await run(&machine, ScriptedPerson(.text("1"))) }
        #expect(error?.kind == .rateLimited)
    }

    @Test func thePersonLearnsHowManyAnswersAreLeft() async throws {
        let ask = ScriptedMachine.Answer.success(.ask(Challenge(factor: .email)))
        let wrong = ScriptedMachine.Answer.failure(.refused(.challengeIncorrect))
        var machine = ScriptedMachine(ask, wrong, wrong, wrong)
        let person = ScriptedPerson(.text("1"), .text("2"), .text("3"))
        await #expect(throws: RecoveryError.self) { try await run(&machine, person) }
        #expect(person.questions.map(\.attemptsLeft) == [3, 2, 1])
    }

    @Test func whatARefusedResendWantsIsDone() async throws {
        let ask = ScriptedMachine.Answer.success(.ask(Challenge(factor: .email)))
        var machine = ScriptedMachine(ask, .failure(.refused(.flowExpired)), ask)
        _ = try await run(&machine, ScriptedPerson(.resend, .text("2")))
        #expect(machine.calls == ["begin", "resend email_code", "begin", "submit email_code 2"])
    }

    @Test func aDeadFlowBeginsAgainOnce() async throws {
        let expired = ScriptedMachine.Answer.failure(.refused(.flowExpired))
        var machine = ScriptedMachine(expired, .success(.finished("s")))
        #expect(try await run(&machine) == "s")
        var dead = ScriptedMachine(expired, expired, expired)
        let error = await #expect(throws: RecoveryError.self) { try await run(&dead) }
        #expect(error?.kind == .flowExpired)
        #expect(dead.calls == ["begin", "begin"])
    }

    @Test func aStateThatIsNotTheAssumedOneIsReadAgain() async throws {
        var machine = ScriptedMachine(
            .success(.ask(Challenge(factor: .totp))),
            .failure(.refused(.stateConflict, .resync)),
            .success(.ask(Challenge(factor: .phone)))
        )
        _ = try await run(&machine, ScriptedPerson(.text("1"), .text("2")))
        #expect(machine.calls == ["begin", "submit totp 1", "resync", "submit phone_code 2"])
    }

    @Test func anotherFactorIsOfferedToThePersonWhoWantsOne() async throws {
        var machine = ScriptedMachine(
            .success(.ask(Challenge(factor: .totp))),
            .success(.choose([.totp, .email])),
            .success(.ask(Challenge(factor: .email)))
        )
        _ = try await run(&machine, ScriptedPerson(.useAnotherFactor, .text("1")))
        #expect(machine.calls == ["begin", "replace totp", "choose email_code", "submit email_code 1"])
        #expect(!log.words.contains { $0.hasPrefix("fallback") }, "that is no recovery")
    }

    @Test func whereThereIsNoOtherFactorTheSameIsAskedAgain() async throws {
        var machine = ScriptedMachine(.success(.ask(Challenge(factor: .totp))), .success(.choose([.totp])))
        let person = ScriptedPerson(.useAnotherFactor, .text("1"))
        _ = try await run(&machine, person)
        #expect(person.questions.map(\.key) == [.totp, .totp])
        #expect(person.questions.map(\.round) == [1, 1])
    }

    @Test func withoutAnAnswerItEndsAndNamesTheQuestion() async throws {
        var machine = ScriptedMachine(.success(.ask(Challenge(factor: .totp))))
        let error = await #expect(throws: Challenge.NoAnswer.self) { try await run(&machine) }
        #expect(error?.key == .totp)
        #expect(error?.description == "there is no answer for totp")
        #expect(machine.calls == ["begin"])
    }

    @Test func aResponderWhoRepeatsItselfDoesNotGoOnForEver() async throws {
        for answer in [Challenge.Answer.useAnotherFactor, .resend] {
            var machine = ScriptedMachine()
            machine.answers = Array(repeating: .success(.ask(Challenge(factor: .email))), count: 10_000)
            let person = ScriptedPerson(Array(repeating: .success(answer), count: 10_000))
            let error = await #expect(throws: RecoveryError.self) { try await run(&machine, person) }
            #expect(error?.kind == .stateConflict)
            #expect(machine.calls.count <= 200)
        }
    }

    @Test func aServerThatTakesEveryAnswerAndNeverFinishesGetsAFew() async throws {
        var machine = ScriptedMachine()
        machine.answers = Array(repeating: .success(.ask(Challenge(factor: .password))), count: 10_000)
        let person = ScriptedPerson(Array(repeating: .success(.text("p")), count: 10_000))
        let error = await #expect(throws: RecoveryError.self) { try await run(&machine, person) }
        #expect(error?.reason == .attemptsExhausted)
        #expect(machine.calls.count == 9)
    }

    /// Who signs in has no session that could have ended.
    @Test(arguments: [nil, .code, .device, .client, .access, .session] as [Outcome.CredentialKind?])
    func aSignInThatIsRefusedIsNoEndOfASession(credential: Outcome.CredentialKind?) async throws {
        for action in [Outcome.TokenAction.keep, .clear] {
            var refusal = RecoveryError.refused(.credentialRejected)
            (refusal.outcome.credential, refusal.outcome.tokenAction) = (credential, action)
            var machine = ScriptedMachine(.failure(refusal))
            let error = await #expect(throws: RecoveryError.self) { try await run(&machine) }
            #expect(error?.kind == .credentialRejected && error?.outcome.tokenAction == action)
            let isOver = action == .clear && (credential == nil || credential == .access || credential == .session)
            #expect((error?.outcome.userMessage == nil) == isOver)
            if !isOver { #expect(error?.userMessage.contains("ended") == false) }
        }
        var spoken = RecoveryError.refused(.credentialRejected)
        spoken.outcome.userMessage = "The provider's own."
        var machine = ScriptedMachine(.failure(spoken))
        let error = await #expect(throws: RecoveryError.self) { try await run(&machine) }
        #expect(error?.userMessage == "The provider's own.")
    }

    @Test func aServerThatOffersNothingIsAnError() async throws {
        var machine = ScriptedMachine(.success(.choose([])))
        let error = await #expect(throws: RecoveryError.self) { try await run(&machine) }
        #expect(error?.kind == .factorUnavailable)
    }
}
