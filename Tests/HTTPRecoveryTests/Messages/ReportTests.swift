import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What a transport learns beside head and body reaches the caller, whatever stands between them.
@Suite struct ReportTests {
    /// Knows its trailers when the body was read.
    private final class Report: TransportResponse.Report {
        let isRead = Locked(false)

        var trailers: HTTPFields? { isRead.withLock { $0 } ? [.server: "late"] : nil }

        var metrics: History.AttemptMetrics? {
            var metrics = History.AttemptMetrics()
            metrics.bodyBytesReceived = isRead.withLock { $0 } ? 4 : 0
            return metrics
        }
    }

    private struct Transport: HTTPTransport {
        let name = "reporting"
        let enforcesTimeouts: Bool
        let isStream: Bool
        var status: HTTPResponse.Status = .ok

        func send(_: HTTPRequest, body _: MessageBody?, options _: AttemptOptions) async throws -> TransportResponse {
            let report = Report()
            guard isStream else {
                report.isRead.withLock { $0 = true }
                return TransportResponse(head: HTTPResponse(status: status), body: MessageBody("body"), report: report)
            }
            let body = MessageBody(
                once: AsyncStream<ArraySlice<UInt8>> { continuation in
                    continuation.yield(ArraySlice("body".utf8))
                    report.isRead.withLock { $0 = true }
                    continuation.finish()
                }
            )
            return TransportResponse(head: HTTPResponse(status: status), body: body, report: report)
        }
    }

    @Test(arguments: [true, false], [true, false])
    func theReportReachesTheCaller(enforcesTimeouts: Bool, isStream: Bool) async throws {
        let transport = Transport(enforcesTimeouts: enforcesTimeouts, isStream: isStream)
        let client = RecoveringClient(transport: transport) {
            Recovery()
            AttemptTimeout(.seconds(86_400), idle: .seconds(43_200))
        }
        for buffering in [RequestOptions.Buffering.streamed, .upTo(100)] {
            var options = RequestOptions()
            options.buffering = buffering
            let response = try await client.send(Bench.get, options: options)
            #expect(try await response.body.collect(upTo: 100) == Array("body".utf8))
            #expect(response.trailers?[.server] == "late")
            #expect(response.metrics?.bodyBytesReceived == 4)
        }
    }

    @Test func aFailureHasItsReport() async throws {
        let transport = Transport(enforcesTimeouts: true, isStream: true, status: .notFound)
        let client = RecoveringClient(transport: transport) {
            Recovery()
            AttemptTimeout(.seconds(86_400))
        }
        let error = try await #require(throws: RecoveryError.self) { try await client.send(Bench.get) }
        #expect(error.response?.metrics?.bodyBytesReceived == 4)
    }

    @Test func aResponseWithoutOneHasNothing() {
        let response = TransportResponse(head: HTTPResponse(status: .ok))
        #expect(response.report == nil && response.trailers == nil && response.metrics == nil)
        // A word more than head and body: it is copied on every way of a response.
        let parts = MemoryLayout<HTTPResponse>.stride + MemoryLayout<MessageBody>.stride
        #expect(MemoryLayout<TransportResponse>.size <= parts + MemoryLayout<Int>.size)
        let recovered = RecoveredResponse(head: HTTPResponse(status: .ok), body: .empty)
        #expect(recovered.trailers == nil && recovered.metrics == nil)
    }

    @Test func aLayerCanPutOneOn() {
        var response = RecoveredResponse(head: HTTPResponse(status: .ok), body: .empty)
        let copy = response
        let report = Report()
        response.report = report
        #expect(response.report === report)
        #expect(copy.report == nil)
    }

    @Test func whetherAConnectionWasUsedIsKnownByWhatWasOpened() {
        var metrics = History.AttemptMetrics()
        #expect(metrics.isConnectionReused == nil)
        metrics.connectionsOpened = 0
        #expect(metrics.isConnectionReused == true)
        metrics.connectionsOpened = 1
        #expect(metrics.isConnectionReused == false)
    }
}
