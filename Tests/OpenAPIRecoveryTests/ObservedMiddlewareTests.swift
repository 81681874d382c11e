#if Observability
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import InMemoryTracing
import OpenAPIRecovery
import OpenAPIRuntime
import RecoveryObservability
import ServiceContextModule
import Testing
import Tracing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a middleware tells a service's traces and whoever reads its events.
@Suite struct ObservedMiddlewareTests {
    /// A transport of somebody else's that takes note of the span it is called in.
    private final class TracedTransport: ClientTransport {
        typealias Seen = (span: String?, field: String?)

        private let seen = Locked<[Seen]>([])
        private let field: HTTPField.Name

        init(_ field: HTTPField.Name) { self.field = field }

        var all: [Seen] { seen.withLock { $0 } }

        func send(
            _ request: HTTPRequest,
            body: HTTPBody?,
            baseURL: URL,
            operationID: String
        ) async throws -> (HTTPResponse, HTTPBody?) {
            let span = ServiceContext.current?.inMemorySpanContext?.spanID
            let number = seen.withLock { seen in
                seen.append((span, request.headerFields[field]))
                return seen.count
            }
            return (HTTPResponse(status: number == 1 ? .serviceUnavailable : .notFound), nil)
        }
    }

    @Test func anOperationHasASpanWithItsAttemptsAroundTheTransport() async throws {
        let (tracer, clock) = (InMemoryTracer(), ManualClock())
        let transport = TracedTransport(try #require(HTTPField.Name(InMemoryTracer.spanIDKey)))
        let middleware = RecoveringMiddleware(
            runtime: .manual(clock),
            observability: Observability(logger: nil, metrics: nil, tracer: tracer)
        )
        let url = try #require(URL(string: "https://notes.example/v1"))
        let api = Client(serverURL: url, transport: transport, middlewares: [middleware])
        let outer = tracer.startSpan("outer")
        let output = try await ServiceContext.withValue(outer.context) {
            try await clock.skippingWaits { try await api.getNote(.init(path: .init(id: "1"))) }
        }
        outer.end()
        #expect(output == .notFound)
        let calls = tracer.finishedSpans.filter { $0.operationName == "http.recovery.call" }
        let attempts = tracer.finishedSpans.filter { $0.kind == .client }
        #expect(calls.count == 1 && attempts.count == 2)
        #expect(calls.map(\.parentSpanID) == [outer.context.inMemorySpanContext?.spanID])
        #expect(attempts.map(\.parentSpanID) == calls.map(\.spanID) + calls.map(\.spanID))
        #expect(calls.first?.attributes.get("recovery.label")?.toSpanAttribute() == "getNote")
        #expect(transport.all.map(\.span) == attempts.map(\.spanID))
        #expect(transport.all.map(\.field) == attempts.map(\.spanID))
    }

    @Test func theEventsOfItsOperationsCanBeRead() async throws {
        let clock = ManualClock()
        let middleware = RecoveringMiddleware(runtime: .manual(clock))
        let url = try #require(URL(string: "https://notes.example/v1"))
        let transport = TracedTransport(try #require(HTTPField.Name("x-span")))
        let api = Client(serverURL: url, transport: transport, middlewares: [middleware])
        var events = middleware.events.makeAsyncIterator()
        _ = try await clock.skippingWaits { try await api.getNote(.init(path: .init(id: "1"))) }
        let first = try #require(await events.next())
        #expect(first.label == "getNote" && first.call == 1)
    }
}
#endif
