#if Observability
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import InMemoryTracing
import MetricsTestKit
import RecoveryObservability
import ServiceContextModule
import Testing
import Tracing

/// One span an attempt, under one of the call.
@Suite struct SpanTests {
    @Test func eachAttemptHasASpanUnderThatOfItsCall() async throws {
        let watched = Watched([.status(503, ["retry-after": "2"]), .status(200)])
        try await watched.send()
        let call = try #require(watched.calls.first)
        #expect(watched.calls.count == 1)
        #expect(watched.attempts.map(\.operationName) == ["GET", "GET"])
        #expect(watched.attempts.map(\.parentSpanID) == [call.spanID, call.spanID])
        #expect(watched.attempts.map { $0.text("http.response.status_code") } == ["503", "200"])
        #expect(watched.attempts.map { $0.text("http.request.resend_count") } == [nil, "1"])
        #expect(watched.attempts.map { $0.text("error.type") } == ["unavailable", nil])
        #expect(watched.attempts.map { $0.text("recovery.cause") } == ["call", "unavailable"])
        #expect(watched.attempts.map { $0.status?.code == .error } == [true, false])
        for attempt in watched.attempts {
            #expect(attempt.text("http.request.method") == "GET")
            #expect(attempt.text("server.address") == "api.example.com")
            #expect(attempt.text("server.port") == "443")
            #expect(attempt.text("url.full") == "https://api.example.com/v1/me")
        }
        #expect(call.text("error.type") == nil)
        #expect(watched.tracer.activeSpans.isEmpty)
    }

    @Test func eachRequestCarriesItsOwnSpan() async throws {
        let watched = Watched([.fail(.connectionLost, .notProcessed), .status(200)])
        try await watched.send()
        let name = try #require(HTTPField.Name(InMemoryTracer.spanIDKey))
        #expect(watched.transport.received.map { $0.request.headerFields[name] } == watched.attempts.map(\.spanID))
        #expect(watched.attempts.map { $0.text("error.type") } == ["transport", nil])
    }

    @Test func aCallBelongsToTheSpanAroundIt() async throws {
        let watched = Watched([])
        let outer = watched.tracer.startSpan("outer")
        try await ServiceContext.withValue(outer.context) { _ = try await watched.client.send(Watched.get) }
        #expect(watched.calls.first?.parentSpanID == outer.context.inMemorySpanContext?.spanID)
        outer.end()
    }

    @Test func cancellationIsNoError() async throws {
        let watched = Watched([.hang])
        let call = Task { try await watched.client.send(Watched.get) }
        await watched.transport.waitForRequests(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(watched.attempts.count == 1)
        for span in watched.tracer.finishedSpans {
            #expect(span.text("error.type") == nil)
            #expect(span.status == nil)
            #expect(span.errors.isEmpty)
            #expect(span.text("recovery.result") == "cancelled")
        }
        #expect(watched.metrics.timers(label: "http.client.request.duration").isEmpty)
        #expect(watched.metrics.counters(label: "http.recovery.failures").isEmpty)
    }

    @Test func aCallThatIsGivenUpSaysWhy() async throws {
        let watched = Watched([], then: .status(500))
        await #expect(throws: RecoveryError.self) {
            try await watched.send(HTTPRequest(method: .post, scheme: "https", authority: "a.example", path: "/"))
        }
        let call = try #require(watched.calls.first)
        #expect(call.text("error.type") == "unavailable")
        #expect(call.text("recovery.reason") == "method_not_idempotent")
        #expect(call.status?.code == .error)
    }

    @Test func aStreamedBodyEndsItsSpan() async throws {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: ArraySlice<UInt8>.self)
        let watched = Watched([
            .run { _ in
                TransportResponse(head: HTTPResponse(status: .ok), body: MessageBody(once: stream))
            }
        ])
        let response = try await watched.client.send(Watched.get, options: RequestOptions(buffering: .streamed))
        #expect(watched.attempts.isEmpty, "its body is still on the way")
        #expect(watched.durations.isEmpty && watched.activeRequests == 1)
        continuation.yield([1, 2, 3])
        watched.clock.advance(by: .seconds(5))
        continuation.finish(throwing: TransportError(.truncated, .answered))
        await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 10) }
        #expect(watched.attempts.map { $0.text("error.type") } == ["transport"])
        #expect(watched.durations == ["200 transport 5.0"] && watched.activeRequests == 0)
    }

    /// Of a body that is longer than what is read beforehand, as of one that is streamed.
    @Test(arguments: [RequestOptions.Buffering.streamed, .upTo(2)])
    func aDurationIsThatOfTheWholeBody(buffering: RequestOptions.Buffering) async throws {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: ArraySlice<UInt8>.self)
        continuation.yield([1, 2, 3])
        let watched = Watched([
            .run { _ in TransportResponse(head: HTTPResponse(status: .ok), body: MessageBody(once: stream)) }
        ])
        let response = try await watched.client.send(Watched.get, options: RequestOptions(buffering: buffering))
        #expect(watched.attempts.isEmpty && watched.durations.isEmpty)
        watched.clock.advance(by: .seconds(7))
        continuation.finish()
        #expect(try await response.body.collect(upTo: 10) == [1, 2, 3])
        #expect(watched.attempts.count == 1 && watched.durations == ["200 - 7.0"])
    }

    @Test func aBodyWhoseReaderIsCancelledHasNoDuration() async throws {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: ArraySlice<UInt8>.self)
        let watched = Watched([
            .run { _ in TransportResponse(head: HTTPResponse(status: .ok), body: MessageBody(once: stream)) }
        ])
        let response = try await watched.client.send(Watched.get, options: RequestOptions(buffering: .streamed))
        continuation.finish(throwing: CancellationError())
        await #expect(throws: CancellationError.self) { try await response.body.collect(upTo: 10) }
        #expect(watched.attempts.map { $0.text("recovery.result") } == ["cancelled"])
        #expect(watched.attempts.map { $0.text("error.type") } == [nil])
        #expect(watched.durations.isEmpty && watched.activeRequests == 0)
        #expect(watched.metrics.counterTotal(label: "http.recovery.attempts") == 1)
    }

    @Test func aBodyThatIsDroppedEndsItsSpan() async throws {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: ArraySlice<UInt8>.self)
        let watched = Watched([
            .run { _ in
                TransportResponse(head: HTTPResponse(status: .ok), body: MessageBody(once: stream))
            }
        ])
        func status() async throws -> Int {
            try await watched.client.send(Watched.get, options: RequestOptions(buffering: .streamed)).status.code
        }
        #expect(try await status() == 200)
        #expect(watched.attempts.map { $0.text("error.type") } == [nil])
        #expect(watched.durations == ["200 - 0.0"] && watched.activeRequests == 0)
        continuation.finish()
    }

    @Test func hedgesAreSpansBesideEachOther() async throws {
        let watched = Watched([.hang, .status(200)]) {
            Recovery(hedging: .init(after: .milliseconds(100)))
        }
        try await watched.send()
        let call = try #require(watched.calls.first)
        #expect(watched.attempts.count == 2)
        #expect(Set(watched.attempts.map(\.parentSpanID)) == [call.spanID])
        #expect(Set(watched.attempts.map { $0.text("recovery.cause") }) == ["call", "hedge"])
        #expect(watched.attempts.allSatisfy { $0.text("error.type") == nil })
    }

    @Test func aRedirectIsASpanOfItsOwn() async throws {
        let watched = Watched([.status(302, ["location": "https://other.example.com/?code=hunter2"]), .status(200)]) {
            Redirects()
            Recovery()
        }
        try await watched.send()
        #expect(watched.attempts.map { $0.text("server.address") } == ["api.example.com", "other.example.com"])
        #expect(watched.attempts.map { $0.text("http.request.resend_count") } == [nil, "1"])
        #expect(watched.attempts.map { $0.text("recovery.cause") } == ["call", "follow_up"])
        let name = try #require(HTTPField.Name(InMemoryTracer.spanIDKey))
        #expect(watched.transport.received.map { $0.request.headerFields[name] } == watched.attempts.map(\.spanID))
        #expect(!watched.everything.contains("hunter2"))
    }

    @Test func unknownMethodsAreOneWord() async throws {
        let watched = Watched([])
        let method = try #require(HTTPRequest.Method("SECRETVERB"))
        try await watched.send(HTTPRequest(method: method, scheme: "http", authority: "[::1]:8080", path: "/"))
        let span = try #require(watched.attempts.first)
        #expect(span.operationName == "HTTP")
        #expect(span.text("http.request.method") == "_OTHER")
        #expect(span.text("server.address") == "::1", "the brackets are the URL's")
        #expect(span.text("server.port") == "8080")
    }

    /// What it was measured on is told of an attempt that failed, too.
    @Test(arguments: [false, true])
    func theConnectionIsTold(fails: Bool) async throws {
        struct Measuring: HTTPTransport {
            let fails: Bool
            let name = "measuring"

            func send(_: HTTPRequest, body _: MessageBody?, options _: AttemptOptions) async throws -> TransportResponse
            {
                var metrics = History.AttemptMetrics()
                (metrics.httpVersion, metrics.remoteAddress, metrics.remotePort) = ("2", "192.0.2.1", 443)
                if fails {
                    var error = TransportError(.cannotConnect, .neverSent)
                    error.metrics = metrics
                    throw error
                }
                return TransportResponse(head: HTTPResponse(status: .ok), report: Report(metrics: metrics))
            }
        }
        final class Report: TransportResponse.Report {
            let metrics: History.AttemptMetrics?
            let trailers: HTTPFields? = nil

            init(metrics: History.AttemptMetrics) { self.metrics = metrics }
        }
        let watched = Watched([])
        let client = RecoveringClient(
            transport: Measuring(fails: fails),
            runtime: .manual(watched.clock),
            observability: watched.observability
        ) {}
        _ = try? await client.send(Watched.get)
        let attempt = try #require(watched.attempts.first)
        #expect(attempt.text("network.protocol.version") == "2")
        #expect(attempt.text("network.peer.address") == "192.0.2.1")
        #expect(attempt.text("network.peer.port") == "443")
    }
}
#endif
