import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("RecoveredResponse parser")
struct ResponseParserTests {
    /// What the bytes amount to when they come in pieces, with the end of the connection after them.
    private func outcome(
        _ text: String,
        chunk: Int = .max,
        isForHead: Bool = false,
        ends: Bool = true
    ) -> ResponseParser.Outcome {
        outcome(Array(text.utf8), chunk: chunk, isForHead: isForHead, ends: ends)
    }

    private func outcome(
        _ bytes: [UInt8],
        chunk: Int = .max,
        isForHead: Bool = false,
        ends: Bool = true
    ) -> ResponseParser.Outcome {
        var parser = ResponseParser(isForHead: isForHead)
        var rest = bytes[...]
        var outcome = ResponseParser.Outcome.incomplete
        while !rest.isEmpty, outcome == .incomplete {
            outcome = parser.append(rest.prefix(chunk))
            rest = rest.dropFirst(chunk)
        }
        return ends && outcome == .incomplete ? parser.end() : outcome
    }

    private func answer(_ outcome: ResponseParser.Outcome) -> SandboxResponse? {
        guard case .answer(let response) = outcome else { return nil }
        return response
    }

    struct Good: Sendable, CustomTestStringConvertible {
        var text: String
        var status: Int
        var headers: [String] = []
        var body = ""
        var isForHead = false
        /// Whether the answer is there without the end of the connection.
        var isFramed = true

        var testDescription: String { String(text.prefix(60)) }
    }

    @Test(
        arguments: [
            Good(text: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", status: 200, body: "abc"),
            Good(text: "HTTP/1.1 200\r\ncontent-length:0\r\n\r\n", status: 200),
            Good(text: "HTTP/1.1 200 \r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", status: 200, body: "x"),
            Good(text: "HTTP/1.0 404 Not Found\n\nall of it", status: 404, body: "all of it", isFramed: false),
            Good(text: "HTTP/1.1 200 OK\r\n\r\n", status: 200, isFramed: false),
            Good(
                text: """
                    HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                    3;a=b\r\nabc\r\n0A \r\n0123456789\r\n0\r\nT: v\r\n\r\n
                    """,
                status: 200,
                body: "abc0123456789"
            ),
            Good(
                text: """
                    HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n\
                    HTTP/1.1 201 Made\r\nA: b\r\nContent-Length: 0\r\n\r\n
                    """,
                status: 201,
                headers: ["A: b"]
            ),
            Good(text: "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\nA: b\r\n\r\n", status: 204, headers: ["A: b"]),
            Good(
                text: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
                status: 304,
                headers: ["Content-Length: 5"]
            ),
            Good(
                text: "HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n",
                status: 200,
                headers: ["Content-Length: 999999999999"],
                isForHead: true
            ),
            Good(text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", status: 200, isForHead: true),
            Good(
                text: """
                    HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nset-cookie: b=2\r\nX-Empty:\r\nConnection: close, X-Hop\r\n\
                    Keep-Alive: 5\r\nX-Hop: 1\r\nUpgrade: h2c\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n
                    """,
                status: 200,
                headers: ["Set-Cookie: a=1; Path=/", "set-cookie: b=2", "X-Empty: "]
            ),
            Good(
                text: "HTTP/1.1 599 \u{e9}t\u{e9}\r\nA: \u{e9}\r\nContent-Length: 0\r\n\r\n",
                status: 599,
                headers: ["A: \u{e9}"]
            ),
            // What follows an answer is nobody's.
            Good(text: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 500 No\r\n\r\n", status: 200, body: "a"),
        ],
        [1, 2, 3, 7, 10_000]
    )
    func understands(_ good: Good, chunk: Int) throws {
        let response = try #require(
            answer(outcome(good.text, chunk: chunk, isForHead: good.isForHead, ends: !good.isFramed))
        )
        #expect(response.status == good.status)
        #expect(response.headers.map { "\($0.name): \($0.value)" } == good.headers)
        #expect(String(decoding: response.body, as: UTF8.self) == good.body)
    }

    @Test(
        arguments: [
            ("", UpstreamFailure.Code.closed), ("HTTP/1.1 200 OK\r\n", .closed),
            ("HTTP/1.1 100 Continue\r\n\r\n", .closed),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", .closed),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", .closed),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", .closed),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", .closed),
            ("\u{16}\u{3}\u{1}\u{2}\r\n", .invalid), ("\r\n\r\n", .invalid), ("HTTP/2 200 OK\r\n\r\n", .invalid),
            ("HTTP/1.1 20 OK\r\n\r\n", .invalid), ("HTTP/1.1 2000 OK\r\n\r\n", .invalid),
            ("HTTP/1.1 -20 OK\r\n\r\n", .invalid), ("HTTP/1.1 099 OK\r\n\r\n", .invalid),
            ("HTTP/1.2 200 OK\r\n\r\n", .invalid), ("HTTP/1.1  200 OK\r\n\r\n", .invalid),
            ("http/1.1 200 OK\r\n\r\n", .invalid), ("ICY 200 OK\r\n\r\n", .invalid),
            ("HTTP/1.1 101 Switching\r\n\r\n", .invalid),
            ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", .invalid), ("HTTP/1.1 200 OK\r\n: x\r\n\r\n", .invalid),
            ("HTTP/1.1 200 OK\r\nA : x\r\n\r\n", .invalid), ("HTTP/1.1 200 OK\r\nA: x\r\n folded\r\n\r\n", .invalid),
            ("HTTP/1.1 200 OK\r\nA: x\ry\r\n\r\n", .invalid), ("HTTP/1.1 200 OK\r\nA: \u{0}\r\n\r\n", .invalid),
            ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", .invalid),
            ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx", .invalid),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\nx", .invalid),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy", .invalid),
            ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", .invalid),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n", .tooLong),
            ("HTTP/1.1 200 OK\r\nContent-Length: 16777217\r\n\r\n", .tooLong),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", .invalid),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n", .invalid),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", .invalid),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", .invalid),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", .invalid),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", .invalid),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n", .tooLong),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n111111111\r\n", .invalid),
        ] as [(String, UpstreamFailure.Code)],
        [1, 5, 10_000]
    )
    func refuses(_ bad: (text: String, code: UpstreamFailure.Code), chunk: Int) {
        let (text, code) = bad
        guard case .failure(let failure) = outcome(text, chunk: chunk) else {
            Issue.record("\(text.prefix(60)) was taken")
            return
        }
        #expect(failure.code == code)
        #expect(failure.response.status == 502)
        #expect(failure.response.jsonBody?["error"]?.string == code.rawValue)
    }

    /// What goes on without end is ended by a limit, without the end of the connection.
    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nA: ", ["a", "A: b\r\n", "é"]), ("HTTP/1.1 200 OK\r\n", ["a", "A: b\r\n"]),
        ("HTTP/1.1 100 Continue\r\n\r\n", ["HTTP/1.1 100 Continue\r\n\r\n", "a"]), ("x", ["x"]),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", ["a", "A: b\r\n"]),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", ["a", ";"]),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ["1", "0"]),
    ])
    func heads(beginning: String, fillings: [String]) {
        for filling in fillings {
            var parser = ResponseParser(isForHead: false)
            var outcome = parser.append(Array(beginning.utf8))
            var fed = 0
            while outcome == .incomplete, fed < 200_000 {
                outcome = parser.append(Array(filling.utf8))
                fed += filling.utf8.count
            }
            guard case .failure(let failure) = outcome else {
                Issue.record("\(beginning) and \(filling) have no end")
                return
            }
            #expect(failure.code == .tooLong || failure.code == .invalid)
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"])
    func bodiesWithoutEnd(head: String) {
        var parser = ResponseParser(isForHead: false)
        var outcome = parser.append(Array(head.utf8))
        let piece = [UInt8](repeating: 0x61, count: 65_536)
        let framed = head.contains("chunked") ? Array("10000\r\n".utf8) + piece + Array("\r\n".utf8) : piece
        var pieces = 0
        while outcome == .incomplete, pieces < 300 {
            outcome = parser.append(framed)
            pieces += 1
        }
        guard case .failure(let failure) = outcome else { return #expect(Bool(false)) }
        #expect(failure.code == .tooLong && pieces == 257)
    }

    @Test func theLongestBodyInSmallChunks() {
        let count = 20_000
        let text =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + String(repeating: "1\r\na\r\n", count: count)
            + "0\r\n\r\n"
        #expect(answer(outcome(text, chunk: 1000, ends: false))?.body.count == count)
    }

    @Test func bytesThatAreNoUTF8() {
        let bytes: [UInt8] =
            Array("HTTP/1.1 200 ".utf8) + [0xE9] + Array("\r\nA: ".utf8) + [0xFF, 0x41] + Array("\r\n\r\n".utf8)
        let response = answer(outcome(bytes + [0xFF, 0x00]))
        #expect(response?.header("A") == "\u{ff}A" && response?.reason == "\u{e9}")
        #expect(response?.body == [0xFF, 0x00])
    }

    @Test func neverTrapsOnRandomBytes() {
        var random = SplitMix64(seed: 5)
        let words = [
            "HTTP/1.1 ", "200 OK", "100 ", "204", "\r\n", "\n", ":", "Content-Length: ",
            "Transfer-Encoding: chunked\r\n", "5", "ff", " ", "\u{0}", "é", "0\r\n\r\n", "Connection: close\r\n",
            "HTTP/1.1 200 OK\r\n\r\n", ";",
        ]
        var answers = 0
        for round in 0..<5000 {
            var parser = ResponseParser(isForHead: round % 7 == 0)
            var outcome = ResponseParser.Outcome.incomplete
            if round % 2 == 0 { outcome = parser.append(Array("HTTP/1.1 200 OK\r\n".utf8)) }
            for _ in 0..<Int.random(in: 0..<20, using: &random) where outcome == .incomplete {
                outcome = parser.append(Array((words.randomElement(using: &random) ?? "").utf8))
            }
            // An outcome stays what it is.
            let end = parser.end()
            #expect(end != .incomplete && (outcome == .incomplete || end == outcome))
            #expect(parser.append([0x41]) == end && parser.end() == end)
            if answer(end) != nil { answers += 1 }
        }
        #expect(answers > 100)
    }
}
