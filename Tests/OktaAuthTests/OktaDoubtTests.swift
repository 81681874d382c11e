import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

/// After a step whose outcome nobody knows, the transaction is read and followed; nothing is spent a second time.
@Suite("An Okta step in doubt")
struct OktaDoubtTests {
    private static let first = "/authn {username:ada@example.com,password:hunter2}"
    private static let read = "/authn"
    private static let exchange = "/sessions {sessionToken:20111st}"
    private static let totp = OktaJSON.factor("token:software:totp")
    private static let sms = OktaJSON.factor("sms")

    private static let losses: [ScriptedTransport.Step] = [
        .fail(.connectionLost, .unknown), .fail(.timedOut, .unknown), .fail(.truncated, .answered), .status(500),
        .status(502, [:], body: "<html>"), .error(67, 504),
    ]

    @Test(arguments: losses.indices)
    func aCodeThatWasTakenAllTheSameIsNotAskedForAgain(index: Int) async throws {
        let bench = try OktaBench([
            .required(Self.totp), Self.losses[index], .expired("PASSWORD_EXPIRED"), .success(), .session,
        ])
        let person = Person([.totp: "1", .newPassword: "better"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.totp, .newPassword])
        #expect(
            bench.sent == [
                Self.first, "/authn/factors/f1/verify {passCode:1}", Self.read,
                "/authn/credentials/change_password {oldPassword:hunter2,newPassword:better}", Self.exchange,
            ]
        )
    }

    @Test(arguments: losses.indices)
    func aCodeThatWasLostIsAskedForAnew(index: Int) async throws {
        let bench = try OktaBench([
            .required(Self.totp), Self.losses[index], .required(Self.totp), .success(), .session,
        ])
        _ = try await bench.signIn("hunter2", Person([.totp: [.text("1"), .text("2")]]))
        #expect(
            bench.sent == [
                Self.first, "/authn/factors/f1/verify {passCode:1}", Self.read,
                "/authn/factors/f1/verify {passCode:2}", Self.exchange,
            ]
        )
    }

    @Test(arguments: losses.indices)
    func aMessageThatMayBeUnderWayIsNotSentAgain(index: Int) async throws {
        for state in [ScriptedTransport.Step.required(Self.sms), .challenge(Self.sms)] {
            let bench = try OktaBench([.required(Self.sms), Self.losses[index], state, .success(), .session])
            _ = try await bench.signIn("hunter2", Person([.phoneCode: "1"]))
            #expect(bench.sent.filter { $0 == "/authn/factors/f1/verify" }.count == 1)
            #expect(bench.sent.last == Self.exchange)
        }
    }

    @Test(arguments: losses.indices)
    func whereTheTransactionCannotBeReadTheStepStaysInDoubt(index: Int) async throws {
        let bench = try OktaBench(
            [.required(Self.totp), Self.losses[index]] + Array(repeating: .fail(.cannotConnect, .neverSent), count: 20)
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.signIn("hunter2", Person([.totp: "1"]))
        }
        #expect(error?.outcome.processed != .no)
        #expect(error?.remedies == [.resync, .askUser])
        #expect(bench.sent.filter { $0.hasPrefix("/authn/factors") }.count == 1)
    }

    @Test func aPasswordWhoseAnswerWasLostHasNoTransactionToRead() async throws {
        for loss in Self.losses {
            let bench = try OktaBench([loss])
            let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
            #expect(bench.sent == [Self.first])
            #expect(error?.remedies == [.askUser])
        }
    }

    /// Where there is no transaction to be read, the password is asked for.
    @Test(arguments: [403, 500]) func aPasswordInDoubtIsNotPresentedAgain(status: Int) async throws {
        let bench = try OktaBench([.error(79, status), .success(), .session])
        let person = Person([.password: "typed"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.password])
        #expect(bench.sent == [Self.first, "/authn {username:ada@example.com,password:typed}", Self.exchange])
    }

    /// The old password holds where the server has not taken the new one, and else the new one.
    @Test func whichPasswordHoldsIsReadToo() async throws {
        let loss = ScriptedTransport.Step.fail(.connectionLost, .unknown)
        let kept = try OktaBench([.expired(), loss, .expired(), .success(), .session])
        _ = try await kept.signIn("hunter2", Person([.newPassword: [.text("b1"), .text("b2")]]))
        #expect(kept.sent[3] == "/authn/credentials/change_password {oldPassword:hunter2,newPassword:b2}")
        let changed = try OktaBench(
            [
                .expired(), loss, .required(Self.totp), .error(11, 401), .required(Self.totp), .success(), .session,
            ]
        )
        let person = Person([.newPassword: [.text("better")], .totp: [.text("1"), .text("2")]])
        _ = try await changed.signIn("hunter2", person, options: SignInOptions(maxRestarts: 2))
        #expect(changed.sent[4] == "/authn {username:ada@example.com,password:better}")
    }

    // MARK: Beginning again

    @Test(arguments: [Recorded.error("E7777777"), "{}", ""])
    func afterAnAnswerThatProvesNothingThePasswordIsAskedFor(body: String) async throws {
        let unknownCode = ScriptedTransport.Step.status(401, [:], body: body)
        let silent = try OktaBench([.required(Self.totp), unknownCode, .success(), .session])
        let error = await #expect(throws: Challenge.NoAnswer.self) {
            try await silent.signIn("hunter2", Person([.totp: "1"]))
        }
        #expect(error?.key == .password && error?.cause != nil)
        #expect(silent.sent.count == 2)
        let bench = try OktaBench([.required(Self.totp), unknownCode, .success(), .session])
        let person = Person([.totp: "1", .password: "typed"])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.totp, .password])
        #expect(bench.sent[2] == "/authn {username:ada@example.com,password:typed}")
    }
}
