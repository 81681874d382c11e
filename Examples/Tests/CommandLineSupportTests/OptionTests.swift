import CommandLineSupport
import Glibc
import HTTPRecovery
import HTTPTypes
import Testing

@Suite("Options")
struct OptionTests {
    @Test(arguments: [
        ("0", Duration.zero), ("30", .seconds(30)), ("0.25", .milliseconds(250)), (".5", .milliseconds(500)),
        ("5.", .seconds(5)), ("000001", .seconds(1)), ("0.0000000019", .nanoseconds(1)),
        ("1000000000", .seconds(1_000_000_000)),
    ])
    func secondsAreRead(text: String, duration: Duration) throws {
        #expect(try Seconds.parse(text).duration == duration)
    }

    @Test(arguments: [
        "", ".", "nan", "inf", "infinity", "-1", "+1", "5s", "1 ", " 1", "1e3", "0x10", "1,5", "1.2.3", "1_000", "٣",
        "1000000001", "99999999999999999999999999",
    ])
    func otherSecondsAreRefused(text: String) {
        #expect(throws: InvalidOption.self) { try Seconds.parse(text) }
    }

    @Test func aLimitOfZeroSecondsIsRefusedWhereNothingCouldBeDone() throws {
        #expect(throws: InvalidOption.self) { try Seconds.parsePositive("0") }
        #expect(try Seconds.parsePositive("0.001").duration == .milliseconds(1))
    }

    @Test func backoffHasTwoNumbersInOrder() throws {
        let range = try BackoffRange.parse("0.1,20")
        #expect(range.base == .milliseconds(100))
        #expect(range.cap == .seconds(20))
        for text in ["1", "1,", ",1", "2,1", "1,2,3", "a,b"] {
            #expect(throws: InvalidOption.self) { try BackoffRange.parse(text) }
        }
    }

    @Test(arguments: [
        ("Name: value", "Name", "value"), ("X-A:b:c", "X-A", "b:c"), ("X-Empty:", "X-Empty", ""),
        ("X-Space:\t a b", "X-Space", "a b"), ("X-Text: grün", "X-Text", "grün"),
    ])
    func headersAreRead(text: String, name: String, value: String) throws {
        let field = try HeaderOption.parse(text)
        #expect(field.name.rawName == name)
        #expect(field.value == value)
    }

    @Test(arguments: [
        "", "Name", ": value", "Na me: s3cret", "Name: s3cret\r\nOther: x", "Name: s3cret\u{0}", "N\n: a",
    ])
    func otherHeadersAreRefusedWithoutRepeatingTheirValue(text: String) {
        let error = #expect(throws: InvalidOption.self) { try HeaderOption.parse(text) }
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test func anAutomaticKeyIsAQuotedUUIDAndAnotherForEachCall() throws {
        let random = Runtime.RandomSource(seed: 1)
        let option = try IdempotencyKeyOption.parse("auto")
        let keys = (0..<100).compactMap { _ in option.fieldValue(random: random) }
        #expect(Set(keys).count == 100)
        for key in keys {
            #expect(key.wholeMatch(of: /"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"/) != nil)
        }
    }

    @Test func aGivenKeyIsSentAsItIs() throws {
        #expect(try IdempotencyKeyOption.parse("my key").fieldValue(random: Runtime.RandomSource()) == "my key")
        #expect(try IdempotencyKeyOption.parse("none").fieldValue(random: Runtime.RandomSource()) == nil)
        for text in ["", "a\nb", "ü"] {
            #expect(throws: InvalidOption.self) { try IdempotencyKeyOption.parse(text) }
        }
    }
}

@Suite("Request input")
struct RequestInputTests {
    @Test(arguments: [
        ("http://u:p@h/", "Basic dTpw"), ("http://u@h:1/x", "Basic dTo="),
        ("https://Aladdin:open%20sesame@h", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ("http://a@b:c@h/", "Basic YUBiOmM="),
    ])
    func theUserOfAURLBecomesABasicCredential(url: String, field: String) throws {
        let request = try RequestInput.request(url: url, method: .get, fields: [:])
        #expect(request.headerFields[.authorization] == field)
        #expect(request.authority?.hasPrefix("h") == true)
    }

    @Test func anAuthorizationFieldStandsAboveTheURL() throws {
        let fields: HTTPFields = [.authorization: "Bearer x"]
        let request = try RequestInput.request(url: "http://u:p@h/", method: .get, fields: fields)
        #expect(request.headerFields[.authorization] == "Bearer x")
    }

    @Test(arguments: [
        "example.com", "ftp://h/", "http://", "http://u:s3cret@/", "http://h:x/?s3cret", "http://h/ü", "u:s3cret@h/x",
    ])
    func otherURLsAreRefusedWithoutTheirSecrets(url: String) {
        let error = #expect(throws: InvalidOption.self) {
            try RequestInput.request(url: url, method: .get, fields: [:])
        }
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test func severalDataAreJoinedAsInAForm() async throws {
        #expect(try RequestInput.body([]) == nil)
        let body = try #require(try RequestInput.body(["a=1", "b=2"]))
        #expect(try await body.collect(upTo: 100) == Array("a=1&b=2".utf8))
        #expect(throws: FileError.self) { try RequestInput.body(["a", "@b"]) }
        try await withTemporaryDirectory { directory in
            let file = try AtomicFile(directory + "/data")
            try file.write(Array("c=3".utf8)[...])
            try file.commit()
            let body = try #require(try RequestInput.body(["a=1", "@" + directory + "/data"]))
            #expect(try await body.collect(upTo: 100) == Array("a=1&c=3".utf8))
        }
    }

    @Test func aFileIsSentAsItIs() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/data"
            let file = try AtomicFile(path)
            try file.write(Array("a\r\n\u{0}b".utf8)[...])
            try file.commit()
            let body = try #require(try RequestInput.body(["@" + path]))
            #expect(body.replayability == .replayable)
            #expect(try await body.collect(upTo: 100) == Array("a\r\n\u{0}b".utf8))
            #expect(throws: FileError.self) { try RequestInput.body(["@\(directory)/missing"]) }
            #expect(throws: FileError.self) { try RequestInput.body(["@\(directory)"]) }
        }
    }

    @Test(arguments: ["http://h:3128", "socks5h://127.0.0.1:1080/", "HTTPS://u:p@h"])
    func proxiesAreAccepted(url: String) throws {
        #expect(try RequestInput.proxy(url) == url)
    }

    /// What does not end is told with the limit.
    @Test func whatIsTooLargeForMemoryIsRefused() {
        let error = #expect(throws: FileError.self) { try RequestInput.bytes(ofFile: "/dev/zero", limit: 1 << 20) }
        #expect(error?.description == "/dev/zero cannot be read into memory: it is larger than 1 MiB")
    }

    /// As in curl.
    @Test func aProxyWithoutASchemeIsAnHTTPProxy() throws {
        #expect(try RequestInput.proxy("h:3128") == "http://h:3128")
        #expect(try RequestInput.proxy("u:p@h:3128") == "http://u:p@h:3128")
    }

    @Test(arguments: ["", "h", "h:x", "ftp://h", "http://", "http://u:s3cret@h:x"])
    func otherProxiesAreRefused(url: String) {
        let error = #expect(throws: InvalidOption.self) { try RequestInput.proxy(url) }
        #expect(error?.description.contains("s3cret") == false)
    }
}
