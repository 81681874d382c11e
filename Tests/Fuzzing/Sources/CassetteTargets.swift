import HTTPTypes

@testable import HTTPRecovery
@testable import HTTPRecoveryTesting

/// What a recorder writes of what servers and callers say, and what a player reads.
enum CassetteTargets {
    static func readCassette(_ bytes: [UInt8]) {
        if let cassette = try? Cassette(parsing: bytes) {
            let read = try? Cassette(parsing: Array(cassette.text.utf8))
            // By the text: of a key that repeats, it has the last.
            require(read?.text == cassette.text, "a cassette is read as it was written")
            for exchange in cassette.exchanges {
                _ = try? exchange.answer()
                require(exchange.differences(from: exchange).found.isEmpty, "an exchange fits itself")
            }
        }
        // What is kept of a message may be anything: with the secret in an input nothing would be told by finding it.
        if bytes.firstRange(of: Planted.secret.utf8) == nil { record(FuzzedAnswer(bytes)) }
    }

    /// Records an exchange whose request and answer hold secrets where messages have them.
    private static func record(_ message: FuzzedAnswer) {
        var request = HTTPRequest(
            method: message.method,
            scheme: "https",
            authority: "api.example.com",
            path: (message.path.hasPrefix("/") ? "" : "/") + message.path,
            headerFields: message.fields
        )
        request.headerFields[.authorization] = "Bearer \(Planted.secret)"
        let body = Planted.body(message.body) ?? message.body
        var answer = body
        if let members = message.json?.members {
            // Servers repeat what they were sent.
            let echo = JSONValue.Member("error_description", .string("unknown token \(Planted.secret)"))
            answer = Array(JSONValue.object(members + [echo]).description.utf8)
        }
        var head = message.response
        head.headerFields.append(HTTPField(name: .setCookie, value: "sid=\(Planted.secret); Path=/"))
        let raw = RawExchange(request: request, requestBody: body, head: head, body: answer)
        var (recorder, player) = (Redactor(.init()), Redactor(.init(), identifiers: .asked))
        let json = recorder.json(raw)
        require(!json.description.contains(Planted.secret), "no secret is recorded: \(json)")
        guard let exchange = try? Cassette.Exchange(json, at: "") else { return }
        let cassette = Cassette([exchange], .init())
        let read = try? Cassette(parsing: Array(cassette.text.utf8))
        require(read == cassette, "a recording is read as it was written: \(cassette.text)")
        let asked = player.json(RawExchange(request: request, requestBody: body))
        let fits = (try? Cassette.Exchange(asked, at: "")).map { exchange.differences(from: $0).found.isEmpty }
        require(fits ?? false, "the request that was recorded fits: \(json)")
    }
}
