import AuthRecovery
import HTTPRecovery
import Testing

/// What a person has chosen holds for the whole sign-in, however often the server makes it begin again.
@Suite("Choices in a sign-in that begins again")
struct SignInChoiceTests {
    private static let push = Factor(key: .push, providerName: "push")
    private static let ask = ScriptedMachine.Answer.success(.ask(Challenge(factor: .totp)))
    private static let expired = ScriptedMachine.Answer.failure(.refused(.flowExpired))

    private static func offer(_ factors: Factor...) -> ScriptedMachine.Answer { .success(.choose(factors)) }

    private func run(
        _ machine: inout ScriptedMachine,
        _ person: ScriptedPerson,
        _ options: SignInOptions = SignInOptions(preference: [.push])
    ) async throws {
        _ = try await machine.signIn(answering: person, options: options)
    }

    @Test func aFlowThatBeginsAgainKeepsToTheFactorThatWasChosen() async throws {
        let all = Self.offer(Self.push, .totp)
        var machine = ScriptedMachine(all, Self.ask, Self.expired, all, Self.ask)
        let person = ScriptedPerson([.success(.text("1")), .success(.text("2"))], choosing: .once(.totp))
        try await run(&machine, person)
        #expect(
            machine.calls == ["begin", "choose totp", "submit totp 1", "begin", "choose totp", "submit totp 2"]
        )
        #expect(person.choices.count == 1, "nobody is asked twice")
    }

    @Test func soDoesAFlowWhoseStateIsReadAgain() async throws {
        let all = Self.offer(Self.push, .totp)
        let conflict = ScriptedMachine.Answer.failure(.refused(.stateConflict, .resync))
        var machine = ScriptedMachine(all, Self.ask, conflict, all, Self.ask)
        try await run(&machine, ScriptedPerson([.success(.text("1")), .success(.text("2"))], choosing: .once(.totp)))
        #expect(
            machine.calls == ["begin", "choose totp", "submit totp 1", "resync", "choose totp", "submit totp 2"]
        )
    }

    /// Flags and masked destinations may differ from one answer of a server to the next.
    @Test func theChosenFactorIsKnownAgain() async throws {
        let first = Factor(key: .emailCode, providerName: "email_code", destination: "a•••", id: "e1")
        var again = first
        (again.destination, again.isDefault) = ("a•••@example.com", true)
        var machine = ScriptedMachine(Self.offer(Self.push, first), Self.expired, Self.offer(Self.push, again))
        try await run(&machine, ScriptedPerson(choosing: .once(first)))
        #expect(machine.calls == ["begin", "choose email_code", "begin", "choose email_code"])
    }

    @Test func eachOfSeveralChoicesIsKept() async throws {
        let first = Self.offer(.password, .email)
        let second = Self.offer(Self.push, .totp)
        var machine = ScriptedMachine(first, second, Self.ask, Self.expired, first, second, Self.ask)
        let person = ScriptedPerson([.success(.text("1")), .success(.text("2"))], choosing: .once(.email, .totp))
        try await run(&machine, person)
        #expect(
            machine.calls == [
                "begin", "choose email_code", "choose totp", "submit totp 1", "begin", "choose email_code",
                "choose totp", "submit totp 2",
            ]
        )
    }

    @Test func whoHasWishedForAnotherFactorKeepsThatOne() async throws {
        let all = Self.offer(Self.push, .totp, .email)
        let email = ScriptedMachine.Answer.success(.ask(Challenge(factor: .email)))
        var machine = ScriptedMachine(all, Self.ask, all, email, Self.expired, all, email)
        let person = ScriptedPerson(
            [.success(.useAnotherFactor), .success(.text("1")), .success(.text("2"))],
            choosing: .once(.totp, .email)
        )
        try await run(&machine, person)
        #expect(
            machine.calls == [
                "begin", "choose totp", "replace totp", "choose email_code", "submit email_code 1", "begin",
                "choose email_code", "submit email_code 2",
            ]
        )
    }

    @Test func whatWasChosenIsNoAnswerToTheWishForAnother() async throws {
        let all = Self.offer(Self.push, .totp, .email)
        var machine = ScriptedMachine(all, Self.ask, Self.expired, all, Self.ask, all)
        let person = ScriptedPerson(
            [.success(.text("1")), .success(.useAnotherFactor)],
            choosing: .once(.totp, .email)
        )
        try await run(&machine, person)
        #expect(machine.calls.suffix(3) == ["choose totp", "replace totp", "choose email_code"])
    }

    @Test func aFactorThatCannotBeUsedIsNotKeptTo() async throws {
        let all = Self.offer(Self.push, .totp)
        var machine = ScriptedMachine(
            all,
            .failure(.refused(.factorUnavailable, .switchFactor)),
            all,
            Self.expired,
            all
        )
        try await run(&machine, ScriptedPerson(choosing: .once(.totp)))
        #expect(
            machine.calls == [
                "begin", "choose totp", "replace totp factor_unavailable", "choose push", "begin", "choose push",
            ]
        )
    }

    @Test func withoutABeginningEachQuestionIsAskedAnew() async throws {
        let all = Self.offer(Self.push, .totp)
        var machine = ScriptedMachine(all, all, all)
        let person = ScriptedPerson(choosing: .once(.totp, Self.push, .totp))
        try await run(&machine, person)
        #expect(machine.calls == ["begin", "choose totp", "choose push", "choose totp"])
        #expect(person.choices.count == 3)
    }

    @Test func whatWasChosenIsTakenOnceInEachBeginning() async throws {
        let all = Self.offer(Self.push, .totp)
        var machine = ScriptedMachine(all, Self.expired, all, all)
        let person = ScriptedPerson(choosing: .once(.totp, Self.push))
        try await run(&machine, person)
        #expect(machine.calls == ["begin", "choose totp", "begin", "choose totp", "choose push"])
    }

    @Test func whereItIsOfferedNoMoreThePersonChoosesAgain() async throws {
        var machine = ScriptedMachine(
            Self.offer(Self.push, .totp),
            Self.expired,
            Self.offer(Self.push, .email)
        )
        let person = ScriptedPerson(choosing: .once(.totp, .email))
        try await run(&machine, person)
        #expect(machine.calls == ["begin", "choose totp", "begin", "choose email_code"])
        #expect(person.choices.count == 2)
    }
}
