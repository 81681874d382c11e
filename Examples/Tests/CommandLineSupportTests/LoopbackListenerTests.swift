import CommandLineSupport
import CurlTransport
import HTTPRecovery
import HTTPTypes
import Testing

/// Waiting on this machine for a browser.
@Suite(.timeLimit(.minutes(10)))
struct LoopbackListenerTests {
    /// What a browser is answered.
    private static func get(_ url: String) async throws -> (status: Int, body: String) {
        let transport = CurlTransport()
        let response = try await transport.send(HTTPRequest(url: url), body: nil, options: AttemptOptions())
        let body = String(decoding: try await response.body.collect(upTo: 1 << 16), as: UTF8.self)
        await transport.shutdown()
        return (response.head.status.code, body)
    }

    @Test(arguments: [
        ("http://127.0.0.1/callback", "http://127.0.0.1:", "/callback"),
        ("http://localhost:0", "http://localhost:", "/"),
        ("http://[::1]/a/b?x=1", "http://[::1]:", "/a/b"),
    ])
    func theFirstVisitIsTold(_ uri: String, _ origin: String, _ path: String) async throws {
        let listener: LoopbackListener
        do {
            listener = try LoopbackListener(uri: uri)
        } catch  where origin.contains("::1") {
            // A machine without IPv6.
            return
        }
        #expect(listener.uri.hasPrefix(origin) && listener.uri.hasSuffix(path))
        #expect(try await Self.get(listener.uri + "/favicon.ico").status == 404)
        let page = try await Self.get(listener.uri + "?code=a%20b&state=c")
        #expect(page.status == 200 && page.body.contains("You can close this window"))
        _ = try await Self.get(listener.uri + "?code=second")
        #expect(try await listener.visit() == listener.uri + "?code=a%20b&state=c")
    }

    /// Whatever comes of another request is passed over, before somebody waits as well as then.
    @Test func anotherRequestsAnswerIsPassedOver() async throws {
        let listener = try LoopbackListener(uri: "http://127.0.0.1/callback")
        _ = try await Self.get(listener.uri + "?code=old&state=old")
        let place = listener.uri.replacing(":", with: "%3A").replacing("/", with: "%2F")
        async let visit = listener.visit(after: "https://id.example.com/authorize?redirect_uri=\(place)&state=a%20b")
        while true {
            let page = try await Self.get(listener.uri + "?code=other")
            if page.status == 404 {
                #expect(page.body.contains("not the sign-in that is waited for"))
                break
            }
        }
        _ = try await Self.get(listener.uri + "?code=c&state=a%20b")
        #expect(try await visit == listener.uri + "?code=c&state=a%20b")
    }

    /// A page for the browser stands at an address of its own, however large it is, and is no visit.
    @Test func aPageIsServed() async throws {
        let listener = try LoopbackListener(uri: "http://127.0.0.1/callback")
        let page = String(repeating: "<p>a page</p>", count: 4000)
        let address = listener.serve(page)
        #expect(address.hasPrefix("http://127.0.0.1:") && address != listener.serve(page))
        for _ in 1...2 {
            let answer = try await Self.get(address)
            #expect(answer.status == 200 && answer.body == page)
        }
        #expect(try await Self.get(address + "x").status == 404)
        _ = try await Self.get(listener.uri + "?code=a")
        #expect(try await listener.visit() == listener.uri + "?code=a")
    }

    @Test func aPortThatIsNamedIsTaken() async throws {
        let first = try LoopbackListener(uri: "http://127.0.0.1/")
        #expect(throws: FileError.self) { try LoopbackListener(uri: first.uri) }
        #expect(try await Self.get(first.uri).status == 200)
        #expect(try await first.visit() == first.uri)
    }

    @Test(arguments: [
        "https://127.0.0.1/", "http://127.0.0.1:99999/", "http://127.0.0.1.example.com/", "http://10.0.0.1/",
        "myapp://callback", "", "http://", "http://[::2]/", "http://localhost:80:80/", "http://localhostx/",
    ])
    func elsewhereNobodyListens(_ uri: String) {
        #expect(!LoopbackListener.isLocal(uri))
        #expect(throws: (any Error).self) { try LoopbackListener(uri: uri) }
    }

    @Test(arguments: [
        (
            "https://idp.example.com/a?client_id=1&redirect_uri=http%3A%2F%2F127.0.0.1%3A8400%2Fa&state=s",
            "http://127.0.0.1:8400/a"
        ),
        ("https://idp.example.com/a?redirect_uri=http://localhost/%", "http://localhost/%"),
        ("https://idp.example.com/a?redirect_uri=http://localhost/%+1%zz%41", "http://localhost/%+1%zzA"),
        ("https://idp.example.com/a?state=redirect_uri=x", nil), ("https://idp.example.com/redirect_uri=x", nil),
        ("", nil),
    ])
    func aRequestSaysWhereItComesBack(_ url: String, _ uri: String?) {
        #expect(LoopbackListener.redirectURI(in: url) == uri)
    }

    @Test func aCancellationEndsTheWait() async throws {
        let listener = try LoopbackListener(uri: "http://127.0.0.1/")
        let task = Task { try await listener.visit() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
