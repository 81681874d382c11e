import HTTPRecovery
import HTTPTypes
import Testing

@testable import CurlTransport

/// The verdict as a table of facts.
struct VerdictTests {
    struct Row: Sendable {
        let facts: TransferFacts
        let code: TransportError.Code
        let certainty: TransportError.Certainty
        let isTransient: Bool

        init(
            _ code: Int,
            attempts: Int = 0,
            veto: Bool = false,
            status: Bool = false,
            head: Bool = false,
            refused: Bool = false,
            byProxy: Bool = false,
            own: TransferFacts.OwnReason? = nil,
            detail: String = "",
            _ word: TransportError.Code,
            _ certainty: TransportError.Certainty,
            transient: Bool = true
        ) {
            facts = TransferFacts(
                code: code,
                wireAttempts: attempts,
                isVetoed: veto,
                sawStatus: status,
                sawHead: head,
                isRefused: refused,
                isRefusedByProxy: byProxy,
                ownReason: own,
                detail: detail
            )
            self.code = word
            self.certainty = certainty
            self.isTransient = transient
        }
    }

    private static let longLine = "Out of memory in chunked-encoding"
    private static let coding = "Unsolicited Transfer-Encoding (gzip)"

    static let rows: [Row] = [
        // Before a connection there is nothing to doubt.
        Row(5, .cannotResolve, .neverSent),
        Row(6, .cannotResolve, .neverSent),
        Row(7, .cannotConnect, .neverSent),
        Row(97, .cannotConnect, .neverSent),
        Row(28, .timedOut, .neverSent),
        Row(35, .tlsFailed, .neverSent),
        Row(56, .cannotConnect, .neverSent),
        Row(60, .certificateRejected, .neverSent, transient: false),
        Row(90, .certificateRejected, .neverSent, transient: false),
        Row(1, .invalidRequest, .neverSent, transient: false),
        Row(3, .invalidRequest, .neverSent, transient: false),
        Row(77, .misconfigured, .neverSent, transient: false),
        Row(27, .outOfResources, .neverSent),
        Row(999, .other, .neverSent),
        // A proxy that would refuse again.
        Row(56, byProxy: true, .cannotConnect, .neverSent, transient: false),
        Row(97, byProxy: true, .cannotConnect, .neverSent, transient: false),
        Row(42, byProxy: true, own: .endlessProxyAnswer, .cannotConnect, .neverSent, transient: false),
        Row(42, own: .endlessProxyAnswer, .cannotConnect, .neverSent),
        // Sent and not answered: never certain, whatever the code.
        Row(52, attempts: 1, .connectionLost, .unknown),
        Row(55, attempts: 1, .connectionLost, .unknown),
        // It went out on a used connection that died, and libcurl could not make another for a resend.
        Row(6, attempts: 1, .connectionLost, .unknown),
        Row(7, attempts: 1, .connectionLost, .unknown),
        Row(35, attempts: 1, .connectionLost, .unknown),
        Row(97, attempts: 1, .connectionLost, .unknown),
        Row(56, attempts: 1, .connectionLost, .unknown),
        Row(16, attempts: 1, .connectionLost, .unknown),
        Row(18, attempts: 1, .connectionLost, .unknown),
        Row(92, attempts: 1, .connectionLost, .unknown),
        Row(28, attempts: 1, .timedOut, .unknown),
        Row(1, attempts: 1, .notHTTP, .unknown),
        Row(8, attempts: 1, .notHTTP, .unknown),
        Row(27, attempts: 1, .headersTooLarge, .unknown, transient: false),
        // The resend that was stopped.
        Row(42, attempts: 1, veto: true, .connectionLost, .unknown),
        Row(65, attempts: 1, veto: true, .connectionLost, .unknown),
        Row(42, attempts: 1, veto: true, refused: true, .streamRefused, .notProcessed),
        Row(16, attempts: 1, refused: true, .streamRefused, .notProcessed),
        // Answered, in part.
        Row(18, attempts: 1, status: true, head: true, .truncated, .answered),
        Row(56, attempts: 1, status: true, head: true, .connectionLost, .answered),
        Row(61, attempts: 1, status: true, head: true, .badContentEncoding, .answered),
        Row(28, attempts: 1, status: true, head: true, .timedOut, .answered),
        // The same in versions of libcurl.
        Row(56, attempts: 1, status: true, head: true, detail: longLine, .headersTooLarge, .answered, transient: false),
        Row(
            100,
            attempts: 1,
            status: true,
            head: true,
            detail: longLine,
            .headersTooLarge,
            .answered,
            transient: false
        ),
        Row(100, attempts: 1, status: true, head: true, .outOfResources, .answered),
        Row(61, attempts: 1, status: true, detail: coding + " found", .notHTTP, .answered),
        Row(61, attempts: 1, status: true, detail: "A Transfer-Encoding (gzip) was listed", .notHTTP, .answered),
        Row(61, attempts: 1, status: true, detail: "Unrecognized content encoding", .badContentEncoding, .answered),
        Row(16, attempts: 1, status: true, head: true, refused: true, .connectionLost, .answered),
        // libcurl's success without the empty line.
        Row(0, attempts: 1, status: true, .truncated, .answered),
        Row(0, attempts: 1, .connectionLost, .unknown),
        // Our own reasons.
        Row(43, .misconfigured, .neverSent, transient: false),
        Row(43, attempts: 1, .notHTTP, .unknown),
        Row(43, attempts: 1, status: true, .notHTTP, .answered),
        Row(23, attempts: 1, status: true, head: true, .badContentEncoding, .answered),
        Row(23, attempts: 1, status: true, own: .headersTooLarge, .headersTooLarge, .answered, transient: false),
        Row(42, attempts: 1, own: .requestBodyFailed, .requestBodyFailed, .unknown, transient: false),
        Row(42, own: .sendLimitPassed, .sendLimitPassed, .neverSent, transient: false),
    ]

    @Test(arguments: rows.indices)
    func factsDecide(row: Int) throws {
        let row = Self.rows[row]
        let error = try #require(Verdict.error(for: row.facts))
        #expect(error.code == row.code, "\(row.facts)")
        #expect(error.certainty == row.certainty, "\(row.facts)")
        #expect(error.isTransient == row.isTransient, "\(row.facts)")
        #expect(!error.message.isEmpty)
    }

    @Test
    func aWholeHeadIsASuccess() {
        let facts = TransferFacts(code: 0, wireAttempts: 1, sawStatus: true, sawHead: true)
        #expect(Verdict.error(for: facts) == nil)
    }

    @Test
    func logLinesAreRead() {
        typealias Line = RefusalEvidence.LogLine
        #expect(Line("Using Stream ID: 7 (easy handle 0x55)\n") == .stream(7))
        #expect(Line("recveived GOAWAY, error=0, last_stream=3") == .goAway(lastStream: 3))
        #expect(Line("REFUSED_STREAM, retrying a fresh connect") == .refused)
        #expect(Line("Connection died, retrying a fresh connect (retry count: 1)") == .retrying)
        #expect(Line("TLSv1.3 (IN), TLS alert, close notify (256):") == .failure)
        #expect(Line("HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)") == .failure)
        #expect(Line("Connected to localhost") == .other)
        #expect(Line("received GOAWAY, error=2, last_stream=2147483647\n") == .goAway(lastStream: 2_147_483_647))
        #expect(Line("HTTP/2 stream 3 refused by server, try again on a new connection") == .refused)
        #expect(Line("[HTTP/2] [7] OPENED stream for https://a.example/") == .stream(7))
        #expect(Line("[HTTP2] [7] received invalid frame: x, error -505: y") == .invalidFrame)
        #expect(Line("nghttp2 shuts down connection with error 1: PROTOCOL_ERROR\n") == .sessionEnded)
        #expect(Line("nghttp2 shuts down connection with error 1: ") == .failure)
        #expect(Line("h2h3 [nghttp2 shuts down connection with error 1: PROTOCOL_ERROR]") == .other)
        #expect(Line("nghttp2 shuts down connection with error 1: PROTOCOL_ERROR]") == .failure)
        #expect(Line("ALPN: server accepted h2\n") == .negotiated(isHTTP2: true))
        #expect(Line("ALPN: server accepted http/1.1\n") == .negotiated(isHTTP2: false))
        #expect(Line("ALPN: server did not agree on a protocol. Uses default.") == .negotiated(isHTTP2: false))
        #expect(Line("ALPN: server accepted h2c") == .other)
        #expect(Line("ALPN: curl offers h2,http/1.1") == .other)
        #expect(Line("") == .other)
        #expect(Line("\n") == .other)
    }

    /// What a caller or a server writes stands within a line of libcurl's, and never makes one.
    @Test(arguments: [
        "REFUSED_STREAM, retrying a fresh connect", "recveived GOAWAY, error=0, last_stream=0",
        "received GOAWAY, error=0, last_stream=0", "Using Stream ID: 7 (easy handle 0x55)",
        "Connection died, retrying a fresh connect (retry count: 1)",
        "HTTP/2 stream 1 refused by server, try again on a new connection",
    ])
    func onlyAWholeLineOfLibcurlsOwnProvesAnything(text: String) {
        typealias Line = RefusalEvidence.LogLine
        let strangers = [
            "h2h3 [\(text)]", "h2h3 [:path: /?\(text)]", "[HTTP/2] [1] [\(text)]",
            " subject: CN=\(text)",
            "Connection #0 to host \(text) left intact", "\(text)x", " \(text)", "x\(text)",
            "\(text) \(text)", String(text.dropLast()), "http2 error: \(text)",
        ]
        for line in strangers { #expect([.other, .failure].contains(Line(line)), "\(line)") }
        #expect(Line("[HTTP/2] [1] OPENED stream for \(text)") == .stream(1))
        #expect([.other, .failure].contains(Line("[HTTP/2] [1] [OPENED stream for: \(text)]")))
        #expect(![.other, .failure].contains(Line(text)))
    }

    /// The request's own words are no sign of a failure either: a refusal would not be believed.
    @Test
    func theRequestsEchoIsNoFailure() {
        typealias Line = RefusalEvidence.LogLine
        #expect(Line("h2h3 [:path: /errors/failed?alert=cleanly]") == .other)
        #expect(Line("[HTTP/2] [1] [:path: /errors]") == .other)
    }

    @Test
    func linesAtRandomDoNotTrap() {
        let random = Runtime.RandomSource(seed: 5)
        let lines = [
            "Using Stream ID: 99999999999999999999 (easy handle 0x5)", "recveived GOAWAY, error=-1, last_stream=3",
        ]
        for _ in 0..<5000 {
            var bytes = Array(lines[Int(random.bits() % 2)].utf8)
            bytes[Int(random.bits() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.bits())
            let part = Array(bytes.prefix(Int(random.bits() % UInt64(bytes.count + 1))))
            // The reader keeps nothing of the bytes.
            _ = unsafe part.withUnsafeBufferPointer { unsafe RefusalEvidence.LogLine($0) }
        }
    }
}

extension RefusalEvidence.LogLine {
    init(_ text: String) {
        // The reader keeps nothing of the bytes.
        self = unsafe Array(text.utf8).withUnsafeBufferPointer { unsafe Self($0) }
    }
}
