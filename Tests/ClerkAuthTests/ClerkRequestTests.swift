import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What goes over the wire, apart from the token.
@Suite struct ClerkRequestTests {
    private func request(url: String = ClerkBench.url, _ password: Secret = "hunter2") async throws
        -> ScriptedTransport.Received
    {
        let bench = try ClerkBench([.complete()], url: url)
        _ = try await bench.signIn(password)
        return try #require(bench.transport.received.first)
    }

    @Test func itIsThatOfANativeClient() async throws {
        let fields = try await request().request.headerFields
        #expect(fields[HTTPField.Name("clerk-api-version")!] == "2026-05-12")
        #expect(fields[HTTPField.Name("x-mobile")!] == "1")
        #expect(fields[.contentType] == "application/x-www-form-urlencoded")
        #expect(fields[.accept] == "application/json")
        #expect(fields[.origin] == nil, "a native client that sends an Origin is rejected")
        #expect(fields[.cookie] == nil)
        #expect(try await request().request.path == "/v1/client/sign_ins?_is_native=true")
        #expect(fields[fields: .authorization].first?.indexingStrategy == .disallow)
    }

    @Test func everyRequestCarriesTheNativeFlag() async throws {
        let factors = ClerkJSON.email
        let bench = try ClerkBench([
            .signIn("needs_first_factor", first: factors), .signIn("needs_first_factor", first: factors), .complete(),
            .client(["sess_1"]), .status(200, [:], body: "{}"), .status(200),
        ])
        _ = try await bench.signIn(nil, Person([.emailCode: "1"]))
        _ = try await bench.clerk.session()
        _ = try await bench.clerk.send(path: "/v1/me")
        try await bench.clerk.signOut()
        #expect(bench.transport.received.count == 6)
        for received in bench.transport.received {
            #expect(received.request.path?.contains("?_is_native=true") == true)
            #expect(received.request.headerFields[.origin] == nil)
        }
    }

    @Test(arguments: [
        ("a b", "a+b"), ("a+b", "a%2Bb"), ("&=?#%", "%26%3D%3F%23%25"), ("é€😀", "%C3%A9%E2%82%AC%F0%9F%98%80"),
        ("-_.*", "-_.*"), ("~", "%7E"), ("\r\n\0", "%0D%0A%00"), ("\"<>'", "%22%3C%3E%27"),
        ("e\u{301}", "e%CC%81"), ("x&strategy=ticket", "x%26strategy%3Dticket"),
    ])
    func aFormFieldHoldsAnyText(text: String, encoded: String) async throws {
        let body = try await request(Secret(text)).text
        #expect(body == "identifier=ada%40example.com&strategy=password&password=\(encoded)")
    }

    @Test(arguments: [
        ("https://clerk.example.com", "clerk.example.com", "/v1/client/sign_ins"),
        ("https://clerk.example.com/", "clerk.example.com", "/v1/client/sign_ins"),
        ("https://clerk.example.com/v1", "clerk.example.com", "/v1/client/sign_ins"),
        ("https://example.com/__clerk/", "example.com", "/__clerk/v1/client/sign_ins"),
        ("https://example.com/__clerk/v1//", "example.com", "/__clerk/v1/client/sign_ins"),
        ("http://127.0.0.1:8080", "127.0.0.1:8080", "/v1/client/sign_ins"),
    ])
    func theBaseIsWhatStandsBeforeTheVersion(url: String, authority: String, path: String) async throws {
        let request = try await request(url: url).request
        #expect(request.authority == authority)
        #expect(request.pathWithoutQuery == path)
    }

    @Test(arguments: [
        "", "clerk.example.com", "ftp://x", "https://", "https://user:pass@x", "https://x:99999", "https://x?x=1",
        "https://x/v1?x=1", "https://x/?", "https://x#y", "https://x/v1#",
    ])
    func whatIsNoURLIsAnError(url: String) {
        #expect(throws: Origin.InvalidURL.self) { try ClerkBench(url: url) }
    }

    @Test func allEventsOfASignInCarryItsNumber() async throws {
        let bench = try ClerkBench([
            .error("form_password_compromised"), .signIn("needs_first_factor", first: ClerkJSON.email),
            .signIn("needs_first_factor", first: ClerkJSON.email), .complete(),
        ])
        _ = try await bench.signIn("hunter2", Person([.emailCode: "1"]))
        #expect(bench.events.events.allSatisfy { $0.call == 1 })
        let own = bench.events.events.filter { event in
            switch event.kind {
            case .fallback, .challenge: true
            default: false
            }
        }
        #expect(own.map(\.call) == [1, 1])
        let numbers = bench.events.events.compactMap { event in
            if case .attempt(let number, _, _, _) = event.kind { number } else { nil }
        }
        #expect(numbers == Array(1...4), "its attempts are counted through")
        #expect(bench.events.words.filter { $0.hasPrefix("done") } == ["done ok 4"])
    }

    // MARK: Errors

    @Test(arguments: [
        #"{"errors":[{"code":"user_banned","message":"m","long_message":"l"}],"clerk_trace_id":"t1"}"#,
        #"{"error":{"code":"user_banned","message":"m","long_message":"l"},"clerk_trace_id":"t1"}"#,
        #"{"errors":[{"code":"unheard_of"},{"code":"user_banned","long_message":"l"}],"clerk_trace_id":"t1"}"#,
    ])
    func errorsInAnyFormEndTheSignInWithTheirCode(body: String) async throws {
        let bench = try ClerkBench([.status(403, [:], body: body)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .accountBlocked)
        #expect(error?.outcome.code == "user_banned")
        #expect(error?.userMessage == "l")
        #expect(error?.outcome.traceID == "t1")
    }

    @Test(arguments: ["", "{}", #"{"errors":[]}"#, "null", "7", "{\"errors\":", "<html>", "no", "\u{FEFF}"])
    func errorsThatSayNothingEndItByTheirStatus(body: String) async throws {
        for status in [400, 401, 403, 404, 409, 415, 422, 500, 502] {
            let bench = try ClerkBench([.status(status, [:], body: body)]) { Recovery(maxAttempts: 1) }
            let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
            #expect(error?.outcome.status != nil)
            #expect(try await bench.credentials.clientToken == "T0")
            #expect(bench.transport.received.count <= 3, "\(status) \(body)")
        }
    }

    @Test func anOAuthErrorAndAHintKeepTheirMeaning() async throws {
        let oauth = try ClerkBench([.status(400, [:], body: #"{"error":"invalid_grant","error_description":"d"}"#)])
        let first = await #expect(throws: RecoveryError.self) { try await oauth.clerk.send(path: "/oauth/token") }
        #expect(first?.outcome.code == "invalid_grant")
        let body = #"{"clerk_error":{"type":"forbidden","reason":"reverification-error"}}"#
        let hint = try ClerkBench([.status(403, [:], body: body)])
        let second = await #expect(throws: RecoveryError.self) { try await hint.clerk.send(path: "/me") }
        #expect(second?.kind == .stepUpRequired)
    }

    @Test func anAnswerWithoutAnEndIsCutOff() async throws {
        let bench = try ClerkBench([
            .run { _ in
                let chunk = ArraySlice([UInt8](repeating: UInt8(ascii: " "), count: 65_536))
                return TransportResponse(
                    head: HTTPResponse(status: .ok),
                    body: MessageBody(once: AsyncStream(unfolding: { chunk }))
                )
            }
        ])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .unreadable)
    }
}

@Suite struct PublishableKeyTests {
    /// `pk_…` with the host in Base64.
    private static func key(_ host: String, _ prefix: String = "pk_test_") -> String {
        prefix + Token.base64(Array(host.utf8))
    }

    @Test(arguments: [
        ("pk_test_Y2xlcmsuZXhhbXBsZS5jb20k", "clerk.example.com", false),
        ("pk_live_Y2xlcmsuZXhhbXBsZS5jb20k", "clerk.example.com", true),
        ("pk_test_aGFwcHktaGlwcG8tMS5jbGVyay5hY2NvdW50cy5kZXYk", "happy-hippo-1.clerk.accounts.dev", false),
        // With and without padding, in either alphabet.
        ("pk_test_YS5iYyQ=", "a.bc", false), ("pk_test_YS5iYyQ", "a.bc", false),
    ])
    func aKeyNamesItsHost(text: String, host: String, isProduction: Bool) throws {
        let key = try PublishableKey(text)
        #expect(key.host == host)
        #expect(key.isProduction == isProduction)
        #expect(key.frontendAPI == "https://\(host)")
    }

    @Test(arguments: [
        "", "pk_test_", "pk_test", "pk_staging_Y2xlcmsuZXhhbXBsZS5jb20k", "sk_test_Y2xlcmsuZXhhbXBsZS5jb20k",
        "PK_TEST_Y2xlcmsuZXhhbXBsZS5jb20k", " pk_test_Y2xlcmsuZXhhbXBsZS5jb20k", "pk_test_Y2xlcmsuZXhhbXBsZS5jb20",
        "pk_test_Y2xlcmsuZXhhbXBsZS5jb20k\n", "pk_test_Y2xlcmsu ZXhhbXBsZS5jb20k", "pk_test_!!!!", "pk_test_JA",
        "pk_test_JA==", "pk_test_=", "pk_test_é",
    ])
    func aTextThatIsNoKeyIsAnError(text: String) {
        #expect(throws: InvalidPublishableKey.self) { try PublishableKey(text) }
    }

    @Test(arguments: [
        "evil.com/path$", "user:pass@evil.com$", "evil.com?x$", "evil.com#x$", "a b$", "a\r\nHost: evil$", "é.com$",
        "a$b$", "[::1]$", "%65vil.com$", "evil.com\\@good.com$", "\0$", "$", "$$", ":$", ":80$", "a:b$", "a:1:2$",
        "a:0$",
        "a:99999$", "a:$",
    ])
    func aHostileHostNeverReachesTheWire(host: String) {
        #expect(throws: (any Error).self) {
            let transport = ScriptedTransport()
            _ = try Clerk(
                publishableKey: Self.key(host),
                client: RecoveringClient(transport: transport, runtime: .manual()),
                tokens: InMemoryTokenStore()
            )
        }
    }

    @Test func theErrorDoesNotRepeatTheKey() {
        let error = #expect(throws: InvalidPublishableKey.self) { try PublishableKey("pk_test_planted!") }
        #expect(error?.description.contains("planted") == false)
    }

    @Test func aMegabyteOfKeyIsReadInNoTime() {
        #expect(throws: Never.self) { try PublishableKey(Self.key(String(repeating: "a", count: 1 << 20) + "$")) }
    }

    @Test func aClientForTheKeyTalksToItsHost() async throws {
        let transport = ScriptedTransport([.status(200, [:], body: #"{"response":null}"#)])
        let clerk = try Clerk(
            publishableKey: "pk_test_Y2xlcmsuZXhhbXBsZS5jb20k",
            client: RecoveringClient(transport: transport, runtime: .manual()),
            tokens: InMemoryTokenStore()
        )
        _ = try await clerk.currentClient()
        #expect(transport.received.first?.request.scheme == "https")
        #expect(transport.received.first?.request.authority == "clerk.example.com")
    }
}
