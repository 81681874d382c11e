import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Cassettes of what comes over sockets.
@Suite(.timeLimit(.minutes(30)))
struct CassetteRecordingTests {
    @Test func whatComesOverASocketIsPlayedWithoutOne() async throws {
        let server = try FaultServer(
            .answer(429, headers: [("Retry-After", "0"), ("Set-Cookie", "id=s3cr3t-1; HttpOnly")]),
            .resetInBody,
            .answer(headers: [("Content-Type", "text/json")], body: #"{"price": 3, "note": "s3cr3t"}"#),
            .reset
        )
        let curl = CurlTransport.patient()
        let recorder = CassetteTransport(recording: curl, redaction: .init(keeping: ["price"]))
        func run(_ transport: CassetteTransport) async throws -> (body: String, story: [String]) {
            let clock = ManualClock()
            let client = RecoveringClient(transport: transport, runtime: .manual(clock)) {
                Recovery()
                AttemptTimeout(.seconds(86_400))
            }
            var request = HTTPRequest.to(server.authority, .get, "/prices?token=s3cr3t")
            request.headerFields[.authorization] = "Bearer s3cr3t"
            let asked = request
            let response = try await clock.skippingWaits(upTo: .seconds(60)) { try await client.send(asked) }
            let body = String(decoding: try await response.body.collect(upTo: 1000), as: UTF8.self)
            let order = HTTPRequest.to(server.authority, .post, "/orders")
            let error = await #expect(throws: RecoveryError.self) {
                try await client.send(order, body: MessageBody("pin=1234"))
            }
            #expect(error?.outcome.transportError?.certainty == .unknown && error?.reason == .methodNotIdempotent)
            return (body, response.history.story)
        }
        let first = try await run(recorder)
        let text = recorder.cassette.text
        #expect(!text.contains("s3cr3t") && !text.contains("1234"))
        #expect(server.receivedRequests.count == 4 && recorder.cassette.exchanges.count == 4)
        server.stop()
        let player = CassetteTransport(playing: try Cassette(parsing: Array(text.utf8)))
        let second = try await run(player)
        try player.verify()
        #expect(second.body == #"{"note":"redacted-2","price":3}"# && second.story == first.story)
        #expect(first.body == #"{"price": 3, "note": "s3cr3t"}"#)
    }
}
