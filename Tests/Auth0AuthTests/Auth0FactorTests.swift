import AuthRecovery
import AuthSandbox
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import Auth0Auth

/// What somebody proves themselves with is listed, set up and taken away, with an access token for that.
@Suite("Auth0: the factors that somebody has", .timeLimit(.minutes(10)))
struct Auth0FactorTests {
    private typealias Line = Auth0SandboxTests.Line
    private static let name = Auth0SandboxTests.name

    private func signIn(_ account: Auth0, _ line: Line, _ answers: Answers = Answers()) async throws {
        _ = try await line.clock.skippingWaits {
            try await account.signIn(identifier: Self.name, password: "right", answering: answers)
        }
    }

    // MARK: At the sandbox

    /// Who has none is asked for none; from the first on the tenant asks for it, and shows a recovery code with it.
    @Test func theFirstIsSetUpAndAskedForFromThenOn() async throws {
        try await Auth0SandboxTests.run { line in
            let account = line.auth0.managingFactors()
            try await signIn(account, line)
            #expect(try await account.authenticators() == [])
            let person = Mailbox(line.sandbox, "+12015550142")
            let phone = Phone(mailbox: person, number: "+12015550142")
            try await account.enroll(.textMessage, answering: phone)
            let held = try await account.authenticators()
            #expect(held.map(\.factor.key) == [.phoneCode, .backupCode] && held.allSatisfy(\.isActive))
            #expect(phone.recoveryCode?.isEmpty == false)
            // The session here is another one, which was never signed in to.
            #expect(try await line.auth0.session() == nil)
            let again = line.auth0.managingFactors()
            try await signIn(again, line, Answers([.backupCode: [phone.recoveryCode ?? ""]], choosing: .backupCode))
            #expect(try await again.authenticators().count == 2)
        }
    }

    @Test func oneMoreIsSetUpBesideAndTakenAway() async throws {
        let person = Auth0SandboxTests.user(factors: ["sms", "recovery-code"], backupCodes: ["FIRST"])
        try await Auth0SandboxTests.run(person) { line in
            let account = line.auth0.managingFactors()
            try await signIn(account, line, Answers([.backupCode: ["FIRST"]], choosing: .backupCode))
            let before = try await account.authenticators()
            #expect(before.map(\.factor.key) == [.phoneCode, .backupCode])
            try await account.enroll(.email, answering: Mailbox(line.sandbox, Self.name))
            let both = try await account.authenticators()
            #expect(both.map(\.factor.key) == [.phoneCode, .emailCode, .backupCode])
            // What there is is not set up again, and what was taken away is not taken away again.
            let twice = await #expect(throws: RecoveryError.self) {
                try await account.enroll(.email, answering: Mailbox(line.sandbox, Self.name))
            }
            #expect(twice?.kind == .factorUnavailable)
            let phone = try #require(both.first).id
            try await account.removeAuthenticator(phone)
            #expect(try await account.authenticators().map(\.factor.key) == [.emailCode, .backupCode])
            let gone = await #expect(throws: RecoveryError.self) { try await account.removeAuthenticator(phone) }
            #expect(gone?.kind == .notFound)
        }
    }

    /// A wrong code is asked for again, and a token that has run out manages nothing.
    @Test func aWrongCodeAndAnOldTokenSetNothingUp() async throws {
        try await Auth0SandboxTests.run { line in
            let account = line.auth0.managingFactors()
            try await signIn(account, line)
            let answers = Answers([.totp: ["000000", "000001", "000002"], .text: ["noted"]])
            let error = await #expect(throws: RecoveryError.self) {
                try await account.enroll(.app, answering: answers)
            }
            #expect(error?.kind == .challengeIncorrect && answers.asked == [.text, .totp, .totp, .totp])
            #expect(try await account.authenticators() == [])
            try line.sandbox.endAuth0Tokens(of: Self.name, accessOnly: true)
            let over = await #expect(throws: RecoveryError.self) { try await account.authenticators() }
            #expect(over?.kind == .reauthenticationRequired)
        }
    }

    /// The usual access token is for something else.
    @Test func anotherTokenManagesNothing() async throws {
        try await Auth0SandboxTests.run { line in
            _ = try await line.signIn()
            let list = await #expect(throws: RecoveryError.self) { try await line.auth0.authenticators() }
            let setUp = await #expect(throws: RecoveryError.self) {
                try await line.auth0.enroll(.app, answering: Answers())
            }
            let removal = await #expect(throws: RecoveryError.self) {
                try await line.auth0.removeAuthenticator("otp|x")
            }
            #expect([list, setUp, removal].allSatisfy { $0 != nil })
            #expect(line.sandbox.auth0Grants["mfa-otp"] == nil)
        }
    }

    /// Somebody with a phone, who writes the recovery code down.
    private final class Phone: ChallengeResponder {
        private let mailbox: Mailbox
        private let number: String
        private let noted = Locked<String?>(nil)

        init(mailbox: Mailbox, number: String) {
            self.mailbox = mailbox
            self.number = number
        }

        var recoveryCode: String? { noted.withLock { $0 } }

        func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
            switch challenge.key {
            case .phoneNumber: return .text(Secret(number))
            case .text:
                noted.withLock { $0 = challenge.setup?.reveal() }
                return .text("noted")
            default: return try await mailbox.answer(challenge)
            }
        }

        func choose(among factors: [Factor]) async throws -> Factor? { nil }
    }

    // MARK: By a script

    private static let held = Credentials(
        accessToken: "A1",
        expiresAt: ManualClock().timeSource().wallTime.advanced(by: .seconds(600))
    )

    @Test func whatIsListedIsTold() async throws {
        let bench = try Auth0Bench([.enrolled("totp", "sms", "push", "recovery", "old")], credentials: Self.held)
        let listed = try await bench.auth0.authenticators()
        #expect(listed.map(\.id) == ["totp", "sms", "push", "recovery", "old"])
        #expect(listed.map(\.isActive) == [true, true, true, true, false])
        #expect(listed[1].factor.destination == "+1XXX" && bench.sent == ["/mfa/authenticators"])
        #expect(bench.transport.received[0].request.headerFields[.authorization] == "Bearer A1")
        let odd = try Auth0Bench([.json("{}")], credentials: Self.held)
        let error = await #expect(throws: RecoveryError.self) { try await odd.auth0.authenticators() }
        #expect(error?.kind == .unreadable)
    }

    @Test(arguments: [
        (Auth0FactorKind.app, #""authenticator_types":["otp"]"#),
        (.textMessage, #""oob_channels":["sms"],"phone_number":"+1"#),
        (.call, #""oob_channels":["voice"],"phone_number":"+1"#), (.email, #""oob_channels":["email"]"#),
        (.push, #""oob_channels":["auth0"]"#),
    ])
    func eachKindIsAskedForByItsName(kind: Auth0FactorKind, wanted: String) async throws {
        let bench = try Auth0Bench(
            [
                .json(#"{"secret":"S","oob_code":"O1"\#(kind == .push ? "" : #","binding_method":"prompt""#)}"#),
                .tokens("A2"),
            ],
            credentials: Self.held
        )
        let person = Answers([.totp: ["1"], .phoneCode: ["1"], .emailCode: ["1"], .phoneNumber: ["+1"]])
        try await bench.clock.skippingWaits { try await bench.auth0.enroll(kind, answering: person) }
        let text = bench.transport.received[0].text.replacing(" ", with: "")
        #expect(text.contains(wanted) && bench.sent[0] == "/mfa/associate")
        #expect(bench.transport.received[0].request.headerFields[.authorization] == "Bearer A1")
        #expect(bench.transport.received[1].text.contains(#""mfa_token":"A1""#))
        #expect(await bench.tokens.read().credentials.accessToken == "A2")
    }

    /// What an id holds cannot lead elsewhere, and it is for the one API that knows it.
    @Test func anIDIsOneSegment() async throws {
        let bench = try Auth0Bench([.status(204)], credentials: Self.held)
        try await bench.auth0.removeAuthenticator("sms|dev/../x")
        #expect(bench.transport.received[0].request.path == "/mfa/authenticators/sms%7Cdev%2F..%2Fx")
        let account = bench.auth0.managingFactors()
        #expect(account.api.configuration.audience == "https://example.eu.auth0.com/mfa/")
        #expect(await bench.tokens.read().credentials.accessToken == "A1")
        let error = await #expect(throws: RecoveryError.self) { try await account.authenticators() }
        #expect(error?.kind == .reauthenticationRequired && bench.sent.count == 1)
    }
}
