import AuthRecovery
import AuthSandbox
import CurlTransport
import HTTPRecovery
import HTTPTypes
import Testing

/// Ten thousand requests against a server that rotates refresh tokens and detects their reuse, while everything that
/// can go wrong does.
@Suite(.serialized, .bounded) struct RenewalSoakTests {
    @Test func aUsedRefreshTokenIsNeverPresentedOutsideTheGrace() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        // A short grace, so that the soak gets past it.
        sandbox.updateSettings { settings in
            settings.oauth.grace = 400
            settings.oauth.accessLifetime = 60
        }
        let transport = CurlTransport()
        let store = InMemoryTokenStore(try Self.issue(sandbox))
        let oauth = OAuthClient(
            server: try OAuthServer(endpoints: [.token: sandbox.url + "/oauth/token"]),
            clientID: "cli",
            client: RecoveringClient(transport: transport)
        )
        let tokens = TokenManager(
            store: store,
            renewer: RefreshTokenGrant(client: oauth, reuse: .rotating(grace: .milliseconds(400))),
            options: TokenManager.RenewalOptions(
                leeway: .milliseconds(10),
                cooldown: .milliseconds(20),
                limit: 1_000_000
            )
        )
        let request = try HTTPRequest(url: sandbox.url + "/api/items")
        let client = RecoveringClient(transport: transport) {
            Recovery(budget: .ratio(.init(ratio: 1, burst: 1_000_000))) {
                SessionRenewal(tokens)
                TransientRetry()
            }
            Authorization(tokens, audience: [Origin(of: request)])
            AttemptTimeout(.seconds(10))
        }
        var random = SplitMix(seed: 11)
        var counts = Counts()
        // In milliseconds; longer where the machine is so busy that no token lives until it is used.
        var lifetime: Int64 = 60
        let total = 10_000
        let batch = 100
        for _ in 0..<(total / batch) {
            Self.plant(in: sandbox, &random)
            let before = counts.ok
            let cancels = (0..<batch).map { _ in random.next() % 10 == 0 }
            await withTaskGroup(of: Counts.self) { group in
                for cancels in cancels {
                    group.addTask {
                        let call = Task { try await client.send(request) }
                        if cancels {
                            await Task.yield()
                            call.cancel()
                        }
                        return Counts(await call.result)
                    }
                }
                for await count in group { counts.add(count) }
            }
            sandbox.clearFaults()
            lifetime = counts.ok == before ? min(lifetime * 2, 2000) : max(lifetime / 2, 60)
            sandbox.updateSettings { [lifetime] in $0.oauth.accessLifetime = lifetime }
            // Who cannot be helped signs in again.
            if counts.signIns > counts.signedInAgain {
                counts.signedInAgain = counts.signIns
                await tokens.finish()
                let fresh = try Self.issue(sandbox)
                try await store.update { $0 = fresh }
            }
        }
        await tokens.finish()
        await transport.shutdown()
        let server = sandbox.oauthCounters()
        print("soak: \(counts); server: \(server)")
        #expect(counts.total == total)
        #expect(server.violations == 0)
        #expect(server.familiesRevoked == 0)
        // The soak has been through what it is about.
        #expect(server.refreshes > 30)
        // On a busy machine the grace of 400 ms may be over whenever an answer that was lost could be asked for again:
        // then a person has to sign in each time.
        #expect(server.graceReuses > 0 || counts.signIns > 0)
        #expect(counts.cancelled > 0)
        #expect(counts.ok > 0)
    }

    /// What goes wrong in the next requests.
    private static func plant(in sandbox: AuthSandbox, _ random: inout SplitMix) {
        let token: [SandboxFault.Kind] = [.resetBefore, .resetAfter, .closeAfter, .truncate, .status, .html, .empty]
        let any: [SandboxFault.Kind] = [.resetBefore, .resetAfter, .status, .truncate]
        for _ in 0..<(random.next() % 3) {
            var fault = SandboxFault(token[Int(random.next() % UInt64(token.count))], path: "/oauth/token")
            fault.times = Int64(1 + random.next() % 4)
            fault.skip = Int64(random.next() % 2)
            sandbox.add(fault)
        }
        for _ in 0..<(random.next() % 3) {
            var fault = SandboxFault(any[Int(random.next() % UInt64(any.count))], path: "/api/")
            fault.times = Int64(1 + random.next() % 5)
            fault.skip = Int64(random.next() % 50)
            sandbox.add(fault)
        }
    }

    private static func issue(_ sandbox: AuthSandbox) throws -> Credentials {
        let tokens = try sandbox.issueTokens(for: "ada@example.com")
        return Credentials(
            accessToken: Secret(tokens.accessToken),
            refreshToken: tokens.refreshToken.map { Secret($0) }
        )
    }

    private struct Counts: Sendable {
        var ok = 0
        var cancelled = 0
        var failed = 0
        var signIns = 0
        var signedInAgain = 0

        init() {}

        init(_ result: Result<RecoveredResponse, any Error>) {
            switch result {
            case .success: ok = 1
            case .failure(let error) where error is CancellationError: cancelled = 1
            case .failure(let error):
                failed = 1
                if (error as? RecoveryError)?.kind == .reauthenticationRequired { signIns = 1 }
            }
        }

        var total: Int { ok + cancelled + failed }

        mutating func add(_ other: Counts) {
            ok += other.ok
            cancelled += other.cancelled
            failed += other.failed
            signIns += other.signIns
        }
    }
}

/// Numbers that repeat themselves.
private struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
