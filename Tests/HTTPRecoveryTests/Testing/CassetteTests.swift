import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct CassetteTests {
    private static let items = "https://api.example.com/items"

    private func request(
        _ method: HTTPRequest.Method = .get,
        _ url: String = items,
        _ fields: HTTPFields = [:]
    ) throws -> HTTPRequest {
        try HTTPRequest(method: method, url: url, headerFields: fields)
    }

    private func send(
        _ transport: some HTTPTransport,
        _ request: HTTPRequest,
        _ body: String? = nil
    ) async throws -> (status: Int, body: String, fields: HTTPFields) {
        let response = try await transport.send(request, body: body.map { MessageBody($0) }, options: AttemptOptions())
        let bytes = try await response.body.collect(upTo: 1 << 20)
        return (response.head.status.code, String(decoding: bytes, as: UTF8.self), response.head.headerFields)
    }

    /// What is recorded of one exchange.
    private func recorded(
        _ request: HTTPRequest,
        _ body: String? = nil,
        _ step: ScriptedTransport.Step,
        keeping names: Set<String> = [],
        otherBodies: Bool = false
    ) async throws -> Cassette {
        let redaction = Cassette.Redaction(keeping: names, otherBodies: otherBodies)
        let recorder = CassetteTransport(recording: ScriptedTransport([step]), redaction: redaction)
        _ = try? await send(recorder, request, body)
        return recorder.cassette
    }

    @Test func whatWasRecordedIsPlayed() async throws {
        let server = ScriptedTransport([
            .status(429, ["retry-after": "2", "content-length": "0"]),
            .status(200, ["content-type": "application/json"], body: #"{ "name": "apple", "price": 3.50 }"#),
            .fail(.connectionLost, .unknown),
        ])
        let recorder = CassetteTransport(recording: server, redaction: .init(keeping: ["name", "price"]))
        #expect(recorder.isRecording && recorder.name == "scripted" && recorder.enforcesTimeouts)
        #expect(try await send(recorder, request()).status == 429)
        #expect(try await send(recorder, request()).body == #"{ "name": "apple", "price": 3.50 }"#)
        let lost = TransportError(.connectionLost, .unknown)
        await #expect(throws: lost) { try await send(recorder, request(.post), "x") }

        let text = recorder.cassette.text
        let cassette = try Cassette(parsing: Array(text.utf8))
        #expect(cassette == recorder.cassette && cassette.text == text)
        let player = CassetteTransport(playing: cassette)
        #expect(!player.isRecording && player.unplayed.count == 3)
        let first = try await send(player, request())
        #expect(first.status == 429 && first.fields[.retryAfter] == "2" && first.fields[.contentLength] == nil)
        #expect(throws: CassetteTransport.Unplayed.self) { try player.verify() }
        #expect(try await send(player, request()).body == #"{"name":"apple","price":3.50}"#)
        await #expect(throws: lost) { try await send(player, request(.post), "x") }
        try player.verify()
    }

    @Test func theTextIsMadeForDiffs() async throws {
        let step = ScriptedTransport.Step.status(200, ["content-type": "text/json"], body: #"{"b":1,"a":[true]}"#)
        let cassette = try await recorded(request(.get, Self.items + "?page=2"), nil, step, keeping: ["b"])
        #expect(
            cassette.text == """
                {
                  "exchanges": [
                    {
                      "body": {
                        "a": [
                          true
                        ],
                        "b": 1
                      },
                      "headers": {
                        "content-type": "text/json"
                      },
                      "request": {
                        "method": "GET",
                        "origin": "https://api.example.com",
                        "path": "/items?page=2"
                      },
                      "status": 200
                    }
                  ],
                  "keeping": [
                    "b"
                  ],
                  "version": 1
                }

                """
        )
    }

    @Test func anExchangeIsALineThatCanBeClassified() async throws {
        let cassette = try await recorded(request(), nil, .status(429, ["retry-after": "7"]))
        let line = Array(cassette.exchanges[0].json.description.utf8)
        let answer = RecordedExchange.answer(to: line, by: HTTPClassifier())
        #expect(answer["kind"] == "rate_limited" && answer["retry_after_s"] == 7)
    }

    @Test(arguments: [
        ("https://api.example.com/items?token=s3cr3t-1234", [:], nil, "POST"),
        ("https://api.example.com/items?s3cr3t-1234", [:], nil, "POST"),
        ("https://api.example.com/reset/s3cr3t-1234", [:], nil, "POST"),
        ("https://api.example.com/items", ["authorization": "Bearer s3cr3t-1234"], nil, "POST"),
        ("https://api.example.com/items", ["cookie": "id=s3cr3t-1234; b=s3cr3t-1234"], nil, "POST"),
        ("https://api.example.com/items", ["x-api-key": "s3cr3t-1234"], nil, "POST"),
        (
            "https://api.example.com/items", ["content-type": "application/x-www-form-urlencoded"],
            "grant_type=password&password=s3cr3t%2D1234&pw=s3cr3t-1234", "grant_type=password"
        ),
        (
            "https://api.example.com/items", ["content-type": "application/json"],
            #"{"type":"x","deep":[{"password":"s3cr3t-1234","s3cr3t-1234":1,"code":"s3cr3t-1234"}]}"#, #""type": "x""#
        ),
        ("https://api.example.com/items", [:], "s3cr3t-1234 as a text", "POST"),
        ("https://api.example.com/items", ["content-type": "multipart/form-data"], "--b\r\n\r\ns3cr3t-1234", "POST"),
    ])
    func noSecretOfARequestIsRecorded(url: String, fields: [String: String], body: String?, kept: String) async throws {
        var asked = try request(.post, url)
        for (name, value) in fields { asked.headerFields[try #require(HTTPField.Name(name))] = value }
        // An answer that repeats it, in what is kept.
        let echo = ScriptedTransport.Step.status(
            400,
            ["content-type": "application/json", "server": "s3cr3t-1234"],
            body: #"{"message":"no s3cr3t-1234 here"}"#
        )
        let cassette = try await recorded(
            asked,
            body,
            echo,
            keeping: ["message", "password", "token", "Authorization"]
        )
        #expect(
            cassette.exchanges.count == 1 && !cassette.text.contains("s3cr3t") && cassette.text.contains("redacted")
        )
        #expect(cassette.text.contains(kept) && cassette.text.contains(#""no redacted here""#))
        // The same request is played, with another secret too.
        let player = CassetteTransport(playing: cassette)
        #expect(try await send(player, asked, body?.replacing("s3cr3t-1234", with: "0ther-5678")).status == 400)
    }

    @Test(arguments: [
        (["set-cookie": "id=s3cr3t-1234; Path=/; HttpOnly"], "", "id=redacted-1; Path=/; HttpOnly"),
        (["location": "https://a.example/back?code=s3cr3t-1234&state=s3cr3t-1234#t=s3cr3t-1234"], "", "back?code="),
        (["authorization": "s3cr3t-1234"], "", "redacted-1"),
        (["set-cookie": "id=a; s3cr3t-1234; path=/x; s=s3cr3t-1234"], "", "id=redacted-1; path=/x\""),
        (["www-authenticate": "Negotiate s3cr3t-1234"], "", "Negotiate redacted-1"),
        (["location": "/a?code=splxlobezqq&error=access_denied"], "", "/a?code=redacted-1&error=access_denied"),
        ([:], #"{"code":"splxlobezqq","errors":[{"code":"form_password_incorrect"}]}"#, #""form_password_incorrect""#),
        ([:], #"{"error":{"code":190,"error_subcode":463}}"#, #""code": 190"#),
        ([:], #"{"access_token":"s3cr3t-1234","token_type":"Bearer"}"#, #""token_type": "Bearer""#),
        ([:], #"{"expires_in":3600,"n":1234567}"#, #""expires_in": 3600"#),
        ([:], #"{"user_code":"WDJB-MJHT","otp":123456,"code":"WDJB-MJHT"}"#, #""otp": 0"#),
        ([:], "<p>s3cr3t-1234</p>", #""body": "redacted""#),
    ])
    func noSecretOfAnAnswerIsRecorded(fields: [String: String], body: String, kept: String) async throws {
        let cassette = try await recorded(request(), nil, .status(200, fields, body: body))
        for secret in ["s3cr3t", "12345", "MJHT", "splx"] { #expect(!cassette.text.contains(secret)) }
        #expect(cassette.text.contains(kept), "\(cassette.text)")
    }

    /// A sign-in whose answer has an identifier and a token, which later requests carry.
    @Test func identifiersThatArePlayedAreAskedForAgain() async throws {
        let recorder = CassetteTransport(
            recording: ScriptedTransport([
                .status(200, body: #"{"id":"sia_29w8423","token":"one-1234","word":"abc"}"#),
                .status(200, body: #"{"token":"two-1234"}"#), .status(204),
            ])
        )
        let url = "https://api.example.com/sign_ins"
        _ = try await send(recorder, request(.post, url))
        _ = try await send(recorder, request(.post, url + "/sia_29w8423/attempt"))
        _ = try await send(recorder, request(.get, url + "/abc"))
        let player = CassetteTransport(playing: recorder.cassette)
        let first = try JSONValue(parsing: try await send(player, request(.post, url)).body)
        let id = try #require(first["id"]?.string)
        let second = try JSONValue(parsing: try await send(player, request(.post, "\(url)/\(id)/attempt")).body)
        #expect(id.hasPrefix("redacted-") && second["token"] != nil && first["token"] != second["token"])
        let word = try #require(first["word"]?.string)
        #expect(try await send(player, request(.get, "\(url)/\(word)")).status == 204)
        try player.verify()
    }

    @Test(arguments: [
        ("/v1/oauth2/token", "/v1/oauth2/token"), ("/items/firstFactor/12", "/items/firstFactor/12"),
        ("/items/1234", "/items/redacted-id-1"), ("/verify/ABCDEF", "/verify/redacted-id-1"),
        ("/verify/k3jd9a", "/verify/redacted-id-1"), ("/u/eve%40example.com", "/u/redacted-id-1"),
        ("/t/eyJhbGciOiJub25lIn0.eyJhIjoxfQ.", "/t/redacted"),
        ("/items?page=2&cursor=abc&code=abcdef&type=a", "/items?page=2&cursor=redacted&code=redacted&type=a"),
        ("/orders/1234", "/orders/1234"), ("/x?sku=a%2Fb", "/x?sku=a%2Fb"), ("/", "/"), ("/?", "/?"),
        ("/a//b/?=", "/a//b/?="),
    ])
    func routesAreKeptAndIdentifiersAreNot(path: String, kept: String) async throws {
        let url = "https://api.example.com" + path
        let cassette = try await recorded(request(.get, url), nil, .status(200), keeping: ["Orders", "sku"])
        #expect(cassette.exchanges.map(\.path) == [kept])
        _ = try await send(CassetteTransport(playing: cassette), request(.get, url))
    }

    @Test func aTokenKeepsItsTimesAlone() async throws {
        let claims = #"{"sub":"eve","exp":1893456000,"iat":1893452400,"pin":1234567}"#
        let parts = [#"{"alg":"RS256","kid":"1"}"#, claims, "signature"]
        let token = parts.map { Data($0.utf8).base64EncodedString().trimmingCharacters(in: ["="]) }.joined(
            separator: "."
        )
        let cassette = try await recorded(request(), nil, .status(200, body: #"{"id_token":"\#(token)"}"#))
        let played = try JSONValue(parsing: try await send(CassetteTransport(playing: cassette), request()).body)
        let made = try #require(played["id_token"]?.string).split(separator: ".", omittingEmptySubsequences: false)
        let payload = try #require(
            Data(base64Encoded: made[1] + String(repeating: "=", count: (4 - made[1].count % 4) % 4))
        )
        let text = String(decoding: payload, as: UTF8.self)
        #expect(text == #"{"exp":1893456000,"iat":1893452400,"jti":"redacted-1"}"#)
        #expect(made.count == 3 && made[2].isEmpty && !cassette.text.contains(token.suffix(12)))
    }

    @Test func bodiesThatAreNotJSONAreKeptWhereThatIsSaid() async throws {
        let text = try await recorded(request(), nil, .status(200, body: "3 EUR"), otherBodies: true)
        #expect(try await send(CassetteTransport(playing: text), request()).body == "3 EUR")
        let bytes: [UInt8] = [0xFF, 0x00, 0xFE]
        let image = ScriptedTransport.Step.run { _ in
            TransportResponse(head: HTTPResponse(status: .ok), body: MessageBody(bytes))
        }
        let recording = try await recorded(request(), nil, image, otherBodies: true)
        let player = CassetteTransport(playing: try Cassette(parsing: Array(recording.text.utf8)))
        let response = try await player.send(request(), body: nil, options: AttemptOptions())
        #expect(try await response.body.collect(upTo: 100) == bytes)
    }

    @Test func aBodyThatBreaksOffBreaksOffAgain() async throws {
        let broken = ScriptedTransport.Step.run { _ in
            TransportResponse(
                head: HTTPResponse(status: .ok),
                body: MessageBody {
                    AsyncThrowingStream { continuation in
                        continuation.yield([UInt8]("half".utf8)[...])
                        continuation.finish(throwing: TransportError(.truncated, .answered))
                    }
                }
            )
        }
        let recorder = CassetteTransport(recording: ScriptedTransport([broken]), redaction: .init(otherBodies: true))
        await #expect(throws: TransportError(.truncated, .answered)) { try await send(recorder, request()) }
        let player = CassetteTransport(playing: try Cassette(parsing: Array(recorder.cassette.text.utf8)))
        let response = try await player.send(request(), body: nil, options: AttemptOptions())
        var pieces = response.body.makeAsyncIterator()
        #expect(try await pieces.next() == [UInt8]("half".utf8)[...])
        await #expect(throws: TransportError(.truncated, .answered)) { try await pieces.next() }
    }

    @Test func whatFitsNothingIsToldWithTheNearest() async throws {
        let recorder = CassetteTransport(recording: ScriptedTransport())
        _ = try await send(recorder, request(.get, Self.items))
        _ = try await send(recorder, request(.post, Self.items + "/apple?page=1"), #"{"type":"a"}"#)
        let player = CassetteTransport(playing: recorder.cassette)
        let client = RecoveringClient(transport: player, runtime: .manual())
        let failure = await #expect(throws: RecoveryError.self) {
            try await client.send(request(.post, Self.items + "/apple?page=2"), body: MessageBody(#"{"type":"b"}"#))
        }
        let error = failure?.cause as? CassetteTransport.Mismatch
        #expect(
            error?.description == """
                no exchange is left that fits POST https://api.example.com/items/apple?page=2 with the body {"type":"b"}
                the nearest is number 2, POST https://api.example.com/items/apple?page=1 with the body {"type":"a"}: \
                its query is page=1, not page=2; its body is {"type":"a"}, not {"type":"b"}
                """
        )
        #expect(player.mismatches.count == 1 && throwsMismatch { try player.verify() })
        _ = try await send(player, request(.get, Self.items))
        let again = await #expect(throws: CassetteTransport.Mismatch.self) { try await send(player, request()) }
        #expect(again?.differences == ["it has been played already"] && again?.number == 1)
        let empty = CassetteTransport(playing: CassetteTransport(recording: ScriptedTransport()).cassette)
        let none = await #expect(throws: CassetteTransport.Mismatch.self) { try await send(empty, request()) }
        #expect(none?.nearest == nil && none?.description.contains("empty") == true)
    }

    private func throwsMismatch(_ body: () throws -> Void) -> Bool {
        do { try body() } catch { return error is CassetteTransport.Mismatch }
        return false
    }

    @Test(arguments: [
        ("", "line 1, column 1"), ("{\n  \"version\": 1,\n  oops\n}", "line 3, column 3"), ("[]", "version"),
        (#"{"version":2,"exchanges":[]}"#, "version"), (#"{"version":"1"}"#, "version"),
        (#"{"version":1}"#, "exchanges"),
        (#"{"version":1,"exchanges":[],"keeping":[1]}"#, "keeping"),
        (#"{"version":1,"exchanges":[7]}"#, "exchanges[0]"),
        (
            #"{"version":1,"exchanges":[{"request":{"method":"GET","path":"/"},"status":200}]}"#,
            "exchanges[0].request.origin"
        ),
        (Self.exchange(#""status":1e99"#), "exchanges[0]"),
        (Self.exchange(#""status":0,"error":"maybe""#), "exchanges[0].error"),
        (Self.exchange(#""status":200,"headers":[]"#), "exchanges[0].headers"),
        (Self.exchange(#""status":200,"body_base64":"%""#), "exchanges[0].body_base64"),
        (Self.exchange(#""status":200"#, origin: "ftp://x"), "exchanges[0].request"),
    ])
    func aBadCassetteIsRefusedWithThePlace(text: String, place: String) {
        let error = #expect(throws: Cassette.Malformed.self) { try Cassette(parsing: Array(text.utf8)) }
        #expect(error?.place == place && error?.description.hasPrefix("\(place): ") == true)
    }

    private static func exchange(_ members: String, origin: String = "https://a.example") -> String {
        #"{"version":1,"exchanges":[{"request":{"method":"GET","path":"/","origin":"\#(origin)"},\#(members)}]}"#
    }

    @Test func damagedCassettesNeverTrap() async throws {
        let body = #"{"a":[1,{"b":"c"}],"é":"\ud800"}"#
        let step = ScriptedTransport.Step.status(200, ["set-cookie": "a=b; Path=/"], body: body)
        let cassette = try await recorded(request(.post, Self.items + "/1234567?a=%e9&b"), "x=%&y", step)
        let mutator = ByteMutator(seed: 5)
        for _ in 0..<ByteMutator.rounds(200) {
            let damaged = mutator.mutate(Array(cassette.text.utf8))
            guard let read = try? Cassette(parsing: damaged) else { continue }
            let player = CassetteTransport(playing: read)
            _ = try? await send(player, request())
            _ = try? Cassette(parsing: Array(read.text.utf8))
        }
    }

    @Test func whatIsCancelledIsNotRecorded() async throws {
        let server = ScriptedTransport([.hang, .status(200)])
        let recorder = CassetteTransport(recording: server)
        let call = Task { try await send(recorder, request()) }
        await server.waitForRequests(1)
        _ = try await send(recorder, request())
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(recorder.cassette.exchanges.map(\.status) == [200])
    }
}
