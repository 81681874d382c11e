import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Synchronization
import Testing

@Suite struct AuthorizationTests {
    @Test func itAttachesTheTokenToItsAudience() async throws {
        let bench = Bench()
        _ = try await bench.send()
        #expect(bench.sentTokens == ["Bearer A"])
        let field = bench.transport.received.first?.request.headerFields[fields: .authorization].first
        #expect(field?.indexingStrategy == .disallow, "kept out of the compression tables")
    }

    @Test(arguments: [
        "https://other.example.com/", "http://api.example.com/", "https://api.example.com:8443/",
        "https://api.example.com.evil.example/", "https://xapi.example.com/",
    ])
    func noOtherOriginEverSeesIt(url: String) async throws {
        let bench = Bench()
        _ = try await bench.send(HTTPRequest(url: url))
        #expect(bench.sentTokens == [nil])
    }

    @Test(arguments: ["https://API.example.com/x", "https://api.example.com:443/x"])
    func theSameOriginInAnotherSpellingDoes(url: String) async throws {
        let bench = Bench()
        _ = try await bench.send(HTTPRequest(url: url))
        #expect(bench.sentTokens == ["Bearer A"])
    }

    @Test func itNeverOverridesTheRequestsOwn() async throws {
        let bench = Bench([.status(401)])
        var request = Bench.get
        request.headerFields[.authorization] = "Basic eDp5"
        let error = await #expect(throws: RecoveryError.self) { try await bench.send(request) }
        #expect(bench.sentTokens == ["Basic eDp5"])
        #expect(await bench.tokens.read().credentials.accessToken == "A", "what was refused is not the stored token")
        #expect(error?.kind == .reauthenticationRequired)
    }

    @Test(arguments: [Credentials(), Credentials(accessToken: ""), Credentials(refreshToken: "R")])
    func withoutATokenItSendsNone(credentials: Credentials) async throws {
        let bench = Bench(credentials: credentials)
        _ = try await bench.send()
        #expect(bench.sentTokens == [nil])
    }

    @Test func itReportsTheVersionThatItPresents() async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "A"))
        try await tokens.update { $0.accessToken = "B" }
        let context = CallContext(runtime: Runtime())
        let record = context.record
        let layer = Authorization(tokens, audience: [Bench.origin])
        _ = try await layer.intercept(
            Bench.get,
            body: nil,
            context: context,
            next: Next { request, _, _ in
                #expect(request.headerFields[.authorization] == "Bearer B")
                return RecoveredResponse(head: HTTPResponse(status: .ok), body: .empty)
            }
        )
        #expect(record.presented?.kind == .access)
        #expect(record.presented?.version == (await tokens.read()).credentials.version(of: .access))
    }

    @Test func eachAttemptCarriesTheNewestToken() async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "A"))
        let bench = Bench(
            [
                .run { _ in
                    try await tokens.update { $0.accessToken = "B" }
                    return .scripted(503)
                }
            ],
            tokens: tokens
        )
        _ = try await bench.send()
        #expect(bench.sentTokens == ["Bearer A", "Bearer B"])
    }

    @Test func aStoreThatFailsFailsTheCallAndSendsNothing() async throws {
        let bench = Bench(tokens: FailingStore())
        let error = await #expect(throws: RecoveryError.self) { try await bench.send() }
        #expect(error?.cause as? Credentials.StoreError == Credentials.StoreError("the disk is gone"))
        #expect(error?.kind == .misconfigured)
        #expect(error?.description == "misconfigured reason=not_recoverable attempts=0 cause=StoreError")
        #expect(bench.transport.received.isEmpty)
    }
}

/// A store whose disk is gone.
struct FailingStore: TokenStore {
    func read() async throws -> Credentials.Stored {
        throw Credentials.StoreError("the disk is gone")
    }

    func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored? {
        throw Credentials.StoreError("the disk is gone")
    }

    func acquireLease(for duration: Duration, time: TimeSource) async throws -> (any Credentials.Lease)? {
        throw Credentials.StoreError("the disk is gone")
    }
}
