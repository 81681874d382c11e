import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import CurlTransport

/// URLs that libcurl has parsed before serve again, for who asks for the same and for nobody else.
struct KnownURLTests {
    private static func url(_ text: String, _ known: inout KnownURLs) -> ParsedURL? {
        let bytes = Array(text.utf8) + [0]
        return unsafe bytes.withUnsafeBufferPointer { unsafe known.url($0) }
    }

    @Test func theSameURLIsParsedOnce() throws {
        var known = KnownURLs()
        let texts = (0..<40).map { "https://api.example.com/users/\($0)/profile-of-the-user" }
        for text in texts {
            let url = try #require(Self.url(text, &known))
            #expect(Self.url(text, &known) === url)
            #expect(Self.url(text + "/", &known) !== url)
        }
    }

    /// They may hold secrets.
    @Test func noQueryIsKept() throws {
        var known = KnownURLs()
        let url = try #require(Self.url("https://api.example.com/me?access_token=s", &known))
        #expect(Self.url("https://api.example.com/me?access_token=s", &known) !== url)
    }

    @Test(arguments: ["", "http://", "http://a:99999999/some/path", "http://[::1/some/path", "gopher"])
    func whatIsNoURLIsNone(text: String) {
        var known = KnownURLs()
        #expect(Self.url(text, &known) == nil)
    }

    /// The handles that libcurl's transfers use change hands between URLs that have been, that are new, and that are none.
    @Test(.timeLimit(.minutes(5)))
    func eachRequestAsksForItsOwn() async throws {
        let server = try FaultServer { .answer(body: $0.path) }
        let transport = CurlTransport.patient()
        let paths = (0..<200).map { number in
            switch number % 4 {
            case 0: "/always/the/same"
            case 1: "/items/\(number % 16)/and/more"
            case 2: "/items?number=\(number)"
            default: "/%7Edots/../and/./percent/%aF/\(number % 8)?"
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for path in paths {
                group.addTask {
                    let (_, body) = try await transport.fetch(.to(server.authority, .get, path))
                    #expect(body == path)
                }
                group.addTask {
                    let none = HTTPRequest.to("127.0.0.1:99999999", .get, path)
                    let error = await #expect(throws: TransportError.self) { try await transport.fetch(none) }
                    #expect(error?.code == .invalidRequest && error?.certainty == .neverSent)
                }
            }
            try await group.waitForAll()
        }
        #expect(server.receivedRequests.map(\.path).sorted() == paths.sorted())
    }
}
