import AuthRecovery
import AuthSandbox
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import Auth0Auth

/// A renewal for which the tenant wants a second factor goes on as steps of a sign-in.
@Suite("Auth0: renewals that want a second factor", .timeLimit(.minutes(10)))
struct Auth0StepUpTests {
    private static let held = Credentials(
        accessToken: "A0",
        refreshToken: "R0",
        others: [.init("auth0_signed_in_at", "2026-01-01T00:00:00Z"), .init("kept", true)]
    )

    /// What a person at the sandbox begins with: somebody who is signed in, and whose next renewal wants a factor.
    private static func run(_ body: (Auth0SandboxTests.Line) async throws -> Void) async throws {
        try await Auth0SandboxTests.run(Auth0SandboxTests.user(factors: ["sms"], backupCodes: ["FIRST"])) { line in
            _ = try await line.clock.skippingWaits {
                try await line.auth0.signIn(
                    identifier: Auth0SandboxTests.name,
                    password: "right",
                    answering: Mailbox(line.sandbox, "+12015550100")
                )
            }
            line.sandbox.updateSettings { $0.auth0.wantsFactorOnRefresh = true }
            try await body(line)
        }
    }

    @Test func theRenewalGoesOnWithTheFactor() async throws {
        try await Self.run { line in
            let before = try await line.auth0.tokens.store.read().credentials
            let session = try await line.clock.skippingWaits {
                try await line.auth0.refresh(answering: Mailbox(line.sandbox, "+12015550100"))
            }
            let after = try await line.auth0.tokens.store.read().credentials
            #expect(session.subject != nil && after.accessToken != before.accessToken)
            #expect(after.auth0Mark == before.auth0Mark, "it is the same sign-in")
            #expect(line.sandbox.auth0Grants["password"] == 1 && line.sandbox.auth0Grants["mfa-oob"] == 2)
            #expect(try await line.auth0.session()?.email == Auth0SandboxTests.name)
        }
    }

    /// The request whose token was refused goes out again behind the answer.
    @Test func aRequestWaitsForTheFactor() async throws {
        try await Self.run { line in
            try line.sandbox.endAuth0Tokens(of: Auth0SandboxTests.name, accessOnly: true)
            let error = await #expect(throws: RecoveryError.self) {
                try await line.clock.skippingWaits { try await line.auth0.send(path: "/userinfo") }
            }
            #expect(error?.kind == .stepUpRequired)
            let response = try await line.clock.skippingWaits {
                try await line.auth0.send(path: "/userinfo", answering: Mailbox(line.sandbox, "+12015550100"))
            }
            #expect(try await response.json()["email"]?.string == Auth0SandboxTests.name)
        }
    }

    /// A recovery code that was used for a request is told to the person, since nobody else is.
    @Test func aNewRecoveryCodeIsShown() async throws {
        let bench = try Auth0Bench(
            [
                .status(401), .wantsMore, .wantsMore, .enrolled("recovery"), .tokens(more: #","recovery_code":"NEW""#),
                .json(#"{"sub":"auth0|1"}"#),
            ],
            credentials: Self.held
        )
        let person = Shown()
        _ = try await bench.clock.skippingWaits { try await bench.auth0.send(path: "/userinfo", answering: person) }
        #expect(person.shown.map { $0.setup?.reveal() } == ["NEW"])
        #expect(bench.sent.last == "/userinfo")
    }

    /// A token that the tenant does not replace stays, and so does what else is kept.
    @Test func whatIsNotReplacedStays() async throws {
        let answer = Auth0Bench.Step.json(#"{"access_token":"A1","expires_in":60,"token_type":"Bearer"}"#)
        let bench = try Auth0Bench([.wantsMore, .enrolled("totp"), answer], credentials: Self.held)
        _ = try await bench.clock.skippingWaits {
            try await bench.auth0.refresh(answering: Answers([.totp: ["123456"]]))
        }
        let kept = await bench.tokens.read().credentials
        #expect(kept.accessToken == "A1" && kept.refreshToken == "R0" && kept.others == Self.held.others)
        #expect(bench.sent == ["/oauth/token", "/mfa/authenticators", "/oauth/token mfa-otp 123456"])
    }

    /// Whoever signs in while the factor is asked for stays.
    @Test func anotherSignInStays() async throws {
        let bench = try Auth0Bench([.wantsMore, .enrolled("totp"), .tokens()], credentials: Self.held)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits {
                try await bench.auth0.refresh(answering: SignsInElsewhere(tokens: bench.tokens))
            }
        }
        #expect(error?.kind == .stateConflict && error?.reason == .identityChanged)
        #expect(await bench.tokens.read().credentials.accessToken == "other")
    }

    @Test func aRenewalThatIsEnoughAsksNothing() async throws {
        let bench = try Auth0Bench([.tokens()], credentials: Self.held)
        let person = Answers()
        _ = try await bench.auth0.refresh(answering: person)
        #expect(person.asked.isEmpty && bench.sent == ["/oauth/token"])
    }

    /// Without a token to go on with, the error is that of the renewal.
    @Test(arguments: [
        (Auth0Bench.Step.error("a0.mfa_required", "", 401), Outcome.Kind.userActionRequired),
        (.error("invalid_grant", "Unknown or invalid refresh token."), .reauthenticationRequired),
        (.status(502), .unavailable), (.status(503), .unavailable),
    ])
    func whatLeadsNowhereEndsIt(step: Auth0Bench.Step, kind: Outcome.Kind) async throws {
        let bench = try Auth0Bench([step], credentials: Self.held)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits { try await bench.auth0.refresh(answering: Answers()) }
        }
        #expect(error?.kind == kind && bench.sent.count == 1, "\(bench.sent)")
    }

    /// The factor's answer may come in another request than the question, at another machine.
    @Test func itIsTakenUpElsewhere() async throws {
        let bench = try Auth0Bench([.wantsMore, .enrolled("totp"), .tokens()], credentials: Self.held)
        let instances = (0..<2).map { _ in
            SuspendedSignIns(bench.auth0.client, sealing: PlainSealing()).held(by: "browser")
        }
        let turn = try await instances[0].begin(bench.auth0.signInFlow(.renewal))
        let end = try await instances[1].step(try #require(turn.ticket), .answer(.text("123456")), at: bench.auth0)
        guard case .finished = end.step else { return #expect(Bool(false), "\(end.step)") }
        #expect(await bench.tokens.read().credentials.auth0Mark == Self.held.auth0Mark)
    }
}

/// Answers a recovery code's question, and remembers what was shown.
private final class Shown: ChallengeResponder {
    private let all = Locked<[Challenge]>([])

    var shown: [Challenge] { all.withLock { $0 } }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer { .text("OLD") }
    func show(_ challenge: Challenge) async { all.withLock { $0.append(challenge) } }
}

/// Another signs in before the question is answered.
private struct SignsInElsewhere: ChallengeResponder {
    let tokens: InMemoryTokenStore

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        _ = try await tokens.update { credentials in
            credentials = Credentials(accessToken: "other", refreshToken: "R9")
            credentials.auth0Mark = "another"
        }
        return .text("123456")
    }
}
