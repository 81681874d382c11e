import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// Earlier answers in place of errors, as far as the server allows.
@Suite struct StaleAnswersTests {
    @Test(
        arguments: [
            ("stale-if-error=60", false, nil, 60), ("max-age=5, stale-if-error=60", false, 5, 60),
            ("max-age=5,Stale-If-Error=\"60\"", false, 5, 60), ("stale-if-error = 60 ", false, nil, 60),
            ("stale-if-error=60, stale-if-error=30, stale-if-error=90", false, nil, 30),
            ("stale-if-error=nan", false, nil, 0), ("stale-if-error", false, nil, 0),
            ("stale-if-error=-1", false, nil, 0),
            ("max-age=x", false, 0, nil), ("no-cache=\"a, stale-if-error=9\"", true, nil, nil),
            ("ext=\"\\\", no-cache, \", must-revalidate", true, nil, nil), ("", false, nil, nil),
            (",,=,", false, nil, nil),
            ("stale-if-error=999999999999999999999999999999", false, nil, Int64.max),
        ] as [(String, Bool, Int64?, Int64?)]
    )
    func directivesAreRead(text: String, forbidsStaleness: Bool, maxAge: Int64?, staleIfError: Int64?) {
        let control = CacheControl([.cacheControl: text])
        #expect(control.forbidsStaleness == forbidsStaleness && !control.forbidsStoring)
        #expect(control.maxAge == maxAge.map { .seconds($0) })
        #expect(control.staleIfError == staleIfError.map { $0 == .max ? Duration.longest : .seconds($0) })
    }

    private static func bench(
        _ fields: [String: String],
        then last: ScriptedTransport.Step = .status(503),
        _ layer: RecoveringClient.StaleAnswers = .init()
    ) -> Bench {
        Bench([.status(200, fields, body: "kept")], then: last) {
            layer
            Recovery(maxAttempts: 2)
        }
    }

    /// What comes of a request, some time after another was answered.
    private static func second(
        _ bench: Bench,
        after seconds: Int = 1,
        first: HTTPRequest = Bench.get,
        _ request: HTTPRequest = Bench.get
    ) async throws -> RecoveredResponse? {
        _ = try await bench.sendSkippingWaits(first)
        bench.clock.advance(by: .seconds(seconds))
        do {
            return try await bench.sendSkippingWaits(request)
        } catch is RecoveryError {
            return nil
        }
    }

    @Test(arguments: [
        // Whether it may be given after a time, by what the server has said of it.
        (["cache-control": "stale-if-error=60"], 50, true), (["cache-control": "stale-if-error=60"], 61, false),
        (["cache-control": "max-age=100, stale-if-error=60"], 150, true),
        (["cache-control": "max-age=100, stale-if-error=60"], 161, false),
        (["cache-control": "max-age=100, stale-if-error=60", "age": "90"], 71, false),
        (["cache-control": "max-age=100"], 1, false), ([:], 1, false),
        (["cache-control": "stale-if-error=60, no-store"], 1, false),
        (["cache-control": "stale-if-error=60, no-cache"], 1, false),
        (["cache-control": "stale-if-error=60, must-revalidate"], 1, false),
        (["cache-control": "stale-if-error=60, private"], 1, true),
        (["cache-control": "stale-if-error=60", "vary": "*"], 1, false),
        (
            [
                "cache-control": "stale-if-error=60", "date": "Tue, 14 Nov 2023 22:13:20 GMT",
                "expires": "Tue, 14 Nov 2023 22:15:00 GMT",
            ], 150, true
        ),
        (["cache-control": "stale-if-error=60", "age": "999999999999999999999"], 1, false),
    ])
    func theServerDecides(fields: [String: String], seconds: Int, isGiven: Bool) async throws {
        let response = try await Self.second(Self.bench(fields), after: seconds)
        #expect((response != nil) == isGiven)
        guard let response else { return }
        #expect(try await response.body.collect(upTo: 10) == Array("kept".utf8))
        #expect(response.status == .ok && response.outcome.kind == .ok)
        let age = Int(response.headerFields[.age] ?? "") ?? -1
        #expect(age >= seconds + (Int(fields["age"] ?? "") ?? 0) && age <= seconds + 30)
        // What has failed stands in the history.
        #expect(response.history.attempts.map(\.status) == [503, 503])
    }

    @Test func withoutTheServersWordItIsTheCallersOrTheLayers() async throws {
        var request = Bench.get
        request.headerFields[.cacheControl] = "stale-if-error=60"
        #expect(try await Self.second(Self.bench([:]), after: 30, request) != nil)
        #expect(try await Self.second(Self.bench(["cache-control": "stale-if-error=10"]), after: 30, request) == nil)
        let layer = RecoveringClient.StaleAnswers(forUpTo: .seconds(60))
        #expect(try await Self.second(Self.bench([:], layer), after: 30) != nil)
        #expect(try await Self.second(Self.bench([:], layer), after: 90) == nil)
        request.headerFields[.cacheControl] = "no-cache"
        #expect(try await Self.second(Self.bench([:], layer), after: 30, request) == nil)
    }

    private static let allowed = ["cache-control": "stale-if-error=60"]

    @Test(
        arguments: [
            (.status(500), true), (.status(502), true), (.status(504), true), (.fail(.connectionLost, .unknown), true),
            (.fail(.timedOut, .unknown), true), (.status(404), false), (.status(429), false), (.status(501), false),
            (.status(401), false), (.fail(.invalidRequest, .neverSent), false),
        ] as [(ScriptedTransport.Step, Bool)]
    )
    func onlyErrorsOfTheServerAreStoodInFor(step: ScriptedTransport.Step, isGiven: Bool) async throws {
        #expect((try await Self.second(Self.bench(Self.allowed, then: step)) != nil) == isGiven)
    }

    @Test func aServerThatAnswersIsHeard() async throws {
        let bench = Self.bench(Self.allowed, then: .status(200, body: "new"))
        let response = try #require(try await Self.second(bench))
        #expect(try await response.body.collect(upTo: 10) == Array("new".utf8))
    }

    @Test func nobodyGetsAnothersAnswer() async throws {
        for (name, value, other) in [
            (HTTPField.Name.authorization, "Bearer a", "Bearer b"), (.cookie, "s=1", "s=2"),
            (HTTPField.Name("X-API-Key")!, "1", "2"),
        ] {
            var (first, second) = (Bench.get, Bench.get)
            first.headerFields[name] = value
            second.headerFields[name] = other
            #expect(try await Self.second(Self.bench(Self.allowed), first: first, second) == nil, "\(name)")
            #expect(try await Self.second(Self.bench(Self.allowed), first: first) == nil, "\(name)")
            #expect(try await Self.second(Self.bench(Self.allowed), first: first, first) != nil, "\(name)")
        }
    }

    /// Attaches a credential, and tells nobody beforehand whose.
    private struct Secretive: ClientLayer {
        func intercept(_ request: HTTPRequest, body: MessageBody?, context: CallContext, next: Next) async throws
            -> RecoveredResponse
        {
            var context = context
            context.present(PresentedCredential(kind: .access, version: 1))
            return try await next(request, body: body, context: context)
        }
    }

    @Test func whatWasGivenForNobodyKnowsWhomIsNotKept() async throws {
        let layer = RecoveringClient.StaleAnswers()
        let bench = Bench([.status(200, Self.allowed)], then: .status(503)) {
            layer
            Recovery(maxAttempts: 1)
            Secretive()
        }
        #expect(try await Self.second(bench) == nil && layer.size.entries == 0)
    }

    @Test func anAnswerHangsOnWhatItSays() async throws {
        let fields = Self.allowed.merging(["vary": "Accept-Language, X-Other"]) { $1 }
        var (german, french) = (Bench.get, Bench.get)
        german.headerFields[.acceptLanguage] = "de"
        french.headerFields[.acceptLanguage] = "fr"
        #expect(try await Self.second(Self.bench(fields), first: german, french) == nil)
        #expect(try await Self.second(Self.bench(fields), first: german, german) != nil)
    }

    @Test func whatWasChangedIsDropped() async throws {
        let bench = Bench([.status(200, Self.allowed), .status(204)], then: .status(503)) {
            RecoveringClient.StaleAnswers()
            Recovery(maxAttempts: 1)
        }
        var put = Bench.get
        put.method = .put
        _ = try await bench.sendSkippingWaits()
        _ = try await bench.sendSkippingWaits(put)
        await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
    }

    @Test(arguments: [HTTPField.Name.range, .ifNoneMatch, .ifModifiedSince])
    func aRequestWithConditionsPassesBy(name: HTTPField.Name) async throws {
        var request = Bench.get
        request.headerFields[name] = "x"
        #expect(try await Self.second(Self.bench(Self.allowed), request) == nil)
        #expect(try await Self.second(Self.bench(Self.allowed), first: request) == nil)
    }

    @Test func whatIsKeptIsBounded() async throws {
        let layer = RecoveringClient.StaleAnswers(mostEntries: 3, mostBytes: 3000)
        let bench = Bench(then: .status(200, Self.allowed, body: "kept")) {
            layer
            Recovery(maxAttempts: 1)
        }
        var request = Bench.get
        for number in 0..<10 {
            request.path = "/\(number)"
            _ = try await bench.sendSkippingWaits(request)
        }
        #expect(layer.size.entries == 3 && layer.size.bytes < 3000)
        #expect("\(layer)".contains("3 answers") && !"\(layer)".contains("kept"))
        bench.transport.append([.status(200, Self.allowed, body: String(repeating: "x", count: 300))])
        request.path = "/large"
        _ = try await bench.sendSkippingWaits(request)
        #expect(layer.size.entries == 3, "one that is larger than a tenth is not kept")
        layer.removeAll()
        #expect(layer.size.entries == 0 && layer.size.bytes == 0)
    }

    @Test func whoWasUsedLeastLatelyGoesFirst() throws {
        var table = StaleTable(mostEntries: 2, mostBytes: 10_000)
        func answer(_ text: String) throws -> StaleAnswer {
            let head = TransportResponse.scripted(200, Self.allowed).head
            return try #require(StaleAnswer(to: Bench.get, head, body: Array(text.utf8)[...], at: .zero))
        }
        table.keep(try answer("a"), under: "a")
        table.keep(try answer("b"), under: "b")
        _ = table.answer(to: Bench.get, under: "a")
        table.keep(try answer("c"), under: "c")
        #expect(["a", "b", "c"].map { table.answer(to: Bench.get, under: $0) != nil } == [true, false, true])
        table.keep(try answer("longer"), under: "a")
        #expect(table.count == 2)
    }

    @Test func itAnswersWhereAFallbackHasFailedToo() async throws {
        let bench = Bench([.status(200, Self.allowed, body: "kept")], then: .status(503)) {
            RecoveringClient.StaleAnswers()
            RecoveringClient.Fallback { request, _ in
                var second = request
                second.authority = "second.example.com"
                return .request(second)
            }
            Recovery(maxAttempts: 1)
        }
        let response = try #require(try await Self.second(bench))
        #expect(try await response.body.collect(upTo: 10) == Array("kept".utf8))
        #expect(bench.transport.received.map(\.request.authority).last == "second.example.com")
        #expect(bench.events.words.filter { $0.hasPrefix("fallback") }.count == 2)
    }

    @Test func cancellationIsNoFailure() async throws {
        let bench = Self.bench(Self.allowed, then: .hang)
        _ = try await bench.sendSkippingWaits()
        let call = Task { try await bench.client.send(Bench.get) }
        await bench.transport.waitForRequests(2)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }
}
