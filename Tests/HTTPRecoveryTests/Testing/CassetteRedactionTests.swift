import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What has no name that says otherwise is not kept, also where it reads like any word.
@Suite struct CassetteRedactionTests {
    typealias Fields = [String: String]

    private static let items = "https://api.example.com/items"
    private static let form = ["content-type": "application/x-www-form-urlencoded"]
    private static let json = ["content-type": "application/json"]

    private static func request(_ url: String, _ fields: Fields = [:]) throws -> HTTPRequest {
        var request = try HTTPRequest(method: .post, url: url)
        for (name, value) in fields {
            request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        return request
    }

    /// What is recorded of exchanges, whose requests the recording answers again.
    private static func recorded(
        _ requests: [(request: HTTPRequest, body: String?)],
        _ answers: [ScriptedTransport.Step] = [],
        _ redaction: Cassette.Redaction = .init()
    ) async throws -> Cassette {
        let recorder = CassetteTransport(
            recording: ScriptedTransport(answers, then: .status(200)),
            redaction: redaction
        )
        func send(_ transport: CassetteTransport) async throws {
            for (request, body) in requests {
                _ = try await transport.send(request, body: body.map { MessageBody($0) }, options: AttemptOptions())
            }
        }
        try await send(recorder)
        let player = CassetteTransport(playing: try Cassette(parsing: Array(recorder.cassette.text.utf8)))
        try await send(player)
        try player.verify()
        return recorder.cassette
    }

    /// What is left of a limit is kept, and not whose limit it is.
    @Test(arguments: [
        ("X-RateLimit-Remaining", "sunshine", true), ("X-RateLimit-Resource", "sunshine", true),
        ("RateLimit", #""sunshine";r=17;t=30"#, true), ("RateLimit-Policy", #""sunshine";q=100;w=60"#, true),
        ("X-RateLimit-Remaining-Tokens", "sunshine", true),
        ("Anthropic-RateLimit-Input-Tokens-Reset", "sunshine", true),
        ("RateLimit", #""a;pk=1, sunshine";r=17"#, true), ("RateLimit", #""a";pk="b, sunshine";r=1"#, false),
        ("RateLimit", #""a";pk="b\";sunshine";r=1"#, false), ("X-RateLimit-Tokens-Api-Key", "sunshine", false),
        ("X-RateLimit-Api-Key", "sunshine", false), ("X-Rate-Limit-Token", "sunshine", false),
        ("X-RateLimit-User", "sunshine", false), ("X-RateLimit-Client-Id", "sunshine", false),
        ("RateLimit-Policy", #""a";q=100;w=60;pk=:sunshine:"#, false),
        ("RateLimit", "a;r=1; PK=sunshine, b;pk=sunshine", false),
    ])
    func aLimitIsKeptWithoutItsOwner(name: String, value: String, isKept: Bool) async throws {
        let answer = ScriptedTransport.Step.status(429, [name: value])
        let text = try await Self.recorded([(try Self.request(Self.items), nil)], [answer]).text
        #expect(text.contains("sunshine") == isKept && text.contains(name.lowercased()), "\(text)")
    }

    @Test(
        arguments: [
            (items, json, #"{"pw":"sunshine"}"#), (items, json, #"{"a":[["sunshine"]]}"#),
            (items, json, #""sunshine""#), (items, json, #"{"newPassword":{"a":[{"type":"sunshine"}]}}"#),
            (items, json, #"{"reason":"it is sunshine"}"#), (items, json, #"{"page":"sunshine"}"#),
            (items, form, "pw=sunshine"), (items, form, "sunshine"), (items, form, "type=a;pw=sunshine"),
            (items, form, "pw=a&sunshine&b=c"), (items, [:], "sunshine"),
            (items, ["content-type": "text/html"], "<p>sunshine"),
            (items + "?pw=sunshine", [:], nil), (items + "?sunshine", [:], nil), (items + "?c3Vuc2hpbmU=", [:], nil),
            (items + "?limit=sunshine&page=sunshine", [:], nil), (items + "?page=1;pw=sunshine", [:], nil),
            (items + "/1234567/sunshine", [:], nil), (items + "/K7XQ9PLM/orders/sunshine", [:], nil),
            ("https://api.example.com/reset/sunshine", [:], nil), ("https://api.example.com/users/sunshine", [:], nil),
            ("https://api.example.com/token/sunshine", [:], nil), (items + "/sun%73hine", [:], nil),
            (items + "/a;pw=sunshine", [:], nil), (items + "/sunshine", form, "password=sunshine"),
            (items, ["x-pass": "sunshine"], nil), (items, ["x-limit": "sunshine"], nil),
            (items, ["from": "sunshine"], nil),
            (items, ["authorization": "sunshine"], nil), (items, ["cookie": "sunshine"], nil),
            (items, ["authorization": "Basic ZXZlOnN1bnNoaW5l"], nil),
        ] as [(String, Fields, String?)]
    )
    func noWordOfARequestIsKeptThatHasNoNameForIt(url: String, fields: Fields, body: String?) async throws {
        let text = try await Self.recorded([(Self.request(url, fields), body)]).text
        #expect(!text.contains("sunshine") && !text.contains("c3Vuc2hpbmU") && !text.contains("sun%73hine"), "\(text)")
    }

    @Test(
        arguments: [
            ([:], #"{"pw":"sunshine"}"#), ([:], #"["sunshine"]"#), ([:], "sunshine"), ([:], "<p>sunshine"),
            ([:], #"{"error":"it is sunshine"}"#), ([:], #"{"expires_in":"sunshine"}"#),
            ([:], #"{"code":"sun-sunshine"}"#), ([:], #"{"password":{"type":"sunshine"}}"#),
            (["x-new-password": "sunshine"], ""), (["location": "/reset/sunshine?pw=sunshine&sunshine"], ""),
            (["www-authenticate": "Custom sunshine"], ""), (["www-authenticate": "Negotiate sunshine=="], ""),
            (["www-authenticate": #"Bearer realm="a" sunshine error="b""#], ""),
            (["www-authenticate": "Digest nonce=sunshine"], ""),
            (["set-cookie": "id=sunshine; path=/reset/sunshine"], ""),
            (["set-cookie": "id=a; secure=sunshine; expires=sunshine; max-age=sunshine"], ""),
        ] as [(Fields, String)]
    )
    func noWordOfAnAnswerIsKeptThatHasNoNameForIt(fields: Fields, body: String) async throws {
        let step = ScriptedTransport.Step.status(200, fields, body: body)
        let text = try await Self.recorded([(Self.request(Self.items), nil)], [step]).text
        #expect(!text.contains("sunshine"), "\(text)")
    }

    /// Servers repeat what they were sent, with characters that join to it.
    @Test(arguments: ["no sunshine here", "no sunshine\u{301} here", "no \u{600}sunshine", "sunshine"])
    func whatAnAnswerRepeatsIsNotKept(echo: String) async throws {
        for body in ["pw=sunshine", "secret_word=sunshine", "word=sunshine"] {
            let answer = ScriptedTransport.Step.status(
                400,
                ["server": "sunshine", "www-authenticate": #"Bearer error_description="\#(echo)""#],
                body: #"{"message":"not: \#(echo)","sun":"sunshines"}"#
            )
            let kept = Cassette.Redaction(keeping: ["message", "sun"])
            let text = try await Self.recorded([(Self.request(Self.items, Self.form), body)], [answer], kept).text
            #expect(!text.replacing("\"sunshines\"", with: "").contains("sunshine"), "\(text)")
        }
    }

    @Test(arguments: [
        ("/users/search", "/users/search"), ("/orders/K7XQ9PLM/items", "/orders/redacted-id-1/items"),
        ("/orders/K7XQ9PLM/parcels", "/orders/redacted-id-1/parcels"),
        ("/shop/basket/lines", "/shop/basket/lines"), ("/password/reset", "/password/reset"),
    ])
    func routesAreReadable(path: String, kept: String) async throws {
        let redaction = Cassette.Redaction(segments: ["Parcels"])
        let url = "https://api.example.com" + path
        let cassette = try await Self.recorded([(Self.request(url), nil)], [], redaction)
        #expect(cassette.exchanges.map(\.path) == [kept])
        #expect(try Cassette(parsing: Array(cassette.text.utf8)).redaction == redaction)
    }

    @Test func attributesOfCookiesAreKept() async throws {
        let line =
            "id=s3cr3t; Path=/items; Max-Age=60; Expires=Wed, 21-Oct-2026 07:28:00 GMT; SameSite=Lax; HttpOnly; Secure"
        let step = ScriptedTransport.Step.status(200, ["set-cookie": line])
        let text = try await Self.recorded([(Self.request(Self.items), nil)], [step]).text
        #expect(text.contains(line.replacing("s3cr3t", with: "redacted-1")), "\(text)")
    }
}
