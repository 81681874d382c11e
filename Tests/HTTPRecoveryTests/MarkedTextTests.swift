import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// Scalars that join others to one character, before or behind them: whoever mixes the indices of characters and of
/// bytes stumbles over them.
@Suite("Text whose characters are not its bytes")
struct MarkedTextTests {
    private static let marks = [
        "\u{301}", "\u{600}", "\u{200D}", "\u{FE0F}", "\u{1F3FD}", "\u{1F1E6}", "\u{110BD}", "\u{D4E}", "\u{1F469}",
        "\r\n", "\u{0}", "\u{FEFF}", "\u{212A}", "\u{37E}",
    ]

    /// The text with each mark at each place.
    private static func marked(_ text: String) -> [String] {
        let scalars = Array(text.unicodeScalars)
        return marks.flatMap { mark in
            (0...scalars.count).map { place in
                var result = String.UnicodeScalarView()
                result.append(contentsOf: scalars[..<place])
                result.append(contentsOf: mark.unicodeScalars)
                result.append(contentsOf: scalars[place...])
                return String(result)
            }
        }
    }

    @Test func everyHeaderComesToAnOutcome() {
        for (name, value) in HostileInputTests.headers {
            for value in Self.marked(value) {
                for status in [401, 429] {
                    let outcome = HTTPClassifier().classify(exchange(status, [(name, value)], presented: .access))
                    #expect(outcome.retryAfter.map { $0 >= .zero && $0 <= .longest } ?? true)
                }
            }
        }
    }

    @Test func everyBodyComesToAnOutcome() {
        for body in HostileInputTests.bodies + [#"{"error":"invalid_token","error_description":"d"}"#] {
            for body in Self.marked(body) {
                let outcome = HTTPClassifier().classify(
                    exchange(400, [("content-type", "application/json")], body: body)
                )
                #expect((try? JSONValue(parsing: outcome.json(name: "x").description)) != nil)
                guard let value = try? JSONValue(parsing: body) else { continue }
                #expect((try? JSONValue(parsing: value.description)) == value)
            }
        }
    }

    @Test(arguments: [
        "https://api.example.com:443/a/b;c?d=e#f", "http://[::1]:8080/", "HTTPS://API.example.com", "http://a",
        "//a:80/b",
    ])
    func aURLIsReadOrRefused(url: String) {
        for text in Self.marked(url) {
            if let request = try? HTTPRequest(url: text) {
                #expect((request.path ?? "").utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            }
            let origin = Origin(scheme: "https", authority: text)
            #expect(Origin(scheme: "https", authority: origin.authority) == origin)
            let request = HTTPRequest(method: .get, scheme: "https", authority: "a", path: text)
            #expect(!request.redactedURL.contains("d=e"))
            #expect(!request.pathWithoutQuery.utf8.contains(UInt8(ascii: "?")))
        }
    }

    @Test(arguments: ["g?y#s", "../g;x=1", "//h:80/b", "http://h/x", "?y=1", "#s", "/./b/..", ""])
    func aReferenceIsResolvedOrRefused(reference: String) throws {
        let base = try HTTPRequest(url: "http://a/b/c/d;p?q")
        for text in Self.marked(reference) {
            guard let target = URLReference(text).resolved(against: base) else { continue }
            #expect((target.path ?? "").utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            #expect(target.path?.utf8.first == UInt8(ascii: "/"))
            #expect((target.authority ?? "").utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        }
        // What was asked for may be as odd as what is pointed to.
        for path in Self.marked("/b/c/d;p?q") where path.utf8.first == UInt8(ascii: "/") {
            let base = HTTPRequest(method: .get, scheme: "http", authority: "a", path: path)
            let target = try #require(URLReference(reference).resolved(against: base))
            #expect((target.path ?? "").utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        }
    }

    @Test func aQueryIsNoPartOfAnExchangesPath() {
        for path in Self.marked("/items?token=s3cret#x") where path.utf8.contains("?token=".utf8) {
            let exchange = Exchange(
                method: .get,
                path: path,
                result: .failure(TransportError(.other, .unknown)),
                now: present
            )
            #expect(!exchange.path.contains("s3cret"))
            #expect(!exchange.path.utf8.contains(UInt8(ascii: "?")) && !exchange.path.utf8.contains(UInt8(ascii: "#")))
        }
    }

    @Test func aCharacterOfManyMarksIsCutToo() {
        let long = "a" + String(repeating: "\u{301}", count: 100_000)
        #expect(long.count == 1)
        for limit in [0, 1, 2, 3, 256, 1024] {
            let cut = long.bounded(to: limit)
            #expect(cut.utf8.count <= limit && cut.utf8.count >= limit - 1)
            #expect(long.utf8.starts(with: cut.utf8))
        }
        let outcome = HTTPClassifier().classify(exchange(400, body: #"{"error":"x","message":"\#(long)"}"#))
        #expect((outcome.message?.utf8.count ?? 0) <= 4096)
    }

    @Test func aSecretIsRecognisedBehindAnyMark() throws {
        let base = try HTTPRequest(url: "https://api.example.com/")
        #expect(base.authority == "api.example.com")
        for value in ["Bearer \u{301}s3cret", "Basic \u{301}s3cret", "eyJ\u{301}s3cret"] {
            #expect(CredentialFields.looksLikeCredential(HTTPField(name: .accept, value: value)))
        }
    }
}
