import AuthRecovery
import AuthSandbox
import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Locking
import Testing

/// The tutorial: its steps word for word, what it tells the sandbox, and what it says that they print.
@Suite("The tutorial")
struct TutorialTests {
    private static let page: String = {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        return contents(of: root + "/Sources/HTTPRecovery/HTTPRecovery.docc/Guides/Tutorial.md")
    }()

    /// What a step prints.
    private final class Output: Sendable {
        private let lines = Locked<[String]>([])

        func print(_ items: Any...) {
            let line = items.map { "\($0)" }.joined(separator: " ")
            lines.withLock { $0.append(line) }
        }

        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    private func run(
        _ body: (_ base: String, _ output: Output, _ tell: (String, String) async throws -> Void) async throws -> Void
    )
        async throws
    {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        let operatorsClient = RecoveringClient(transport: CurlTransport())
        try await body(sandbox.url, Output()) { path, json in
            #expect(Self.page.contains("    http-recover -d '\(json)' http://127.0.0.1:8080/_sandbox/\(path)\n"))
            let request = try HTTPRequest(method: .post, url: "\(sandbox.url)/_sandbox/\(path)")
            _ = try await operatorsClient.send(request, body: MessageBody(json.utf8))
        }
    }

    private func expect(_ lines: String..., from output: Output) {
        #expect(output.take() == lines)
        #expect(Self.page.contains("\n\n" + lines.map { "    \($0)\n" }.joined() + "\n"))
    }

    private func place() -> String {
        let base = "http://127.0.0.1:8080"
        return base
    }

    @Test func aRequest() async throws {
        try await run { base, output, tell in
            func print(_ items: Any...) { output.print(items.map { "\($0)" }.joined(separator: " ")) }
            func step() async throws {
                let client = RecoveringClient(transport: CurlTransport())
                let request = try HTTPRequest(url: "\(base)/.well-known/openid-configuration")
                let response = try await client.send(request)
                print(response.status.code, "after", response.history.attempts.count, "attempts")
            }
            try await step()
            expect("200 after 1 attempts", from: output)
            try await tell("faults", #"{"kind": "status", "status": 503, "times": 2}"#)
            try await step()
            expect("200 after 3 attempts", from: output)
        }
    }

    @Test func whenItDoesNotHelp() async throws {
        try await run { base, output, tell in
            func print(_ items: Any...) { output.print(items.map { "\($0)" }.joined(separator: " ")) }
            try await tell("faults", #"{"kind": "status", "status": 503, "times": 3}"#)
            let client = RecoveringClient(transport: CurlTransport())
            do {
                let request = try HTTPRequest(url: "\(base)/.well-known/openid-configuration")
                let response = try await client.send(request)
                print(response.status.code, "after", response.history.attempts.count, "attempts")
            } catch let error as RecoveryError {
                print(error.kind, "because of", error.reason, "after", error.history.attempts.count, "attempts")
            }
            expect("unavailable because of attempts_exhausted after 3 attempts", from: output)
        }
    }

    @Test func whenTheServerSaysHowLong() async throws {
        try await run { base, output, tell in
            @Sendable func print(_ items: Any...) { output.print(items.map { "\($0)" }.joined(separator: " ")) }
            try await tell("faults", #"{"kind": "status", "status": 429, "retry_after": 2, "times": 1}"#)
            let client = RecoveringClient(transport: CurlTransport())
            client.runtime.events.observe { event in
                if case .wait(let reason, let duration, _) = event.kind {
                    print("waits", duration.components.seconds, "s because of", reason)
                }
            }
            let request = try HTTPRequest(url: "\(base)/.well-known/openid-configuration")
            let response = try await client.send(request)
            print(response.status.code, "after", response.history.attempts.count, "attempts")
            expect("waits 2 s because of rate_limited", "200 after 2 attempts", from: output)
        }
    }

    @Test func aToken() async throws {
        try await withTemporaryDirectory { directory in
            try await run { base, output, tell in
                func print(_ items: Any...) { output.print(items.map { "\($0)" }.joined(separator: " ")) }
                // In the test's own directory, whatever the step says.
                // swift-format-ignore: AlwaysUseLowerCamelCase
                func FileTokenStore(path: String) -> FileTokenStore { .init(path: "\(directory)/\(path)") }
                func step() async throws {
                    let transport = CurlTransport()
                    let identity = RecoveringClient(transport: transport)
                    let oauth = OAuthClient(
                        server: try await OAuthServer.discover(issuer: base, using: identity),
                        clientID: "service",
                        authentication: .clientSecretBasic(Secret("service-secret")),
                        client: identity
                    )
                    let tokens = TokenManager(
                        store: FileTokenStore(path: "tokens.json"),
                        renewer: ClientCredentialsGrant(client: oauth)
                    )
                    let server = try Origin(url: base)
                    let api = RecoveringClient(transport: transport) {
                        Deadline(.seconds(60))
                        Recovery {
                            RateLimitBackoff()
                            SessionRenewal(tokens)
                            TransientRetry()
                        }
                        Authorization(tokens, audience: [server])
                        AttemptTimeout(.seconds(10))
                    }
                    let response = try await api.send(HTTPRequest(url: "\(base)/api/orders/1"))
                    print(response.status.code, "after", response.history.attempts.count, "attempts")
                }
                try await step()
                try await step()
                #expect(output.take() == ["200 after 1 attempts", "200 after 1 attempts"])
                try await tell("oauth/revoke", #"{"what": "access"}"#)
                try await step()
                expect("200 after 2 attempts", from: output)
            }
        }
    }

    @Test func anOrder() async throws {
        try await run { base, output, tell in
            func print(_ items: Any...) { output.print(items.map { "\($0)" }.joined(separator: " ")) }
            try await tell("settings", #"{"oauth": {"auth_required": false}}"#)
            let fault = #"{"kind": "reset_after", "match": {"method": "POST"}, "times": 1}"#
            try await tell("faults", fault)
            do {
                let client = RecoveringClient(transport: CurlTransport())
                do {
                    let order = try HTTPRequest(method: .post, url: "\(base)/api/orders")
                    _ = try await client.send(order, body: MessageBody("tea=1".utf8))
                } catch let error as RecoveryError {
                    print(error.kind, "because of", error.reason, "after", error.history.attempts.count, "attempts")
                }
                expect("transport because of method_not_idempotent after 1 attempts", from: output)
            }
            try await tell("faults", fault)
            let client = RecoveringClient(transport: CurlTransport()) {
                Deadline(.seconds(30))
                RecoveringClient.RequestIdentity.idempotencyKey
                Recovery()
                AttemptTimeout(.seconds(10))
            }
            let order = try HTTPRequest(method: .post, url: "\(base)/api/orders")
            let response = try await client.send(order, body: MessageBody("tea=1".utf8))
            print(response.status.code, "after", response.history.attempts.count, "attempts")
            expect("200 after 2 attempts", from: output)
        }
    }

    @Test func aWaitOfMinutes() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(429, ["retry-after": "100"]), .status(200)])
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) { Recovery() }
        let request = try HTTPRequest(url: "https://api.example.com/orders/1")
        let response = try await clock.skippingWaits { try await client.send(request) }
        #expect(response.history.waited >= .seconds(100) && transport.received.count == 2)
    }

    @Test func thePageHoldsWhatIsCompiledHere() throws {
        let source = contents(of: #filePath).filter { !$0.isWhitespace }
        let parts = Self.page.split(separator: "```swift\n", omittingEmptySubsequences: false).dropFirst()
        #expect(parts.count == 10)
        for part in parts {
            let code = try #require(part.split(separator: "```").first)
            // Imports stand in an order of their own here.
            let pieces = code.hasPrefix("import ") ? code.split(separator: "\n") : [code]
            for piece in pieces {
                let isCompiled = source.contains(piece.filter { !$0.isWhitespace })
                #expect(isCompiled, "\(piece)")
            }
        }
    }
}
