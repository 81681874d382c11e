import HTTPRecovery
import HTTPTypes
import Testing

#if canImport(Glibc)
import Glibc
#endif

@Suite struct HTTPBodyTests {
    @Test func bytesCanBeReadAgain() async throws {
        let body = MessageBody("hello")
        #expect(body.length == 5)
        #expect(body.replayability == .replayable)
        for _ in 1...2 { #expect(try await body.collect(upTo: 5) == Array("hello".utf8)) }
        await #expect(throws: MessageBody.ReadError.tooLarge(limit: 4)) { try await body.collect(upTo: 4) }
    }

    @Test func aFactoryMakesAFreshStreamEachTime() async throws {
        let body = MessageBody(length: 2) {
            AsyncStream {
                $0.yield([1, 2][...])
                $0.finish()
            }
        }
        for _ in 1...2 { #expect(try await body.collect(upTo: 2) == [1, 2]) }
    }

    @Test func aOneShotStreamIsReadOnce() async throws {
        let body = MessageBody(
            once: AsyncStream {
                $0.yield([1][...])
                $0.yield([2][...])
                $0.finish()
            }
        )
        #expect(body.replayability == .once)
        #expect(body.canBeRead)
        #expect(try await body.collect(upTo: 9) == [1, 2])
        #expect(!body.canBeRead)
        await #expect(throws: MessageBody.ReadError.alreadyConsumed) { try await body.collect(upTo: 9) }
    }

    @Test func aStreamThatIsTooLongIsStoppedAtTheLimit() async throws {
        let body = MessageBody { AsyncStream<ArraySlice<UInt8>> { [UInt8](repeating: 0, count: 1000)[...] } }
        await #expect(throws: MessageBody.ReadError.tooLarge(limit: 10_000)) { try await body.collect(upTo: 10_000) }
    }

    @Test func aFileIsOpenedAnewForEachReading() async throws {
        let path = "/tmp/http-recovery-body-\(getpid()).txt"
        let file = unsafe fopen(path, "w")
        unsafe fputs(String(repeating: "x", count: 100_000), file)
        unsafe fclose(file)
        defer { unsafe unlink(path) }
        let body = try MessageBody(file: path, chunkSize: 4096)
        #expect(body.length == 100_000)
        for _ in 1...2 { #expect(try await body.collect(upTo: 100_000).count == 100_000) }
        #expect(throws: MessageBody.ReadError.self) { try MessageBody(file: "/nonexistent/file") }
    }

    /// What was announced is sent, and no more, whatever the pieces are; what is missing the transport finds.
    @Test(arguments: [0, 1, 4096, 8191, 8192, 8193])
    func aFileThatGrowsIsSentAsItWasAnnounced(growth: Int) async throws {
        let path = "/tmp/http-recovery-growing-\(getpid())-\(growth)"
        let file = unsafe fopen(path, "w")
        unsafe fputs(String(repeating: "x", count: 8192), file)
        unsafe fflush(file)
        defer { unsafe unlink(path) }
        let body = try MessageBody(file: path, chunkSize: 4096)
        unsafe fputs(String(repeating: "y", count: growth), file)
        unsafe fclose(file)
        #expect(try await body.collect(upTo: 100_000) == [UInt8](repeating: UInt8(ascii: "x"), count: 8192))
        let empty = try MessageBody(file: path, chunkSize: 1)
        unsafe truncate(path, 100)
        #expect(empty.length == 8192 + growth)
        #expect(try await empty.collect(upTo: 100_000).count == 100)
    }

    /// A pipe that nobody writes to holds nobody up, and what is there is told from what is missing.
    @Test func whatIsNoRegularFileIsNoBody() async throws {
        let path = "/tmp/http-recovery-pipe-\(getpid())"
        #expect(unsafe mkfifo(path, 0o600) == 0)
        defer { unsafe unlink(path) }
        for (path, code) in [("/nonexistent/file", ENOENT), ("/tmp", EISDIR), (path, EINVAL), ("/tmp", EISDIR)] {
            errno = ENOENT
            #expect(throws: MessageBody.ReadError.unreadableFile(path: path, errno: code)) {
                try MessageBody(file: path)
            }
        }
    }

    @Test func aPipeThatHasTakenTheFilesPlaceIsNotWaitedFor() async throws {
        let path = "/tmp/http-recovery-replaced-\(getpid())"
        unsafe fclose(unsafe fopen(path, "w"))
        defer { unsafe unlink(path) }
        let body = try MessageBody(file: path)
        unsafe unlink(path)
        #expect(unsafe mkfifo(path, 0o600) == 0)
        await #expect(throws: MessageBody.ReadError.unreadableFile(path: path, errno: EINVAL)) {
            try await body.collect(upTo: 9)
        }
    }
}

@Suite struct URLTests {
    @Test(arguments: [
        ("http://a.example", "http", "a.example", "/"),
        ("https://a.example:8443/x?y=1#z", "https", "a.example:8443", "/x?y=1"),
        ("HTTPS://A.example?y=1", "https", "A.example", "/?y=1"),
        ("http://[::1]:80/a/../b", "http", "[::1]:80", "/a/../b"),
    ])
    func aURLIsTakenApart(url: String, scheme: String, authority: String, path: String) throws {
        let request = try HTTPRequest(url: url)
        #expect(request.scheme == scheme)
        #expect(request.authority == authority)
        #expect(request.path == path)
    }

    @Test(arguments: [
        "", "a.example", "/x", "ftp://a.example", "http://", "http://user:pw@a.example", "http://a.example:99999/",
        "http://%5b/", "http://a%2eexample/", "http://[::1%250d]x/", "http://[]/", "http://:80/",
        "http://a.example:x/", "http://a.example:/", "http://a b/", "http://a.example/ü", "http://[::1", "http://a\n/",
    ])
    func anythingElseIsRefused(url: String) {
        #expect(throws: Origin.InvalidURL.self) { try HTTPRequest(url: url) }
    }

    @Test func anOriginOfAURL() throws {
        let rows = [
            ("https://api.example.com", "https://api.example.com"),
            ("HTTP://A.example:80/v1/?q=1#f", "http://a.example"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ]
        for (url, origin) in rows { #expect(try Origin(url: url).description == origin) }
        for url in ["api.example.com", "ftp://a.example/", "https:///x", "https://u:p@a.example/"] {
            #expect(throws: Origin.InvalidURL.self, "\(url)") { try Origin(url: url) }
        }
    }

    @Test(arguments: [
        "a", "a.example", "A-1_b.example.", "a:1", "a:65535", "a:080", "a:", "127.0.0.1:8080", "[::1]", "[::1]:80",
        "[::ffff:127.0.0.1]:", "[fe80::1%25eth0]:8080", String(repeating: "a", count: 255) + ":1",
    ])
    func aRequestMayGoTo(authority: String) {
        #expect(Authority.defect(of: authority) == nil)
    }

    @Test(arguments: [
        ("", "no authority"), (":80", "no authority"), (":", "no authority"), ("user:secret@a", "user information"),
        ("user@a", "user information"), ("a:0", "port"), ("a:65536", "port"), ("a:99999999999999999999", "port"),
        ("a:8 0", "port"), ("a:+80", "port"), ("a:80:80", "port"), ("a b", "illegal"),
        ("a\r\nX-Injected: 1", "illegal"),
        ("a/b", "illegal"), ("%5b", "illegal"), ("a%0d%0ab", "illegal"), ("127.0.0.1%00.a", "illegal"),
        ("a\u{0}", "illegal"),
        ("a]", "illegal"), ("]", "illegal"), ("[", "IPv6"), ("[]", "IPv6"), ("[::1", "IPv6"), ("[::1%0d%0a]", "IPv6"),
        ("[::1%25]", "IPv6"), ("[::1%25a%0d]", "IPv6"), ("[::1%25a b]", "IPv6"), ("[a.example]", "IPv6"),
        ("[1]", "IPv6"), ("[:]", "IPv6"), ("[1.2.3.4]", "IPv6"),
        ("[::1]a", "illegal"), ("[::1]]", "illegal"), ("[::1]:x", "port"), ("b\u{fc}cher.example", "xn--"),
        ("a\u{ff0f}b", "xn--"), ("a\u{301}", "xn--"), (String(repeating: "a", count: 256), "long"),
    ])
    func aRequestCannotGoTo(authority: String, word: String) {
        let defect = Authority.defect(of: authority)
        #expect(defect?.contains(word) == true, "\(defect ?? "none")")
        #expect(defect?.contains("secret") != true)
    }

    @Test func anOriginIgnoresCaseUserinfoAndTheDefaultPort() {
        let origin = Origin(scheme: "https", authority: "a.example")
        #expect(Origin(scheme: "HTTPS", authority: "u:p@A.EXAMPLE:443") == origin)
        #expect(Origin(scheme: "http", authority: "a.example:80") == Origin(scheme: "http", authority: "a.example"))
        #expect(Origin(scheme: "https", authority: "a.example:80") != origin)
        for port in ["", ":", ":443", ":0443", ":00443"] {
            #expect(Origin(scheme: "https", authority: "a.example\(port)") == origin, "\(port)")
            #expect(Origin(scheme: "https", authority: "[::1]\(port)").authority == "[::1]", "\(port)")
        }
        for (given, port) in [(":08443", ":8443"), (":4430", ":4430"), (":0", ":0"), (":000", ":0"), (":44x", ":44x")] {
            #expect(Origin(scheme: "https", authority: "a.example\(given)").authority == "a.example\(port)", "\(given)")
        }
        #expect(Origin(scheme: "http", authority: "a.example") != origin)
    }
}
