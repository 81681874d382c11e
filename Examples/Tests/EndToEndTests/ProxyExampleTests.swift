import AuthSandbox
import CurlTransport
import Glibc
import HTTPRecovery
import HTTPTypes
import Testing

/// The example of the sandbox's documentation: what stands there between the marks is what is compiled here.
@Suite("The documentation's example")
struct ProxyExampleTests {
    @Test func aLostAnswerIsNotAskedForTwice() async throws {
        let yourServer = try await AuthSandbox.start(scenario: SandboxScenario(settings: Self.openSettings))
        defer { yourServer.stop() }

        // example begins
        let proxy = try await AuthSandbox.start(upstream: SandboxUpstream(yourServer.url))
        defer { proxy.stop() }
        proxy.add(SandboxFault(.resetAfter, method: "POST", path: "/api/orders"))

        let client = RecoveringClient(transport: CurlTransport())
        let order = try HTTPRequest(method: .post, url: proxy.url + "/api/orders")
        await #expect(throws: RecoveryError.self) {
            try await client.send(order, body: MessageBody("tea=1".utf8))
        }
        // The order was taken, its answer was lost, and nobody ordered again.
        let orders = proxy.requests(method: "POST", path: "/api/orders")
        #expect(orders.map(\.isProcessed) == [true])
        // example ends

        #expect(yourServer.requests(method: "POST").count == 1)
    }

    private static var openSettings: SandboxSettings {
        var settings = SandboxSettings()
        settings.oauth.requiresAuthorization = false
        return settings
    }

    @Test func itStandsInTheDocumentation() throws {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let source = contents(of: #filePath).split(separator: "\n", omittingEmptySubsequences: false)
        let begin = try #require(source.firstIndex { $0.hasSuffix("// example begins") })
        let end = try #require(source.firstIndex { $0.hasSuffix("// example ends") })
        let example = source[(begin + 1)..<end].map { $0.dropFirst(8) }.joined(separator: "\n")
        let text = contents(of: root + "/Sources/AuthSandbox/AuthSandbox.docc/AuthSandbox.md")
        #expect(text.contains("```swift\n\(example)\n```"))
    }
}
