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

    @Test func anOriginIgnoresCaseUserinfoAndTheDefaultPort() {
        let origin = Origin(scheme: "https", authority: "a.example")
        #expect(Origin(scheme: "HTTPS", authority: "u:p@A.EXAMPLE:443") == origin)
        #expect(Origin(scheme: "http", authority: "a.example:80") == Origin(scheme: "http", authority: "a.example"))
        #expect(Origin(scheme: "https", authority: "a.example:80") != origin)
        #expect(Origin(scheme: "http", authority: "a.example") != origin)
    }
}
