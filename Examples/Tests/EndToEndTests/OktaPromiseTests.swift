import AuthRecovery
import AuthSandbox
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

/// What is promised of recovery, against a server that behaves like Okta and fails on purpose, over real sockets.
@Suite("Okta: promises", .timeLimit(.minutes(30)), .bounded)
enum OktaPromises {}

extension OktaPromises {
    /// Ways to lose an answer after the request has had its effect, or perhaps has.
    static let losses: [SandboxFault.Kind] = [.resetAfter, .closeAfter, .truncate, .truncateReset]

    @Suite struct P1NothingIsSpentTwice {
        private func lose(_ kind: SandboxFault.Kind, _ path: String, skip: Int64 = 0) -> SandboxFault {
            var fault = SandboxFault(kind, path: path, times: 0)
            fault.skip = skip
            return fault
        }

        @Test(arguments: OktaPromises.losses) func aPasswordWhoseAnswerIsLost(kind: SandboxFault.Kind) async throws {
            try await OktaLine.run { line in
                line.sandbox.add(lose(kind, "/api/v1/authn"))
                let error = await #expect(throws: RecoveryError.self) { try await line.signIn() }
                #expect(error?.outcome.processed != .no)
                #expect(line.steps == ["authn"])
            }
        }

        @Test(arguments: [500, 502, 504]) func aPasswordThatAnOutageMayHaveTaken(status: Int) async throws {
            try await OktaLine.run { line in
                var fault = SandboxFault(.status, path: "/api/v1/authn", times: 0)
                fault.status = status
                line.sandbox.add(fault)
                await #expect(throws: RecoveryError.self) { try await line.signIn() }
                #expect(line.steps == ["authn"])
            }
        }

        @Test(arguments: OktaPromises.losses) func aCodeWhoseAnswerIsLost(kind: SandboxFault.Kind) async throws {
            try await OktaLine.run { line in
                line.sandbox.add(lose(kind, "*/verify"))
                let code = Secret(try #require(line.sandbox.oktaTOTP(for: "grace@example.com")))
                await #expect(throws: RecoveryError.self) {
                    try await line.signIn("grace@example.com", [.totp: [.text(code), .text(code)]])
                }
                // What became of the transaction is asked; neither the code nor the password goes out again.
                #expect(line.steps == ["authn", "authn/factors/{id}/verify", "authn"])
                let passwords = line.sandbox.requests().filter { $0.fields.contains { $0.hasPrefix("password") } }
                #expect(passwords.count == 1)
            }
        }

        @Test(arguments: OktaPromises.losses) func aPushWhoseSendingIsLost(kind: SandboxFault.Kind) async throws {
            try await OktaLine.run { line in
                line.sandbox.add(lose(kind, "*/verify"))
                await #expect(throws: RecoveryError.self) { try await line.signIn("hedy@example.com") }
                #expect(line.sandbox.oktaPushes() == 1)
            }
        }

        /// The lost answer was the person's no: to ask on with the same link would send another push.
        @Test(arguments: OktaPromises.losses) func aPushWhosePollIsLost(kind: SandboxFault.Kind) async throws {
            try await OktaLine.run { line in
                var fault = lose(kind, "*/verify", skip: 2)
                fault.times = 1
                line.sandbox.add(fault)
                let error = await #expect(throws: RecoveryError.self) { try await line.signIn("niklaus@example.com") }
                #expect(error?.kind == .declined)
                #expect(line.sandbox.oktaPushes() == 1)
            }
        }

        @Test(arguments: OktaPromises.losses) func aResendWhoseAnswerIsLost(kind: SandboxFault.Kind) async throws {
            try await OktaLine.run { line in
                let name = "edsger@example.com"
                let credentials = OktaCredentials(username: name, password: OktaLine.password)
                guard case .factorRequired(let required) = try await line.okta.authenticate(credentials),
                    let factor = required.factors.first, let start = required.verify(factor),
                    case .factorChallenge(let challenge) = try await start(.start)
                else { throw Challenge.NoAnswer(.phoneCode) }
                line.sandbox.advanceClock(by: .seconds(31))
                line.sandbox.add(lose(kind, "*/resend"))
                await #expect(throws: RecoveryError.self) { try await challenge.resend?() }
                #expect(line.sandbox.outbox().count == 2)
                #expect(line.steps.filter { $0.hasSuffix("resend") }.count == 1)
            }
        }

        @Test func aSessionTokenIsNeverPresentedAgain() async throws {
            try await OktaLine.run { line in
                var fault = SandboxFault(.resetAfter, path: "/api/v1/sessions")
                fault.times = 1
                line.sandbox.add(fault)
                // The password was right, so it obtains another token.
                try await line.signIn()
                #expect(line.steps == ["authn", "sessions", "authn", "sessions"])
                #expect(line.sandbox.requests(path: "/api/v1/sessions").map(\.status) == [0, 200])
            }
        }

        @Test func whatTheServerHasNotTakenIsSentAgain() async throws {
            try await OktaLine.run { line in
                var fault = SandboxFault(.status, path: "/api/v1/authn")
                fault.status = 503
                fault.retryAfter = "1"
                line.sandbox.add(fault)
                try await line.signIn()
                #expect(line.steps == ["authn", "authn", "sessions"])
            }
        }
    }

    @Suite struct P2NoAttemptWhileLocked {
        @Test func nothingIsTriedAtALockedAccount() async throws {
            try await OktaLine.run { line in
                for _ in 0..<3 {
                    let error = await #expect(throws: RecoveryError.self) {
                        try await line.signIn("donald@example.com")
                    }
                    #expect(error?.kind == .accountLocked)
                }
                #expect(line.steps == ["authn"])
                // Nobody else is held.
                try await line.signIn()
            }
        }

        /// Another process remembers it.
        @Test func theLockoutIsRememberedOnDisk() async throws {
            try await Bench.okta { bench in
                let state = ["--state", "sqlite:" + bench.directory + "/state.db"]
                for _ in 0..<2 {
                    let arguments = state + ["sign-in", "--identifier", "donald@example.com"]
                    let run = try await bench.finish(bench.start(arguments, answers: Bench.answers()))
                    #expect(run.status == 75)
                    #expect(run.kind == "account_locked")
                }
                #expect(bench.steps == ["authn"])
            }
        }
    }

    @Suite struct P3TheServersWordIsKept {
        @Test func nothingLeavesBeforeTheReset() async throws {
            try await OktaLine.run { line in
                try await line.signIn()
                line.sandbox.updateSettings { $0.okta.resets = [2] }
                var fault = SandboxFault(.status, path: "/api/v1/users/me")
                fault.status = 429
                line.sandbox.add(fault)
                let first = Task { try await line.okta.send(path: "/api/v1/users/me") }
                try await line.event("wait rate_limited")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<10 { group.addTask { _ = try await line.okta.send(path: "/api/v1/users/me") } }
                    try await group.waitForAll()
                }
                _ = try await first.value
                let times = line.sandbox.requests(path: "/api/v1/users/me").map(\.receivedAt)
                #expect(times.count == 12)
                let reset = times[0] / 1000 * 1000 + 2000
                #expect(times.dropFirst().allSatisfy { $0 >= reset })
            }
        }

        /// A mail that was sent a moment ago is waited for, or its code taken: none is sent before its time.
        @Test func theWindowOfAMessageIsKept() async throws {
            try await OktaLine.run { line in
                let name = "jean+clerk_test@example.com"
                let credentials = OktaCredentials(username: name, password: OktaLine.password)
                func start() async throws -> OktaState? {
                    guard case .factorRequired(let required) = try await line.okta.authenticate(credentials),
                        let mail = required.factors.first(where: { $0.type == .email })
                    else { return nil }
                    return try await required.verify(mail)?(.start)
                }
                _ = try await start()
                _ = try await start()
                let sent = line.sandbox.outbox().map(\.sentAt)
                #expect(sent.count == 2 && sent[1] - sent[0] >= 5000)
            }
        }
    }

    @Suite struct P4TheDeadlineIsKept {
        @Test func aWaitThatCannotEndBeforeItIsNotBegun() async throws {
            try await OktaLine.run {
                Deadline(.seconds(5))
                Recovery()
            } body: { line in
                var fault = SandboxFault(.status, path: "/api/v1/authn", times: 0)
                fault.status = 429
                line.sandbox.add(fault)
                let error = await #expect(throws: RecoveryError.self) { try await line.signIn() }
                #expect(error?.reason == .deadlineWouldPass)
                #expect(error?.retryAfter.map { $0 > .seconds(5) } == true)
                #expect(line.count == 1)
                #expect(!line.events.words.contains { $0.hasPrefix("wait") })
            }
        }

        @Test(arguments: [SandboxFault.Kind.hang, .trickle]) func itEndsASlowAnswer(kind: SandboxFault.Kind)
            async throws
        {
            try await OktaLine.run {
                Deadline(.seconds(5))
                Recovery()
            } body: { line in
                try await line.signIn()
                var fault = SandboxFault(kind, path: "/api/v1/users/me", times: 0)
                fault.delay = kind == .trickle ? 1000 : 0
                line.sandbox.add(fault)
                let error = await #expect(throws: RecoveryError.self) {
                    let response = try await line.okta.send(path: "/api/v1/users/me")
                    _ = try await response.body.collect(upTo: 1 << 20)
                }
                #expect(error?.kind == .timedOut)
            }
        }
    }

    @Suite struct P5OneRefreshAtATime {
        @Test func fiftyRefusalsCauseOneRefresh() async throws {
            try await OktaLine.run(app: OktaLine.app) { line in
                try await line.signIn()
                let before = await line.tokens.read().credentials.refreshToken
                try line.sandbox.revokeTokens(accessOnly: true)
                // All of them are refused before the first can have renewed anything.
                var slow = SandboxFault(.latency, path: "/oauth2/v1/token")
                slow.delay = 500
                line.sandbox.add(slow)
                try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
                    for _ in 0..<50 {
                        group.addTask { try await line.okta.send(path: "/api/v1/users/me").status }
                    }
                    for try await status in group { #expect(status == .ok) }
                }
                #expect(line.sandbox.oauthCounters().refreshes == 1)
                #expect(line.sandbox.oauthCounters().graceReuses == 0)
                #expect(line.sandbox.oauthCounters().violations == 0)
                #expect(await line.tokens.read().credentials.refreshToken != before)
            }
        }

        /// The answer is lost on the way: inside Okta's grace the old token may be presented once more.
        @Test func aRefreshWhoseAnswerIsLostRevokesNothing() async throws {
            try await OktaLine.run(app: OktaLine.app) { line in
                try await line.signIn()
                line.sandbox.add(SandboxFault(.resetAfter, path: "/oauth2/v1/token"))
                _ = try? await line.okta.refresh()
                _ = try await line.okta.refresh()
                #expect(line.sandbox.oauthCounters().violations == 0)
                #expect(line.sandbox.oauthCounters().familiesRevoked == 0)
                #expect(try await line.okta.send(path: "/api/v1/users/me").status == .ok)
            }
        }
    }
}
