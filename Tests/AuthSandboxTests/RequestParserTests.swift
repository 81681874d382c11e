import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Request parser")
struct RequestParserTests {
    private func requests(_ text: String, chunk: Int) -> [(RequestParser.Head, String)] {
        var parser = RequestParser()
        var found: [(RequestParser.Head, String)] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            parser.append(rest.prefix(chunk))
            rest = rest.dropFirst(chunk)
            while case .request(let head, let body) = parser.next() {
                found.append((head, String(decoding: body, as: UTF8.self)))
            }
        }
        return found
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func cutsPipelinedRequestsWhereverTheBytesBreak(chunk: Int) {
        let text =
            "\r\nPOST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
            + "GET /c HTTP/1.1\nConnection: close\n\n"
            + "PUT /d HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: v\r\n\r\n"
            + "GET /e HTTP/1.0\r\n\r\n"
        let found = requests(text, chunk: chunk)
        #expect(found.map(\.0.target) == ["/a?b", "/c", "/d", "/e"])
        #expect(found.map(\.1) == ["abc", "", "abcde", ""])
        #expect(found.map(\.0.keepAlive) == [true, false, true, false])
        #expect(found.first?.0.header("host") == "x")
    }

    @Test(arguments: [
        ("GET / HTTP/2\r\n\r\n", 400), ("nonsense\r\n\r\n", 400), ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n: x\r\n\r\n", 400), ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n", 413),
        ("GET /" + String(repeating: "x", count: 70_000), 431),
    ])
    func refuses(text: String, status: Int) {
        var parser = RequestParser()
        parser.append(text.utf8)
        guard case .invalid(status, _) = parser.next() else {
            Issue.record("\(text.prefix(60)) was not refused with \(status)")
            return
        }
    }

    @Test func asksForTheBodyOnce() {
        var parser = RequestParser()
        parser.append("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n".utf8)
        guard case .expectsContinue = parser.next() else { return #expect(Bool(false)) }
        guard case .incomplete = parser.next() else { return #expect(Bool(false)) }
        parser.append("x".utf8)
        guard case .request = parser.next() else { return #expect(Bool(false)) }
    }

    @Test func neverTrapsOnRandomBytes() {
        var random = SplitMix64(seed: 11)
        let words = [
            "GET ", "POST ", "/ ", "HTTP/1.1", "\r\n", "\n", ":", "Content-Length", "Transfer-Encoding: chunked",
            "5", "ff", " ", "\u{0}", "é", "0\r\n\r\n", "Expect: 100-continue",
        ]
        for _ in 0..<3000 {
            var parser = RequestParser()
            for _ in 0..<Int.random(in: 0..<20, using: &random) {
                parser.append((words.randomElement(using: &random) ?? "").utf8)
                calls: for _ in 0..<4 {
                    switch parser.next() {
                    case .incomplete, .invalid: break calls
                    default: continue
                    }
                }
            }
        }
    }

    @Test func targetsAreTakenApart() {
        let request = SandboxRequest(method: "GET", target: "http://host:1/proxy/v1/client?_is_native=1&a=%20b#f")
        #expect(request.path == "/proxy/v1/client")
        #expect(request.segments == ["proxy", "v1", "client"])
        #expect(request.queryItem("a") == " b")
        #expect(SandboxRequest(method: "GET", target: "http://host").path == "/")
        #expect(SandboxRequest(method: "GET", target: "?").path == "")
    }
}
