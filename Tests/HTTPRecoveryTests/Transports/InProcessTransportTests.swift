import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A server that is a function: what every transport has to do, and what is its own.
@Suite(.timeLimit(.minutes(30)))
struct InProcessTransportTests {
    static let subject = TransportUnderTest(
        inProcess: "in-process",
        abilities: [.keepsSendLimits],
        patience: .seconds(900)
    ) { _, handler in
        InProcessTransport(handler)
    }

    @Test(arguments: TransportConformance.checks(for: subject).filter(\.isRepeated))
    func endsAtAnyMoment(_ check: TransportConformance.Check) async throws {
        try await check(Self.subject)
    }

    @Test(arguments: TransportConformance.checks(for: subject).filter { !$0.isRepeated })
    func conforms(_ check: TransportConformance.Check) async throws {
        try await check(Self.subject)
    }

    /// The article says so.
    @Test func nothingIsExcluded() {
        #expect(TransportConformance.exclusions(of: Self.subject) == [])
    }

    private static func request(_ method: HTTPRequest.Method, _ path: String) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "https", authority: "api.example.com", path: path)
    }

    private static func text(
        _ transport: InProcessTransport,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: MessageBody? = nil
    ) async throws -> (status: Int, text: String) {
        let response = try await transport.send(request(method, path), body: body, options: AttemptOptions())
        let bytes = try await response.body.collect(upTo: 1 << 20)
        return (response.head.status.code, String(decoding: bytes, as: UTF8.self))
    }

    /// The example of the documentation.
    @Test func routesTakeWhatIsTheirs() async throws {
        let transport = InProcessTransport(routes: [
            .on(.get, "/items/{id}") { call in
                .scripted(200, ["content-type": "text/plain"], body: "item \(call.parameters["id"] ?? "")")
            },
            .on(.post, "/items") { call in
                let bytes = try await call.body.collect(upTo: 1 << 20)
                return .scripted(201, body: "\(bytes.count) bytes")
            },
        ])
        let client = RecoveringClient(transport: transport, runtime: .manual())
        let response = try await client.send(HTTPRequest(url: "https://api.example.com/items/7?fields=all"))
        #expect(response.status == .ok)
        #expect(try await Self.text(transport, .get, "/items/a%2Fb") == (200, "item a%2Fb"))
        #expect(try await Self.text(transport, .post, "/items", MessageBody("four")) == (201, "4 bytes"))
        for (method, path) in [
            (HTTPRequest.Method.get, "/items"), (.get, "/items/"), (.get, "/items/7/more"), (.delete, "/items/7"),
            (.get, "/"), (.get, ""),
        ] {
            #expect(try await Self.text(transport, method, path).status == 404, "\(method) \(path)")
        }
        #expect(transport.received.count == 9)
        #expect(transport.received[2].text == "four")
    }

    @Test func theFirstRouteThatTakesACallAnswersIt() async throws {
        let transport = InProcessTransport(routes: [
            .on(.get, "/a/{x}/{y}") { .scripted(200, body: "\($0.parameters["x"] ?? "")+\($0.parameters["y"] ?? "")") },
            .any("/a/*") { .scripted(200, body: "rest of \($0.path)") },
            .any("/*") { _ in .scripted(418) },
        ])
        #expect(try await Self.text(transport, .get, "/a/1/2").text == "1+2")
        #expect(try await Self.text(transport, .put, "/a/1/2").text == "rest of /a/1/2")
        #expect(try await Self.text(transport, .get, "/a").text == "rest of /a")
        #expect(try await Self.text(transport, .get, "/a/").text == "rest of /a/")
        #expect(try await Self.text(transport, .get, "/").status == 418)
        #expect(try await Self.text(transport, .get, "/b/c?d").status == 418)
    }

    @Test func whatTheFunctionThrowsFailsTheCall() async throws {
        struct Odd: Error {}
        let transport = InProcessTransport { call in
            if call.path == "/odd" { throw Odd() }
            throw TransportError(.streamRefused, .notProcessed)
        }
        let known = await #expect(throws: TransportError.self) { try await Self.text(transport, .post, "/") }
        #expect(known?.certainty == .notProcessed)
        let odd = await #expect(throws: TransportError.self) { try await Self.text(transport, .post, "/odd") }
        #expect(odd?.code == .other && odd?.certainty == .unknown)
    }

    @Test func anAnswerShorterThanItSaysIsTruncated() async throws {
        let transport = InProcessTransport { _ in .scripted(200, ["Content-Length": "9"], body: "short") }
        let error = await #expect(throws: TransportError.self) { try await Self.text(transport, .get, "/") }
        #expect(error?.code == .truncated && error?.certainty == .answered)
    }

    /// On a connection, what is beyond is the next answer's.
    @Test(arguments: ["0", "5", "6", "7"], [true, false])
    func noMoreOfAnAnswerComesThanItSays(length: String, isStream: Bool) async throws {
        let transport = InProcessTransport { _ in
            var answer = TransportResponse.scripted(200, ["Content-Length": length], body: "longer")
            if isStream {
                let (pieces, source) = AsyncStream.makeStream(of: ArraySlice<UInt8>.self)
                for piece in ["lon", "ger", "!"] { source.yield(Array(piece.utf8)[...]) }
                source.finish()
                answer.body = MessageBody(once: pieces)
            }
            return answer
        }
        let expected = String("longer!".prefix(Int(length) ?? 0))
        if length == "7", !isStream {
            await #expect(throws: TransportError.self) { try await Self.text(transport, .get, "/") }
        } else {
            #expect(try await Self.text(transport, .get, "/").text == expected)
        }
    }

    /// Bodies stream both ways at once: each piece is answered before the next is sent.
    @Test func bothBodiesStreamAtOnce() async throws {
        let transport = InProcessTransport { call in
            TransportResponse(head: HTTPResponse(status: .ok), body: MessageBody(once: call.body))
        }
        let (pieces, source) = AsyncStream.makeStream(of: ArraySlice<UInt8>.self)
        let request = Self.request(.post, "/echo")
        let response = try await transport.send(request, body: MessageBody(once: pieces), options: AttemptOptions())
        var reader = response.body.makeAsyncIterator()
        for byte in UInt8(1)...5 {
            source.yield([byte])
            #expect(try await reader.next() == [byte])
        }
        source.finish()
        #expect(try await reader.next() == nil)
        #expect(try await reader.next() == nil)
        #expect(transport.received.first?.body == [1, 2, 3, 4, 5])
    }
}
