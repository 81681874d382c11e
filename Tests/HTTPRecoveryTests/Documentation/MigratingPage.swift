import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What the page "Come from elsewhere" puts in the place of other libraries' code; its loop stands in ``GuidePages``.
@Suite struct MigratingPage {
    @Test func fromAsyncHTTPClient() async throws {
        let transport = ScriptedTransport([.status(302, ["location": "/list"]), .status(200, body: "abc")])
        let client = RecoveringClient(transport: transport) {
            Deadline(.seconds(60))
            Redirects(limit: 5)
            Recovery()
            AttemptTimeout(.seconds(10))
        }
        func load() async throws -> [UInt8] {
            var request = try HTTPRequest(url: "https://api.example.com/items")
            request.headerFields[.accept] = "application/json"
            let response = try await client.send(request, options: RequestOptions(deadline: .seconds(30)))
            let bytes = try await response.body.collect(upTo: 1 << 20)
            return bytes
        }
        #expect(try await load() == Array("abc".utf8))
        #expect(transport.received.map(\.request.path) == ["/items", "/list"])
    }

    @Test func fromInterceptors() async throws {
        let transport = ScriptedTransport([.status(409), .status(200)])
        func make() -> RecoveringClient {
            let session = RecoveringClient(transport: transport) {
                Deadline(.seconds(60))
                APIVersion(version: "2")
                Recovery(maxAttempts: 3) {
                    ConflictRetry()
                    RateLimitBackoff()
                    TransientRetry()
                }
                AttemptTimeout(.seconds(10))
            }
            return session
        }
        #expect("\(make())".contains("APIVersion") && "\(make())".contains("policies: ConflictRetry, RateLimitBackoff"))
        // On a manual clock, as the conflict is waited out.
        let clock = ManualClock()
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) {
            APIVersion(version: "2")
            Recovery { ConflictRetry() }
        }
        let response = try await clock.skippingWaits { try await client.send(Bench.get) }
        #expect(response.status == .ok && transport.received.count == 2)
        let versions = transport.received.map { $0.request.headerFields[HTTPField.Name("API-Version")!] }
        #expect(versions == ["2", "2"])
    }
}
