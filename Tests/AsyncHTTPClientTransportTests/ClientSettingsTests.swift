#if AsyncHTTPClient
import AsyncHTTPClient
import AsyncHTTPClientTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import InMemoryTracing
import NIOCore
import Testing
import Tracing

/// What the client would do by itself, and the layers above do.
@Suite(.timeLimit(.minutes(30)))
struct ClientSettingsTests {
    /// A program has one tracer, and it can be named once.
    private static let tracer: InMemoryTracer = {
        let tracer = InMemoryTracer()
        InstrumentationSystem.bootstrap(tracer)
        return tracer
    }()

    /// The client has the program's tracer unless it is told otherwise.
    @Test
    func theClientHasNoSpan() async throws {
        let server = try FaultServer(.answer(), .reset, .answer())
        let tracer = Self.tracer
        let transport = AsyncHTTPClientTransport.patient()
        _ = try await transport.fetch(.to(server.authority))
        _ = try await transport.failure(.to(server.authority))
        await transport.shutdown()
        // Other tests have spans, too.
        func spans() -> Int { tracer.finishedSpans.count { "\($0.attributes)".contains("\(server.port)") } }
        #expect(spans() == 0)
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        _ = try await client.get(url: "http://\(server.authority)/").get()
        try await client.shutdown()
        #expect(spans() == 1)
        #expect(server.receivedRequests.count == 3)
    }

    /// It would try until its time is over.
    @Test(arguments: ["http", "https"])
    func aConnectionThatFailsIsNotTriedAgain(scheme: String) async throws {
        let server = try FaultServer(plan: { _ in .reset(afterBytes: 1) }, reply: { _ in .answer() })
        let transport = AsyncHTTPClientTransport(configuration: .init(connectTimeout: .seconds(20)))
        let error = try await transport.failure(.to(server.authority, .post, scheme: scheme), MessageBody("x"))
        #expect(error.code != .timedOut)
        #expect(error.certainty == (scheme == "https" ? .neverSent : .unknown))
        #expect(server.connectionCount == 1)
    }
}
#endif
