import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    /// What a server of HTTP/2 does to a whole request, and how that may be told.
    fileprivate struct StreamFault: Sendable {
        let word: String
        let verdict: FaultVerdict
        let answer: @Sendable (UInt32) -> HTTP2Answer
        var abilities: Set<TransportUnderTest.Ability> = [.http2]
        /// Whether only the attempt's time ends it.
        var isStall = false

        init(
            _ word: String,
            _ codes: Set<TransportError.Code>,
            _ certainties: Set<TransportError.Certainty>,
            _ answer: @escaping @Sendable (UInt32) -> HTTP2Answer
        ) {
            (self.word, self.answer) = (word, answer)
            verdict = FaultVerdict(codes, certainties)
        }

        /// The same, for transports that undo codings.
        static func ofCoding(_ word: String, _ answer: @escaping @Sendable (UInt32) -> HTTP2Answer) -> StreamFault {
            var fault = StreamFault(word, [.badContentEncoding], [.answered], answer)
            fault.abilities = [.http2, .decompresses]
            return fault
        }

        /// Frames in place of an answer that are none, or not allowed there.
        static func invalid(
            _ word: String,
            _ certainties: Set<TransportError.Certainty> = [.unknown],
            _ frames: @escaping @Sendable (UInt32) -> [UInt8]
        ) -> StreamFault {
            StreamFault(word, [.connectionLost, .notHTTP], certainties) { .init(frames($0)) }
        }

        /// The same in a body.
        static func invalidInBody(_ word: String, _ frames: @escaping @Sendable (UInt32) -> [UInt8]) -> StreamFault {
            StreamFault("\(word)-in-body", [.connectionLost, .notHTTP, .truncated], [.answered]) {
                .init(HTTP2Frame.beginning($0), later: frames($0))
            }
        }

        /// A server that says no more.
        static func stall(
            _ word: String,
            _ certainties: Set<TransportError.Certainty>,
            _ answer: @escaping @Sendable (UInt32) -> HTTP2Answer
        ) -> StreamFault {
            var fault = StreamFault(word, [.timedOut], certainties, answer)
            fault.isStall = true
            return fault
        }
    }

    static let http2FaultChecks: [Check] =
        [refusals, resetsInBody, otherEndsInBody, invalidFrames, invalidFramesInBody, largeHeads, wrongBodies, stalls]
        .flatMap { matrix(of: $0) }

    /// How a server ends a stream or a connection.
    private static let refusals: [StreamFault] = [
        // The server's word that it has not processed the request, which makes a resend safe.
        StreamFault("refused-stream", [.streamRefused], [.notProcessed]) { .init(HTTP2Frame.reset($0, code: 7)) },
        StreamFault("goaway-below", [.streamRefused], [.notProcessed]) { stream in
            .init(HTTP2Frame.goAway(lastStream: stream > 2 ? stream - 2 : 0))
        },
        StreamFault("goaway-below-and-closed", [.streamRefused], [.notProcessed]) { stream in
            .init(HTTP2Frame.goAway(lastStream: stream > 2 ? stream - 2 : 0), then: .close)
        },
        // Within what the server may have processed.
        StreamFault("goaway-at-and-reset", [.connectionLost], [.unknown]) {
            .init(HTTP2Frame.goAway(lastStream: $0) + HTTP2Frame.reset($0, code: 2))
        },
        StreamFault("goaway-above-and-closed", [.connectionLost], [.unknown]) {
            .init(HTTP2Frame.goAway(lastStream: $0 + 100), then: .close)
        },
        StreamFault("closed-after-request", [.connectionLost], [.unknown]) { _ in .init(then: .close) },
        StreamFault("reset-after-request", [.connectionLost], [.unknown]) { _ in .init(then: .reset) },
        StreamFault("protocol-error", [.connectionLost], [.unknown]) { .init(HTTP2Frame.reset($0, code: 1)) },
        StreamFault("internal-error", [.connectionLost], [.unknown]) { .init(HTTP2Frame.reset($0, code: 2)) },
        StreamFault("cancelled", [.connectionLost], [.unknown]) { .init(HTTP2Frame.reset($0, code: 8)) },
        StreamFault("enhance-your-calm", [.connectionLost], [.unknown]) { .init(HTTP2Frame.reset($0, code: 11)) },
        // After the head, which was handed over before.
        StreamFault("cancelled-in-body", [.connectionLost, .truncated], [.answered]) {
            .init(HTTP2Frame.beginning($0), later: HTTP2Frame.reset($0, code: 8))
        },
        StreamFault("refused-in-body", [.connectionLost, .truncated], [.answered]) {
            .init(HTTP2Frame.beginning($0), later: HTTP2Frame.reset($0, code: 7))
        },
        StreamFault("closed-in-body", [.connectionLost, .truncated], [.answered]) {
            .init(HTTP2Frame.beginning($0), later: [], then: .close)
        },
        StreamFault("short-body", [.connectionLost, .truncated, .notHTTP], [.answered]) {
            .init(HTTP2Frame.beginning($0), later: HTTP2Frame.data($0, [], endsStream: true))
        },
        // All in one: the end may hide the beginning.
        StreamFault("cancelled-at-once", [.connectionLost, .truncated], [.answered, .unknown]) {
            .init(HTTP2Frame.beginning($0) + HTTP2Frame.reset($0, code: 8))
        },
        StreamFault("closed-in-body-at-once", [.connectionLost, .truncated], [.answered, .unknown]) {
            .init(HTTP2Frame.beginning($0), then: .close)
        },
    ]

    private static let resetCodes: [(word: String, code: UInt32)] = [
        ("no-error", 0), ("protocol-error", 1), ("internal-error", 2), ("enhance-your-calm", 11),
        ("http-1.1-required", 13), ("unheard-of", 255),
    ]

    private static let resetsInBody: [StreamFault] = resetCodes.map { word, code in
        StreamFault("\(word)-in-body", [.connectionLost, .truncated], [.answered]) {
            .init(HTTP2Frame.beginning($0), later: HTTP2Frame.reset($0, code: code))
        }
    }

    private static let otherEndsInBody: [StreamFault] = [
        // No length says that something is missing.
        StreamFault("no-error-in-unstated-body", [.connectionLost, .truncated], [.answered]) {
            .init(HTTP2Frame.beginning($0, length: nil), later: HTTP2Frame.reset($0, code: 0))
        },
        StreamFault("cancelled-in-unstated-body", [.connectionLost, .truncated], [.answered]) {
            .init(HTTP2Frame.beginning($0, length: nil), later: HTTP2Frame.reset($0, code: 8))
        },
        StreamFault("closed-in-unstated-body", [.connectionLost, .truncated], [.answered]) {
            .init(HTTP2Frame.beginning($0, length: nil), later: [], then: .close)
        },
        StreamFault("goaway-in-body-and-closed", [.connectionLost, .truncated], [.answered]) {
            .init(HTTP2Frame.beginning($0), later: HTTP2Frame.goAway(lastStream: $0), then: .close)
        },
        StreamFault("failure-goaway-in-body-and-closed", [.connectionLost, .truncated], [.answered]) {
            .init(HTTP2Frame.beginning($0), later: HTTP2Frame.goAway(lastStream: $0, code: 2), then: .close)
        },
        // It has answered, whatever it says.
        StreamFault("goaway-below-in-body", [.connectionLost, .truncated], [.answered]) { stream in
            let last = stream > 2 ? stream - 2 : 0
            return .init(HTTP2Frame.beginning(stream), later: HTTP2Frame.goAway(lastStream: last), then: .close)
        },
    ]

    /// What HTTP/2 does not allow, in place of an answer.
    private static let invalidFrames: [StreamFault] = [
        .invalid("garbage") { _ in Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8) },
        .invalid("oversized-frame") { HTTP2Frame.bytes(type: 1, flags: 4, stream: $0, manyZeros) },
        .invalid("data-before-head") { HTTP2Frame.data($0, "abc".utf8, endsStream: false) },
        .invalid("head-of-another-stream") { HTTP2Frame.ok($0 + 2) },
        // An index that no table has.
        .invalid("broken-header-block") { HTTP2Frame.bytes(type: 1, flags: 5, stream: $0, [0xff, 0xff, 0x7f]) },
        // The status has come, whether what is below the transport hands it over or not.
        .invalid("interrupted-header-block", [.answered, .unknown]) {
            HTTP2Frame.bytes(type: 1, flags: 0, stream: $0, [0x88]) + HTTP2Frame.settings
        },
        .invalid("no-status") {
            HTTP2Frame.bytes(type: 1, flags: 5, stream: $0, HTTP2Frame.literals([("x-a", "b")]))
        },
        .invalid("no-number-as-status") { HTTP2Frame.headers($0, status: "abc", endsStream: true) },
        .invalid("push") { HTTP2Frame.bytes(type: 5, flags: 4, stream: $0, HTTP2Frame.big(2) + [0x88]) },
        .invalid("settings-of-a-stream") { HTTP2Frame.bytes(type: 4, flags: 0, stream: $0, []) },
    ]

    /// The same, when the head was handed over before.
    private static let invalidFramesInBody: [StreamFault] = [
        .invalidInBody("garbage") { _ in Array("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n".utf8) },
        .invalidInBody("oversized-frame") { HTTP2Frame.data($0, manyZeros, endsStream: false) },
        // More padding than there is.
        .invalidInBody("wrong-padding") { HTTP2Frame.bytes(type: 0, flags: 9, stream: $0, [9, 1, 2, 3]) },
        .invalidInBody("data-of-no-stream") { _ in HTTP2Frame.data(0, "abc".utf8, endsStream: false) },
        .invalidInBody("second-head") { HTTP2Frame.headers($0, endsStream: false) },
        .invalidInBody("broken-trailers") { HTTP2Frame.bytes(type: 1, flags: 5, stream: $0, [0xff, 0xff, 0x7f]) },
    ]

    /// More than a frame may have.
    private static let manyZeros = [UInt8](repeating: 0, count: 99_999)

    /// A hundred kilobytes of fields.
    private static let manyFields = (0..<1000).map { (name: "x-\($0)", value: String(repeating: "long ", count: 20)) }

    /// What frames HTTP/2 below a transport may have bounds of its own, and end the connection.
    private static let largeHeads: [StreamFault] = [
        StreamFault("large-head", [.headersTooLarge, .connectionLost], [.answered, .unknown]) {
            .init(HTTP2Frame.headers($0, manyFields, endsStream: true))
        },
        StreamFault("large-field", [.headersTooLarge, .connectionLost], [.answered, .unknown]) {
            .init(HTTP2Frame.headers($0, [("x-large", String(repeating: "longer ", count: 15_000))], endsStream: true))
        },
        StreamFault("endless-head", [.headersTooLarge, .connectionLost], [.answered, .unknown]) {
            let more = HTTP2Frame.literals([("x-more", "and more and more")])
            return .init(
                HTTP2Frame.bytes(type: 1, flags: 0, stream: $0, [0x88]),
                then: .endless(HTTP2Frame.bytes(type: 9, flags: 0, stream: $0, more))
            )
        },
        StreamFault("endless-interim", [.headersTooLarge, .connectionLost], [.unknown]) {
            .init(then: .endless(HTTP2Frame.headers($0, status: "103", [("x-some", "text")], endsStream: false)))
        },
        StreamFault("large-trailers", [.headersTooLarge, .connectionLost], [.answered]) {
            .init(HTTP2Frame.beginning($0, length: nil), later: HTTP2Frame.trailers($0, manyFields))
        },
    ]

    private static let wrongBodies: [StreamFault] = [
        StreamFault("long-body", [.connectionLost, .truncated, .notHTTP], [.answered]) {
            .init(HTTP2Frame.beginning($0), later: HTTP2Frame.data($0, "defghijkl".utf8, endsStream: true))
        },
        StreamFault("long-body-at-once", [.connectionLost, .truncated, .notHTTP], [.answered, .unknown]) {
            .init(HTTP2Frame.beginning($0) + HTTP2Frame.data($0, "defghijkl".utf8, endsStream: true))
        },
        StreamFault("short-body-at-once", [.connectionLost, .truncated, .notHTTP], [.answered, .unknown]) {
            .init(HTTP2Frame.beginning($0) + HTTP2Frame.data($0, [], endsStream: true))
        },
        StreamFault("no-body-of-a-stated-length", [.connectionLost, .truncated, .notHTTP], [.answered, .unknown]) {
            .init(HTTP2Frame.headers($0, [("content-length", "9")], endsStream: true))
        },
        .ofCoding("broken-coding") {
            .init(HTTP2Frame.coded($0) + HTTP2Frame.data($0, "not gzip".utf8, endsStream: true))
        },
        .ofCoding("broken-coding-later") {
            .init(HTTP2Frame.coded($0), later: HTTP2Frame.data($0, "not gzip".utf8, endsStream: true))
        },
    ]

    private static let stalls: [StreamFault] = [
        .stall("never-answered", [.unknown]) { _ in .init() },
        .stall("stalled-in-header-block", [.answered, .unknown]) {
            .init(HTTP2Frame.bytes(type: 1, flags: 0, stream: $0, [0x88]))
        },
        .stall("stalled-after-interim", [.unknown]) { .init(HTTP2Frame.headers($0, status: "103", endsStream: false)) },
        .stall("stalled-after-head", [.answered]) { .init(HTTP2Frame.headers($0, endsStream: false)) },
        .stall("stalled-in-body", [.answered]) { .init(HTTP2Frame.beginning($0)) },
        .stall("stalled-in-frame", [.answered]) {
            .init(HTTP2Frame.beginning($0) + HTTP2Frame.data($0, "defghi".utf8, endsStream: true).dropLast(3))
        },
    ]

    private static func matrix(of faults: [StreamFault]) -> [Check] {
        faults.flatMap { fault in
            RequestShape.allCases.flatMap { shape in
                [false, true].map { isReused in
                    Check(
                        "http2/\(fault.word)/\(shape.rawValue)/\(isReused ? "reused" : "new")",
                        "this fault (\(fault.word)) is told as what it is, and the server sees the request once",
                        needs: fault.abilities
                    ) { bench in
                        try await TimeLimit.tried(isNeeded: fault.isStall) { limit in
                            let (line, attempt) = try await bench.meet(fault, shape, isReused, limit)
                            try limit.judge(attempt)
                            let seen = line.server.receivedRequests.count - (isReused ? 1 : 0)
                            try bench.expect(attempt, endsWith: fault.verdict, seen: seen)
                            try bench.expect(seen, is: 1, "times the server saw the request")
                            if isReused {
                                let connections = line.server.receivedRequests.map(\.connection)
                                try bench.expect(connections, is: [0, 0], "the connections of the requests")
                            }
                        }
                    }
                }
            }
        }
    }
}

extension TransportBench {
    /// An attempt at a new server with the fault, after an answer on the same connection if that is to be used again.
    fileprivate func meet(
        _ fault: TransportConformance.StreamFault,
        _ shape: RequestShape,
        _ isReused: Bool,
        _ limit: TimeLimit
    ) async throws -> (HTTP2Line, Attempt) {
        let head = Signal()
        let line = try await http2 { stream, index in
            if isReused, index == 0 { return .init(HTTP2Frame.ok(stream)) }
            limit.isMet()
            var answer = fault.answer(stream)
            if answer.later != nil { answer.gate = head.gate }
            return answer
        }
        if isReused { _ = try await fetch(line.transport, line.request(.get)) }
        let attempt = await attempt(line.transport, line.request(shape.method), shape.body, options: limit.begin()) {
            head.open()
        }
        return (line, attempt)
    }
}

extension HTTP2Frame {
    /// The head of an answer with a body of nine bytes, or of a length that is stated otherwise or not at all, and three
    /// of them.
    static func beginning(_ stream: UInt32, length: Int? = 9) -> [UInt8] {
        let fields = length.map { [("content-length", String($0))] } ?? []
        return headers(stream, fields, endsStream: false) + data(stream, "abc".utf8, endsStream: false)
    }

    /// The head of an answer whose body of eight bytes is said to be compressed.
    fileprivate static func coded(_ stream: UInt32) -> [UInt8] {
        headers(stream, [("content-encoding", "gzip"), ("content-length", "8")], endsStream: false)
    }
}
