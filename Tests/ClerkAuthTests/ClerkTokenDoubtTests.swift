import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Session tokens while it is not known whether the session lives, and while several sessions do.
@Suite struct ClerkTokenDoubtTests {
    private static let signedIn = Credentials(clientToken: "T0", sessionID: "sess_1")
    private static let refusal = ScriptedTransport.Step.error("authentication_invalid", status: 401)

    /// What leaves it open whether the session lives.
    private static let doubts: [[ScriptedTransport.Step]] = [
        [refusal, .status(500)], [refusal, .fail(.cannotConnect, .neverSent)], [refusal, .status(200, [:], body: "5")],
        [refusal, .client(["sess_1"]), refusal],
    ]

    private func bench(_ steps: [ScriptedTransport.Step], _ configuration: ClerkConfiguration = ClerkConfiguration())
        throws -> ClerkBench
    {
        try ClerkBench(steps, credentials: Self.signedIn, configuration: configuration) { Recovery(maxAttempts: 1) }
    }

    // MARK: In doubt

    @Test(arguments: doubts.indices)
    func inDoubtATokenThatLivesStillServes(index: Int) async throws {
        let bench = try bench([.token(1)] + Self.doubts[index])
        let first = try await bench.clerk.sessionToken()
        bench.clock.advance(by: .seconds(55))
        #expect(try await bench.clerk.sessionToken() == first)
        #expect(bench.transport.received.count == 1 + Self.doubts[index].count)
    }

    @Test(.timeLimit(.minutes(30)), arguments: doubts.indices)
    func aDoubtDoesNotEndTheRenewing(index: Int) async throws {
        let bench = try bench(Self.doubts[index] + [.token(1)] + Self.doubts[index] + [.token(2, issuedAt: 60)])
        let stream = bench.clerk.sessionTokens()
        let tokens = try await bench.skippingWaits {
            var tokens: [String] = []
            for try await token in stream {
                tokens.append(token.jwt.reveal())
                if tokens.count == 2 { break }
            }
            return tokens
        }
        #expect(tokens == [SessionJWT.of(1), SessionJWT.of(2, issuedAt: 60)])
    }

    @Test func aRenewerTellsAnOutageAsAnOutage() async throws {
        let bench = try bench([Self.refusal, .status(500)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.operation { try await ClerkTokenRenewer(bench.clerk).renew(Credentials(), in: $0) }
        }
        #expect(error?.kind == .unavailable)
        #expect(try await bench.credentials == Self.signedIn)
    }

    // MARK: The seed

    @Test(arguments: [true, false])
    func theTokenOfATemplateIsNoSeed(sendsPreviousToken: Bool) async throws {
        let refusals: [ScriptedTransport.Step] = sendsPreviousToken ? [] : [.error("missing_expired_token")]
        let bench = try bench(
            [.token(1), .token(2, issuedAt: 1)] + refusals + [.token(3, issuedAt: 60)],
            ClerkConfiguration(sendsPreviousToken: sendsPreviousToken)
        )
        _ = try await bench.clerk.sessionToken()
        _ = try await bench.clerk.sessionToken(template: "x")
        bench.clock.advance(by: .seconds(60))
        _ = try await bench.clerk.sessionToken()
        let sent = bench.transport.received.map { "\($0.text) \($0.request.path ?? "")" }
        #expect(sent.last?.contains(SessionJWT.of(1)) == true)
        #expect(!sent.contains { $0.contains(SessionJWT.of(2, issuedAt: 1)) })
    }

    // MARK: One at a time

    @Test(.timeLimit(.minutes(30)))
    func nobodyMintsBetweenTheEndOfAMintAndItsKeeping() async throws {
        let rounds = 400
        let bench = try bench((1...rounds * 8).map { .token($0) })
        for round in 0..<rounds {
            await withTaskGroup(of: Void.self) { group in
                for turn in 0..<8 {
                    group.addTask {
                        for _ in 0..<turn * 3 { await Task.yield() }
                        _ = try? await bench.clerk.sessionToken(template: "t\(round)")
                    }
                }
            }
        }
        #expect(bench.transport.received.count == rounds)
    }

    @Test(.timeLimit(.minutes(30)), arguments: ["signed out", "told of", "expired"])
    func whatEndsAnotherSessionLeavesThisOnesTokenOnItsWay(how: String) async throws {
        let gate = Latch()
        let other = SessionJWT.body(9, session: "sess_2")
        let body = "{\"response\":\(ClerkJSON.client(["sess_1", "sess_2"])),\"client\":null}"
        let bench = try bench([
            .status(200, [:], body: other),
            .run { _ in
                await gate.wait()
                return .scripted(200, [:], body: SessionJWT.body(1))
            },
            how == "told of" ? .client(["sess_1"]) : .status(200, [:], body: how == "expired" ? body : ""),
        ])
        _ = try await bench.clerk.sessionToken(of: "sess_2")
        let late = Task { try await bench.clerk.sessionToken() }
        await bench.transport.waitForRequests(2)
        switch how {
        case "signed out": try await bench.clerk.signOut(sessionID: "sess_2")
        case "told of": _ = try await bench.clerk.currentClient()
        default: _ = try await bench.clerk.activate(sessionID: "sess_2", organizationID: "org_1")
        }
        await gate.open()
        let token = try await late.value
        try await bench.tokens.update { $0.sessionID = "sess_1" }
        #expect(try await bench.clerk.sessionToken() == token)
        #expect(bench.transport.received.count == 3)
    }

    @Test(.timeLimit(.minutes(30)))
    func aSessionThatEndsMeanwhileLeavesNoTokenThoughItIsItsFirst() async throws {
        let gate = Latch()
        let bench = try bench([
            .run { _ in
                await gate.wait()
                return .scripted(200, [:], body: SessionJWT.body(1))
            },
            .client([]), .token(2),
        ])
        let late = Task { try await bench.clerk.sessionToken(skippingCache: true) }
        await bench.transport.waitForRequests(1)
        _ = try await bench.clerk.currentClient()
        await gate.open()
        _ = try await late.value
        #expect(try await bench.clerk.sessionToken().jwt.reveal() == SessionJWT.of(2))
    }
}
