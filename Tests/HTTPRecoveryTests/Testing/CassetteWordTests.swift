import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What is told from what is kept of an exchange by how it reads.
@Suite struct CassetteWordTests {
    private static let items = "https://api.example.com/items"

    /// What is recorded of one exchange, and what the recording plays.
    private static func played(
        _ url: String,
        _ fields: HTTPFields = [:],
        _ body: String? = nil,
        _ step: ScriptedTransport.Step
    ) async throws -> (text: String, head: HTTPResponse) {
        let request = try HTTPRequest(method: .post, url: url, headerFields: fields)
        let recorder = CassetteTransport(recording: ScriptedTransport([step]))
        _ = try await recorder.send(request, body: body.map { MessageBody($0) }, options: AttemptOptions())
        let player = CassetteTransport(playing: recorder.cassette)
        let response = try await player.send(request, body: body.map { MessageBody($0) }, options: AttemptOptions())
        return (recorder.cassette.text, response.head)
    }

    @Test(arguments: [
        ("https://api.example.com/items", "application/x-www-form-urlencoded", "hunter2"),
        ("https://api.example.com/items", "application/x-www-form-urlencoded", "QxTzKpLmRsWvBnHdYcGf"),
        ("https://api.example.com/cb?QxTzKpLmRsWvBnHdYcGf", "", "QxTzKpLmRsWvBnHdYcGf"),
        ("https://api.example.com/reset/kqjxwmvbnfzprtyu", "", "kqjxwmvbnfzprtyu"),
        ("https://api.example.com/magic/mfrggzdfmztwq2lk", "", "mfrggzdfmztwq2lk"),
        ("https://api.example.com/items", "application/json", #"{"tokens":{"QxTzKpLmRsWvBnHdYcGf":true}}"#),
        ("https://api.example.com/items", "application/json", #"{"type":"hunter2"}"#),
        ("https://api.example.com/items", "application/json", #"{"password":"hunt2"}"#),
    ])
    func whatReadsLikeNoWordIsNotKept(url: String, type: String, body: String) async throws {
        let server = body.contains("hunt2") ? "hunt2" : "s"
        let echo = ScriptedTransport.Step.status(400, ["server": server], body: #"{"code":"wdjb-mjht"}"#)
        let text = try await Self.played(url, [.contentType: type], body, echo).text
        for secret in ["hunt", "QxTz", "kqjx", "mfrgg", "wdjb"] where secret != "hunt" || body.contains("hunt") {
            #expect(!text.contains(secret), "\(text)")
        }
    }

    /// Members stay as many as they are, whatever their names are.
    @Test(arguments: [
        (
            #"{"2024-01-02":{"a":1},"2024-01-01":"x","@id":"y","n":true}"#,
            #"{"@id":"redacted-2","n":true,"redacted":"redacted-1","redacted~2":{"a":0}}"#
        ),
        (#"[{"eve@example.com":1},{"eve@example.com":2}]"#, #"[{"redacted":0},{"redacted":0}]"#),
        ("true", "true"), ("17", "0"), (#""sunshine""#, #""redacted-1""#), ("null", "null"),
    ])
    func jsonIsPlayedAsJSON(body: String, played: String) async throws {
        let answer = ScriptedTransport.Step.status(200, ["content-type": "application/problem+json"], body: body)
        let recorder = CassetteTransport(recording: ScriptedTransport([answer]))
        let request = try HTTPRequest(url: Self.items)
        _ = try await recorder.send(request, body: nil, options: AttemptOptions())
        let player = CassetteTransport(playing: try Cassette(parsing: recorder.cassette.text.utf8))
        let response = try await player.send(request, body: nil, options: AttemptOptions())
        let text = String(decoding: try await response.body.collect(upTo: 1000), as: UTF8.self)
        #expect(try JSONValue(parsing: text).description == played)
    }

    @Test func namesWithBracketsAreKept() async throws {
        let url = Self.items + "?filter[status]=sunshine&items%5B0%5D%5Bprice%5D=7"
        let text = try await Self.played(url, [:], nil, .status(200)).text
        #expect(text.contains("?filter[status]=redacted&items%5B0%5D%5Bprice%5D=redacted"), "\(text)")
    }

    /// What a server says is wrong with a token is played as it was said.
    @Test(arguments: [
        #"Bearer error="invalid_token", error_description="The access token expired""#,
        #"Bearer error="insufficient_user_authentication", acr_values="mfa", max_age="60""#,
        #"DPoP error="use_dpop_nonce", algs="ES256", Bearer realm="items""#, #"Basic realm="items", charset=UTF-8"#,
    ])
    func challengesAreKept(challenge: String) async throws {
        let step = ScriptedTransport.Step.status(401, ["www-authenticate": challenge])
        let played = try await Self.played(Self.items, [.authorization: "Bearer s3cr3t-1234"], nil, step)
        #expect(played.head.headerFields[.wwwAuthenticate] == challenge)
    }

    @Test func aTicketOfAChallengeIsNotKept() async throws {
        let step = ScriptedTransport.Step.status(401, ["www-authenticate": #"UMA realm="a", ticket="016f84e8-f9b9""#])
        let text = try await Self.played(Self.items, [:], nil, step).text
        #expect(!text.contains("016f84e8") && text.contains(#"realm=\"a\", ticket=\"redacted-1\""#))
    }
}
