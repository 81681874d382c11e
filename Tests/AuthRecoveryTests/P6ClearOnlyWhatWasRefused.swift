import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct P6ClearOnlyWhatWasRefused {
    private static let refused = ScriptedTransport.Step.status(
        401,
        ["www-authenticate": "Bearer error=\"invalid_token\""]
    )

    @Test func aRefusedTokenIsClearedAndSaidSo() async throws {
        let credentials = Credentials(accessToken: "A", refreshToken: "R", expiresAt: Timestamp(secondsSinceEpoch: 0))
        let bench = Bench([Self.refused], credentials: credentials)
        let error = await #expect(throws: RecoveryError.self) { try await bench.send() }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(error?.remedies == [.reauthenticate])
        #expect(await bench.tokens.read().credentials == Credentials(refreshToken: "R"))
        #expect(bench.events.words.contains("clear access"))
        #expect(bench.transport.received.count == 1)
    }

    @Test func aLateRefusalOfTheOldTokenNeverClearsTheNewOne() async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "A"))
        let bench = Bench(
            [
                .run { _ in
                    // While the answer is on its way, somebody signs in.
                    try await tokens.update { $0.accessToken = "B" }
                    return .scripted(401, ["www-authenticate": "Bearer error=\"invalid_token\""])
                }
            ],
            tokens: tokens
        )
        #expect(try await bench.send().status == .ok)
        #expect(bench.sentTokens == ["Bearer A", "Bearer B"], "the call is replayed with the new token")
        #expect(await tokens.read().credentials.accessToken == "B")
        #expect(!bench.events.words.contains("clear access"))
    }

    @Test func theReplayHappensOnce() async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "A"))
        let step = ScriptedTransport.Step.run { received in
            let next = Secret("\(received.number)")
            try await tokens.update { $0.accessToken = next }
            return .scripted(401, ["www-authenticate": "Bearer error=\"invalid_token\""])
        }
        let bench = Bench([step, step, step, step], tokens: tokens)
        let error = await #expect(throws: RecoveryError.self) { try await bench.send() }
        #expect(error?.reason == .alreadyRepaired)
        #expect(bench.sentTokens == ["Bearer A", "Bearer 1"])
        #expect(await tokens.read().credentials.accessToken == "2")
    }

    @Test func aTokenThatWasSignedOutMeanwhileIsNotReplayed() async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "A"))
        let bench = Bench(
            [
                .run { _ in
                    try await tokens.update { $0.remove(.access) }
                    return .scripted(401)
                }
            ],
            tokens: tokens
        )
        await #expect(throws: RecoveryError.self) { try await bench.send() }
        #expect(bench.transport.received.count == 1)
    }

    /// What refuses nothing, however bad it looks.
    private static let harmless: [(String, ScriptedTransport.Step)] = [
        ("500", .status(500)), ("502 page", .status(502, ["content-type": "text/html"], body: "<html>")),
        ("503", .status(503, ["retry-after": "1"])), ("504", .status(504)), ("429", .status(429)),
        ("429 invalid_token", .status(429, ["www-authenticate": "Bearer error=\"invalid_token\""])),
        ("408", .status(408)), ("425", .status(425)), ("403", .status(403)),
        ("403 scope", .status(403, ["www-authenticate": "Bearer error=\"insufficient_scope\""])),
        ("400", .status(400, ["www-authenticate": "Bearer error=\"invalid_request\""])), ("404", .status(404)),
        ("400 client", .status(400, [:], body: #"{"error":"invalid_client"}"#)),
        ("401 page", .status(401, ["content-type": "text/html"], body: "<html>login</html>")),
        ("401 basic", .status(401, ["www-authenticate": "Basic realm=\"proxy\""])),
        ("401 nonce", .status(401, ["www-authenticate": "DPoP error=\"use_dpop_nonce\"", "dpop-nonce": "n"])),
        ("401 step up", .status(401, ["www-authenticate": "Bearer error=\"insufficient_user_authentication\""])),
        ("never sent", .fail(.cannotConnect, .neverSent)), ("reset", .fail(.connectionLost, .unknown)),
        ("truncated", .fail(.truncated, .answered)), ("timeout", .fail(.timedOut, .unknown)),
        ("certificate", .fail(.certificateRejected, .neverSent)), ("garbage", .fail(.notHTTP, .unknown)),
    ]

    @Test func nothingIsClearedByWhatRefusesNothing() async throws {
        for (name, step) in Self.harmless {
            let credentials = Credentials(accessToken: "A", refreshToken: "R", clientToken: "C", sessionID: "S")
            let bench = Bench([step, step, step], credentials: credentials)
            await #expect(throws: RecoveryError.self, "\(name)") { try await bench.send() }
            #expect(await bench.tokens.read().credentials == credentials, "\(name)")
            #expect(!bench.events.words.contains { $0.hasPrefix("clear") }, "\(name)")
        }
    }

    @Test func compareAndClearAnswersForTheCredentialThatWasRefusedAlone() async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "A", refreshToken: "R", ssoToken: "S"))
        let refused = try #require(await tokens.read().credentials.version(of: .access))
        try await tokens.update { $0.accessToken = "B" }
        #expect(try await tokens.clear(.access, ifVersion: refused) == false)
        // Another member changes: the refusal of the access token holds all the same.
        let current = try #require(await tokens.read().credentials.version(of: .access))
        try await tokens.update { $0.refreshToken = "R2" }
        #expect(try await tokens.clear(.access, ifVersion: current))
        try await tokens.update { $0.accessToken = "C" }
        let session = try #require(await tokens.read().credentials.version(of: .session))
        #expect(try await tokens.clear(.session, ifVersion: session), "the access token goes with the session")
        #expect(try await tokens.clear(.session, ifVersion: session) == false, "nothing to clear")
        #expect(await tokens.read().credentials == Credentials(refreshToken: "R2"))
    }

    @Test func manyLateRefusalsAndOneSignInLeaveTheNewToken() async throws {
        for _ in 0..<50 {
            let tokens = InMemoryTokenStore(Credentials(accessToken: "A"))
            let version = try #require(await tokens.read().credentials.version(of: .access))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask { _ = try await tokens.clear(.access, ifVersion: version) }
                }
                group.addTask { try await tokens.update { $0.accessToken = "B" } }
                try await group.waitForAll()
            }
            #expect(await tokens.read().credentials.accessToken == "B")
        }
    }
}

@Suite struct SessionRenewalTests {
    private func decision(_ change: (inout Outcome) -> Void, wasSent: Bool = true) -> FailureContext.Decision {
        var outcome = Outcome(.credentialRejected, processed: .no, remedies: [.refreshCredential, .reauthenticate])
        outcome.tokenAction = .clear
        change(&outcome)
        return SessionRenewal(InMemoryTokenStore()).decide(FailureContext(outcome: outcome, wasSent: wasSent))
    }

    @Test func itActsOnRefusedCredentialsAlone() {
        guard case .repair(let repair) = decision({ _ in }) else {
            Issue.record("a refused credential is repaired")
            return
        }
        #expect(repair.name == "refresh_credential")
        for kind in Outcome.Kind.allCases where kind != .credentialRejected {
            guard case .pass = decision({ $0.kind = kind }) else {
                Issue.record("\(kind) is not its business")
                continue
            }
        }
        guard case .pass = decision({ _ in }, wasSent: false) else {
            Issue.record("what was not sent was not refused")
            return
        }
    }

    @Test func aRefusalThatOnlyTheProviderCanSettleIsLeftToIt() {
        let decision = decision {
            $0.tokenAction = .keep
            $0.remedies = [.resync, .reauthenticate]
        }
        guard case .pass = decision else {
            Issue.record("there is nothing to clear and nothing to renew")
            return
        }
    }

    /// Where a provider's codes say more than HTTP does, they decide.
    @Test func aProvidersRuleDecidesInsteadOfTheStatus() {
        var forbidden = Outcome(.credentialRejected, processed: .no, remedies: [.reauthenticate], status: 403)
        (forbidden.credential, forbidden.tokenAction) = (.session, .clear)
        let ruled = SessionRenewal(TokenManager(store: InMemoryTokenStore())) { $0.credential == .session }
        func answers(_ policy: SessionRenewal, _ outcome: Outcome) -> Bool {
            if case .repair = policy.decide(FailureContext(outcome: outcome)) { true } else { false }
        }
        #expect(answers(ruled, forbidden))
        #expect(!answers(SessionRenewal(InMemoryTokenStore()), forbidden))
        forbidden.credential = .access
        #expect(!answers(ruled, forbidden))
        forbidden.credential = .session
        forbidden.kind = .permissionDenied
        #expect(!answers(ruled, forbidden), "no rule makes a refusal of something else")
    }
}

@Suite struct LockoutLedgerTests {
    private let clock = ManualClock()

    private func ledger() -> (LockoutLedger, Runtime) {
        let runtime = Runtime(time: clock.timeSource())
        return (LockoutLedger(runtime: runtime, origin: Bench.origin), runtime)
    }

    private func close(_ runtime: Runtime, _ name: String, for time: Duration?, origin: Origin = Bench.origin) async {
        await runtime.state.close(
            SharedState.Gate(
                key: SharedState.Gate.Key(scope: .account, origin: origin, name: name),
                reason: .accountLocked,
                opensAt: time.map { runtime.time.wallTime.advanced(by: $0) }
            )
        )
    }

    @Test func itTellsTheTimeThatIsLeft() async {
        let (ledger, runtime) = ledger()
        #expect(await ledger.lockout(of: "ada@example.com") == nil)
        await close(runtime, "ada@example.com", for: .seconds(60))
        #expect(await ledger.lockout(of: "  Ada@Example.COM\n") == .remaining(.seconds(60)))
        clock.advance(by: .seconds(59))
        #expect(await ledger.lockout(of: "ada@example.com") == .remaining(.seconds(1)))
        clock.advance(by: .seconds(1))
        #expect(await ledger.lockout(of: "ada@example.com") == nil)
    }

    @Test func oneWithoutAnEndStaysUntilItIsForgotten() async {
        let (ledger, runtime) = ledger()
        await close(runtime, "ada", for: nil)
        clock.advance(by: .seconds(3599))
        #expect(await ledger.lockout(of: "ada") == .indefinite)
        await ledger.forget("ADA")
        #expect(await ledger.lockout(of: "ada") == nil)
        // Where nobody says so, every store forgets it after an hour.
        await close(runtime, "ada", for: nil)
        clock.advance(by: .seconds(3600))
        #expect(await ledger.lockout(of: "ada") == nil)
    }

    @Test func anotherAccountOrOriginIsNotConcerned() async {
        let (ledger, runtime) = ledger()
        await close(runtime, "ada", for: nil)
        await close(runtime, "grace", for: nil, origin: Origin(scheme: "https", authority: "other.example.com"))
        #expect(await ledger.lockout(of: "grace") == nil)
        #expect(await ledger.lockout(of: "") == nil)
    }

    @Test(arguments: [("A b", "a b"), ("\u{A0}x\t", "x"), ("", ""), ("É", "é"), ("+1 555", "+1 555")])
    func theNameOfAnAccountDoesNotDependOnSpelling(identifier: String, account: String) {
        #expect(LockoutLedger.account(for: identifier) == account)
    }
}
