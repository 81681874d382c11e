import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

@Suite("Redirects")
struct RedirectTests {
    private static func bench(
        _ steps: [ScriptedTransport.Step],
        then fallback: ScriptedTransport.Step = .status(200),
        budget: RetryBudget.Configuration = .init(),
        limit: Int = 10
    ) -> Bench {
        Bench(steps, then: fallback) {
            Redirects(limit: limit)
            Recovery(budget: .ratio(budget))
        }
    }

    private static func to(_ location: String, _ status: Int = 302) -> ScriptedTransport.Step {
        .status(status, ["location": location])
    }

    @Test func aRelativeLocationIsFollowed() async throws {
        let bench = Self.bench([Self.to("other?x=1")])
        let response = try await bench.client.send(Bench.get)
        #expect(response.status == .ok)
        #expect(bench.transport.received.map(\.request.path) == ["/items?key=s3cret", "/other?x=1"])
        #expect(bench.events.words == ["attempt 1", "response 1 302", "attempt 2", "response 2 200", "done ok 2"])
    }

    @Test(arguments: [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"),
        (301, "PUT", "PUT"), (302, "DELETE", "DELETE"), (307, "POST", "POST"), (308, "PATCH", "PATCH"),
    ])
    func theMethodAndTheBodyAreThoseOfTheStatus(status: Int, before: String, after: String) async throws {
        let bench = Self.bench([Self.to("/new", status)])
        var request = Bench.get
        request.method = try #require(HTTPRequest.Method(before))
        request.headerFields[.contentType] = "text/plain"
        let body: MessageBody? = before == "HEAD" ? nil : MessageBody("text")
        _ = try await bench.client.send(request, body: body)
        let last = try #require(bench.transport.received.last)
        #expect(last.request.method.rawValue == after)
        #expect(last.text == (after == "GET" || after == "HEAD" ? "" : "text"))
        #expect(last.request.headerFields.contains(.contentType) == (after != "GET"))
    }

    @Test(arguments: [
        "https://other.example.com/", "https://api.example.com:8443/", "//other.example.com/path",
    ])
    func noSecretGoesToAnotherOrigin(location: String) async throws {
        let bench = Self.bench([Self.to(location)])
        var request = Bench.get
        let secrets = [
            "Authorization": "Bearer s3cret", "Cookie": "a=s3cret", "Proxy-Authorization": "Basic s3cret",
            "X-Api-Key": "s3cret", "X-Auth-Token": "s3cret", "X-CSRF": "s3cret", "DPoP": "s3cret",
            "iPlanetDirectoryPro": "s3cret", "X-OpenAM-Password": "s3cret", "X-Custom": "Bearer s3cret",
        ]
        for (name, value) in secrets { request.headerFields[try #require(HTTPField.Name(name))] = value }
        request.headerFields[.accept] = "text/plain"
        _ = try await bench.client.send(request)
        let fields = try #require(bench.transport.received.last).request.headerFields
        #expect(fields.map(\.name) == [.accept])
    }

    @Test func anotherSpellingOfTheOriginKeepsTheCredential() async throws {
        let bench = Self.bench([Self.to("https://API.example.com:443/new")])
        var request = Bench.get
        request.headerFields[.authorization] = "Bearer s3cret"
        _ = try await bench.client.send(request)
        #expect(bench.transport.received.last?.request.headerFields[.authorization] == "Bearer s3cret")
    }

    @Test func theCallsOwnLayersDoNotFollowToAnotherOrigin() async throws {
        let bench = Self.bench([Self.to("https://other.example.com/")])
        let options = RequestOptions(attemptLayers: [AddsToken()])
        _ = try await bench.client.send(Bench.get, options: options)
        let tokens = bench.transport.received.map { $0.request.headerFields[.authorization] }
        #expect(tokens == ["Bearer s3cret", nil])
    }

    @Test(arguments: [
        ("http://api.example.com/", History.StopReason.redirectRefused), ("ftp://api.example.com/", .redirectInvalid),
        ("https://user:pw@api.example.com/", .redirectInvalid), ("https://", .redirectInvalid),
        ("javascript:alert(1)", .redirectInvalid),
    ])
    func whatMustNotBeFollowedIsRefused(location: String, reason: History.StopReason) async throws {
        let bench = Self.bench([Self.to(location)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(error?.reason == reason)
        #expect(error?.response?.status.code == 302)
        #expect(bench.transport.received.count == 1)
    }

    @Test func aBodyIsNotSentToAnotherOrigin() async throws {
        let bench = Self.bench([Self.to("https://other.example.com/", 307)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.send(Bench.post, body: MessageBody("password=s3cret"))
        }
        #expect(error?.reason == .redirectRefused)
        #expect(bench.transport.received.count == 1)
    }

    @Test func aBodyThatIsGoneIsNotSentAgain() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: ArraySlice<UInt8>.self)
        continuation.yield([1, 2, 3])
        continuation.finish()
        let bench = Self.bench([Self.to("/new", 308)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.send(Bench.post, body: MessageBody(once: stream))
        }
        #expect(error?.reason == .bodyNotReplayable)
    }

    @Test func aCircleEnds() async throws {
        let bench = Self.bench([], then: Self.to("/items"), limit: 3)
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(error?.reason == .tooManyRedirects)
        #expect(bench.transport.received.count == 4)
    }

    @Test func withoutALocationItIsAnAnswer() async throws {
        let bench = Self.bench([.status(302), .status(304, ["location": "/x"])])
        #expect(try await bench.client.send(Bench.get).status.code == 302)
        #expect(try await bench.client.send(Bench.get).status.code == 304)
    }

    @Test func eachHopIsRecovered() async throws {
        let bench = Self.bench([.status(503), Self.to("/new"), .status(503)])
        let response = try await bench.sendSkippingWaits()
        #expect(response.status == .ok)
        #expect(response.history.attempts.map(\.status) == [503, 302, 503, 200])
    }

    @Test func aStatedDelayIsWaitedForBeforeTheHop() async throws {
        let bench = Self.bench([.status(302, ["location": "/new", "retry-after": "7"])])
        let response = try await bench.sendSkippingWaits()
        #expect(response.status == .ok)
        #expect(bench.clock.requestedDelays.first ?? .zero >= .seconds(7))
    }

    @Test func hopsAreChargedToTheBudgetWhileNothingEndsWell() async throws {
        let bench = Self.bench([], then: Self.to("/items"), budget: .init(ratio: 0, burst: 5))
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(error?.reason == .budgetExhausted)
        #expect(bench.transport.received.count == 6)
        for _ in 0..<20 { await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) } }
        #expect(bench.transport.received.count == 26)
    }

    @Test func aCallThatEndsWellGivesTheBudgetBackWhatItsHopsCost() async throws {
        let bench = Self.bench([], budget: .init(ratio: 0, burst: 2))
        for _ in 0..<20 {
            bench.transport.append([Self.to("/a"), Self.to("/b")])
            #expect(try await bench.client.send(Bench.get).status == .ok)
        }
    }

    @Test func aWaitThatIsCutShortCountsForAsLongAsItLasted() async throws {
        let bench = Bench([.status(429, ["retry-after": "60"])])
        let call = Task { try await bench.client.send(Bench.get) }
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(2))
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        guard case .done(.cancelled, _, let waited, let elapsed) = bench.events.events.last?.kind else {
            Issue.record("the call has no end")
            return
        }
        #expect(waited == .seconds(2))
        #expect(elapsed == .seconds(2))
    }
}

/// Attaches a token to each attempt, as a provider's layer does.
private struct AddsToken: ClientLayer {
    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        var request = request
        request.headerFields[.authorization] = "Bearer s3cret"
        return try await next(request, body: body, context: context)
    }
}

@Suite("URL references")
struct URLReferenceTests {
    /// RFC 3986 section 5.4, with the base `http://a/b/c/d;p?q`; what has another scheme is left out.
    @Test(arguments: [
        ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"), ("g?y", "/b/c/g?y"),
        ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"),
        ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"),
        ("../..", "/"), ("../../", "/"), ("../../g", "/g"), ("../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"),
        ("g.", "/b/c/g."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"), ("g/../h", "/b/c/h"),
        ("g;x=1/../y", "/b/c/y"), ("g?y/../x", "/b/c/g?y/../x"), ("//g", "/"), ("http://g/x", "/x"),
        (" /a b\t", "/a%20b"), ("/\u{FC}", "/%C3%BC"), ("/\\evil", "/%5Cevil"),
    ])
    func isResolved(reference: String, path: String) throws {
        let base = try HTTPRequest(url: "http://a/b/c/d;p?q")
        let target = try #require(URLReference(reference).resolved(against: base))
        #expect(target.path == path)
        #expect(target.authority == (reference.contains("//") ? "g" : "a"))
        #expect(target.scheme == "http")
    }

    @Test(arguments: ["mailto:a@b", "http:g", "g:h", "http://", "//", "//a:x/", "http://u@h/"])
    func isNoTarget(reference: String) throws {
        let base = try HTTPRequest(url: "http://a/b/c/d;p?q")
        #expect(URLReference(reference).resolved(against: base) == nil)
    }
}
