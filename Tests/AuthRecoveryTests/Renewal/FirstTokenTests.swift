import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A service without a token, whose authorization server does not give it one.
@Suite struct FirstTokenTests {
    private struct Answer {
        var status: Int
        var fields: [String: String] = [:]
        var body = ""
    }

    private struct Worker {
        let clock = ManualClock()
        let transport: ScriptedTransport
        let client: RecoveringClient
        let events: EventRecorder

        /// - Parameter answers: What the token endpoint says, one after the other; then it gives tokens out.
        init(_ answers: [Answer]) throws {
            let left = Locked(answers)
            transport = ScriptedTransport(
                then: .run { received in
                    guard received.request.path == "/token" else { return .scripted(200) }
                    let token = Answer(
                        status: 200,
                        body: #"{"access_token":"T1","token_type":"Bearer","expires_in":3600}"#
                    )
                    let answer = left.withLock { $0.isEmpty ? token : $0.removeFirst() }
                    return .scripted(answer.status, answer.fields, body: answer.body)
                }
            )
            let runtime = Runtime(time: clock.timeSource(), random: Runtime.RandomSource(seed: 1))
            let identity = RecoveringClient(transport: transport, runtime: runtime)
            let oauth = OAuthClient(
                server: try OAuthServer(endpoints: [.token: "https://id.example.com/token"]),
                clientID: "service",
                authentication: .clientSecretBasic("s"),
                client: identity
            )
            let tokens = TokenManager(store: InMemoryTokenStore(), renewer: ClientCredentialsGrant(client: oauth))
            let audience = try Origin(url: "https://api.example.com")
            client = RecoveringClient(transport: transport, runtime: runtime) {
                Deadline(.seconds(60))
                Recovery(maxAttempts: 6) {
                    RateLimitBackoff()
                    SessionRenewal(tokens)
                    TransientRetry()
                }
                Authorization(tokens, audience: [audience])
                AttemptTimeout(.seconds(10))
            }
            events = EventRecorder(runtime.events)
        }

        func asked(_ path: String) -> Int { transport.received.count { $0.request.path == path } }

        func send() async throws -> RecoveredResponse {
            try await clock.skippingWaits {
                try await client.send(HTTPRequest(url: "https://api.example.com/orders"))
            }
        }
    }

    @Test func anOutageIsToldAsOneAndTheAPIIsNotAsked() async throws {
        let worker = try Worker(Array(repeating: Answer(status: 503), count: 100))
        let error = await #expect(throws: RecoveryError.self) { try await worker.send() }
        #expect(error?.kind == .unavailable && error?.reason == .repairFailed)
        #expect(error?.remedies.contains(.reauthenticate) == false)
        #expect((error?.cause as? RecoveryError)?.reason == .attemptsExhausted)
        #expect(worker.asked("/orders") == 0)
        #expect(worker.asked("/token") == 3, "the attempts of one client, and not of two above each other")
        #expect(!worker.events.words.contains { $0.hasPrefix("done ok") }, "\(worker.events.words)")
    }

    @Test func aWrongSecretIsToldAsOne() async throws {
        let worker = try Worker([Answer(status: 401, body: #"{"error":"invalid_client"}"#)])
        let error = await #expect(throws: RecoveryError.self) { try await worker.send() }
        #expect(error?.kind == .misconfigured && error?.outcome.code == "invalid_client")
        #expect((error?.cause as? RecoveryError)?.outcome.code == "invalid_client")
        #expect(worker.asked("/orders") == 0 && worker.asked("/token") == 1)
        #expect(!worker.events.words.contains { $0.hasPrefix("done ok") }, "\(worker.events.words)")
        // The next call is told the same after a moment, or gets its token if that was mended.
        #expect(try await worker.send().status == .ok)
        #expect(worker.asked("/orders") == 1 && worker.asked("/token") == 2)
    }

    @Test func aPassingFailureIsOutlived() async throws {
        let worker = try Worker([Answer(status: 503), Answer(status: 429, fields: ["retry-after": "5"])])
        #expect(try await worker.send().status == .ok)
        #expect(worker.asked("/orders") == 1 && worker.asked("/token") == 3)
        #expect(worker.clock.now.offset >= .seconds(5))
    }

    /// The first try has been sent and has told something; the second has not.
    @Test func aRenewalThatNothingPaysForAgainEndsAsTheFirstTry() async throws {
        let bench = try OAuthBench([.fail(.connectionLost, .unknown)]) {
            Recovery(budget: .ratio(.init(ratio: 0, burst: 0)))
        }
        let store = InMemoryTokenStore(Credentials(accessToken: "A", refreshToken: "R"))
        let renewer = RefreshTokenGrant(client: bench.oauth, reuse: .reusable)
        let tokens = TokenManager(store: store, renewer: renewer)
        let error = try await bench.failure { try await tokens.renew(by: bench.client) }
        #expect(error.kind == .transport && error.outcome.processed == .unknown)
        #expect((error.cause as? RecoveryError)?.reason == .processedUnknown)
        #expect(bench.transport.received.count == 1)
    }

    @Test func whoWaitsForTheSameTokenIsToldTheSame() async throws {
        let worker = try Worker(Array(repeating: Answer(status: 503), count: 3))
        let kinds = await withTaskGroup(of: Outcome.Kind?.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    do {
                        _ = try await worker.client.send(HTTPRequest(url: "https://api.example.com/orders"))
                        return .ok
                    } catch { return (error as? RecoveryError)?.kind }
                }
            }
            return try? await worker.clock.skippingWaits {
                var kinds: [Outcome.Kind?] = []
                for await kind in group { kinds.append(kind) }
                return kinds
            }
        }
        #expect(
            kinds?.count == 10 && kinds?.allSatisfy { $0 == .unavailable || $0 == .ok } == true,
            "\(String(describing: kinds))"
        )
        #expect(worker.asked("/token") <= 4)
    }
}
