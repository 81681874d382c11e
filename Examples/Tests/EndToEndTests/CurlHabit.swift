import HTTPRecoveryTesting
import Testing

/// A row of the table: what an option of curl's means to `http-recover`.
struct CurlHabit: Sendable, CustomTestStringConvertible {
    /// The option.
    let option: String
    /// The command line; `URL` is the server's, and `FILE` one of 14 bytes with a line end of each kind.
    ///
    /// Over TLS the server is `SECURE`, `MUTUAL` where a client shows a certificate, and `OLD` without TLS 1.3; `SOCKET` is its
    /// unix-domain socket. `CERTIFICATE` is its certificate, `BOTH` that with its key, `DIGEST` that of its public key.
    let arguments: [String]
    /// What the request has on the wire, in its head or body; with `!` in front what it has not.
    var wire: [String] = []
    /// What stands on standard output; nil for anything.
    var output: String?
    /// What the files hold that the command has written.
    var files: [String: String] = [:]
    /// How it ends.
    var status: Int32 = 0
    /// How many requests there are.
    var requests = 1
    /// How it differs from curl, as a sentence; nil where both do the same to the byte.
    var difference: String?

    /// Whether it needs the other ends of a connection that the server has not by itself.
    var needsFront: Bool { arguments.contains { word in CurlFront.ends.contains { word.contains($0) } } }

    var testDescription: String { arguments.joined(separator: " ") }

    init(
        _ option: String,
        _ arguments: [String],
        wire: [String] = [],
        output: String? = nil,
        files: [String: String] = [:],
        status: Int32 = 0,
        requests: Int = 1,
        difference: String? = nil
    ) {
        self.option = option
        self.arguments = arguments
        self.wire = wire
        self.output = output
        self.files = files
        self.status = status
        self.requests = requests
        self.difference = difference
    }

    /// What the server of the table answers.
    static func reply(_ request: FaultServer.Request) -> FaultServer.Reply {
        switch request.path.split(separator: "?").first {
        case "/twice": .answer(headers: [("X-A", "1"), ("X-A", "2")], body: "hello")
        case "/coded": .answer(headers: [("Content-Encoding", "gzip")], body: "coded")
        case "/404": .answer(404, headers: [("X-A", "1")], body: "none")
        case "/304": .raw("HTTP/1.1 304 Not Modified\r\nX-A: 1\r\n\r\n")
        case "/moved": .answer(302, headers: [("Location", "/there")])
        case "/moved/on": .answer(302, headers: [("Location", "../up?next=https://x.example/")])
        case "/moved/dead": .answer(302, headers: [("Location", "http://127.0.0.1:1/")])
        case "/moved/ftp": .answer(302, headers: [("Location", "ftp://h.test/x")])
        case "/moved/user": .answer(302, headers: [("Location", "http://u:p@h.test/z")])
        case "/moved/part": .answer(302, headers: [("Location", "/there#part")])
        case "/choices": .answer(300, headers: [("Location", "/there")])
        case "/long404": .answer(404, body: String(repeating: "x", count: 2 << 20))
        case "/hang": .stall
        case "/begun": .raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun").then(.stall)
        case "/open": .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\n").then(.stall)
        case "/busy": .answer(503, body: "busy")
        default:
            request.method == "HEAD"
                ? .raw("HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 5\r\n\r\n")
                : .raw("HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 5\r\n\r\nhello")
        }
    }

    /// The head of an answer of 200.
    static let head = "HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 5\r\n\r\n"

    /// What the file holds.
    static let file = "file\r\ncontent\n"

    /// What a body of data is said to be.
    static let form = "content-type: application/x-www-form-urlencoded"
    /// Why there are more requests than curl makes.
    static let tried = "A request is tried again without being asked for it."
    /// Why the exit status is not curl's.
    static let fails = "An HTTP error ends with 22 without -f too."
    /// Why the output is not curl's.
    static let lines = "Of several calls there is a line each, and bodies where they are named."
}
