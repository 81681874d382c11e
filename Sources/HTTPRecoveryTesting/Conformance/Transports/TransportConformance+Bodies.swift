import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    /// Bytes that are told from each other at every place.
    static func pattern(_ count: Int) -> [UInt8] {
        var bytes = (0..<min(count, 997)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        while bytes.count < count { bytes += bytes.prefix(count - bytes.count) }
        return bytes
    }

    private struct Broken: Error {}

    static let bodyChecks: [Check] = sentBodyChecks + streamedBodyChecks + brokenBodyChecks

    private static let sentBodyChecks: [Check] = [0, 1, 65_536, 3_000_000].flatMap { size in
        [HTTPRequest.Method.post, .put, .patch].map { method in
            Check("bodies/bytes/\(size)/\(method.rawValue)", "a body of \(size) bytes arrives whole") { bench in
                let peer = try await bench.peer { _ in .answer() }
                let bytes = pattern(size)
                _ = try await bench.fetch(bench.transport(), peer.request(method), MessageBody(bytes))
                let received = try bench.first(peer)
                try bench.expect(received.body == bytes, "the body arrives as it is: \(received.body.count) bytes")
                let length = received.headers[.contentLength]
                try bench.expect(length == nil || length == String(size), "the length: \(length ?? "")")
            }
        }
    }

    private static let streamedBodies: [(word: String, pieces: [[UInt8]])] = [
        ("empty", []), ("one-piece", [pattern(1000)]), ("many-pieces", (0..<300).map { pattern($0 + 1) }),
        // A piece without bytes is no end, although the chunk that says so is.
        ("empty-pieces", [[], [1, 2], [], [], [3], []]),
        ("large", Array(repeating: pattern(65_536), count: 40)),
    ]

    private static let streamedBodyChecks: [Check] = [true, false].flatMap { isOnce in
        [true, false].flatMap { hasLength in
            streamedBodies.map { word, pieces in
                let kind = (isOnce ? "once" : "replayable") + (hasLength ? "-with-length" : "")
                return Check("bodies/\(kind)/\(word)", "a streamed body (\(kind), \(word)) arrives whole") { bench in
                    let peer = try await bench.peer { _ in .answer() }
                    let bytes = Array(pieces.joined())
                    let length = hasLength ? bytes.count : nil
                    let stream = PieceStream(pieces: pieces)
                    let body =
                        isOnce ? MessageBody(once: stream, length: length) : MessageBody(length: length) { stream }
                    _ = try await bench.fetch(bench.transport(), peer.request(.post), body)
                    let received = try bench.first(peer)
                    try bench.expect(received.body == bytes, "the body arrives as it is: \(received.body.count) bytes")
                    // Empty ones at the end may be left.
                    let taken = stream.count.withLock { $0 }
                    try bench.expect(taken <= pieces.count, "the body is read once: \(taken) pieces")
                }
            }
        }
    }

    private static let brokenBodies: [(word: String, length: Int?, error: (any Error)?, isOneShot: Bool)] = [
        ("shorter", 9, nil, true), ("longer", 3, nil, true), ("throws", nil, Broken(), false),
        ("throws-with-length", 9, Broken(), false), ("throws-cancellation", nil, CancellationError(), false),
        ("throws-at-once", nil, Broken(), true),
    ]

    private static let brokenBodyChecks: [Check] = brokenBodies.flatMap { word, length, error, isOneShot in
        [false, true].map { isReused in
            let place = isReused ? "reused" : "new"
            return Check(
                "bodies/broken/\(word)/\(place)",
                "a streamed body that breaks off, or has another length than it says (\(word)), is nobody else's fault"
            ) { bench in
                let peer = try await bench.peer { _ in .answer() }
                let transport = try bench.transport()
                if isReused { _ = try await bench.fetch(transport, peer.request(.get, "/first")) }
                let pieces: [[UInt8]] = word == "throws-at-once" ? [] : [Array("ab".utf8), Array("cdef".utf8)]
                let stream = PieceStream(pieces: pieces, error: error)
                let body =
                    isOneShot ? MessageBody(once: stream, length: length) : MessageBody(length: length) { stream }
                let attempt = await bench.attempt(transport, peer.request(.post, "/broken"), body)
                let seen = peer.requests.filter { $0.path == "/broken" }
                // Before the first byte was sent nothing was, which a transport may know.
                let verdict = FaultVerdict([.requestBodyFailed], [.unknown, .neverSent])
                let failure = try bench.expect(attempt, endsWith: verdict, seen: seen.count)
                try bench.expect(!failure.isTransient, "trying again cannot help")
                try bench.expect(
                    seen.allSatisfy { word == "longer" && $0.body.count == 3 },
                    "no broken body looks whole"
                )
                // The transport goes on working.
                let (head, _) = try await bench.fetch(transport, peer.request(.get, "/after"))
                try bench.expect(head.status.code, is: 200, "the next answer")
            }
        }
    }

    // MARK: Answers

    static let responseBodyChecks: [Check] =
        wholeResponseChecks + bodylessChecks + rawResponseChecks + codingResponseChecks

    private static let wholeResponseChecks: [Check] = [0, 1, 16_384, 1 << 20, 4 << 20].flatMap { size in
        [true, false].map { isChunked in
            let framing = isChunked ? "chunked" : "length"
            return Check("responses/\(framing)/\(size)", "a body of \(size) bytes (\(framing)) is read whole") {
                bench in
                let bytes = pattern(size)
                let pieces = stride(from: 0, to: size, by: 50_000).map { bytes[$0..<min($0 + 50_000, size)] }
                let peer = try await bench.peer { _ in
                    isChunked ? .steps(pieces.map { .send(Array($0)) }) : .answer(bytes: bytes)
                }
                let transport = try bench.transport()
                for _ in 0..<2 {
                    let (_, body) = try await bench.fetch(transport, peer.request())
                    try bench.expect(body == bytes, "the body is read as it is: \(body.count) bytes")
                }
            }
        }
    }

    private static let bodylessAnswers:
        [(word: String, method: HTTPRequest.Method, status: Int, framing: PeerReply.Framing)] = [
            ("head", HTTPRequest.Method.head, 200, PeerReply.Framing.length(1000)), ("204", .get, 204, .none),
            ("204-post", .post, 204, .none), ("304", .get, 304, .none), ("304-with-length", .get, 304, .length(1000)),
            ("head-404", .head, 404, .length(9)),
        ]

    private static let bodylessChecks: [Check] = bodylessAnswers.map { word, method, status, framing in
        Check("responses/bodyless/\(word)", "an answer that has no body (\(word)) ends at its head") { bench in
            let peer = try await bench.peer { request in
                request.path == "/after" ? .answer(body: "after") : PeerReply(status: status, framing: framing)
            }
            let transport = try bench.transport()
            let (head, body) = try await bench.fetch(transport, peer.request(method))
            try bench.expect(head.status.code, is: status, "the status")
            try bench.expect(body.count, is: 0, "bytes of the body")
            if case .length(let length) = framing {
                try bench.expect(head.headerFields[.contentLength], is: String(length), "the length of the other body")
            }
            let (_, after) = try await bench.fetch(transport, peer.request(.get, "/after"))
            try bench.expect(String(decoding: after, as: UTF8.self), is: "after", "the next body")
        }
    }

    private static let rawResponses: [(word: String, answer: String, text: String)] =
        [
            (
                "chunk-extensions",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0;c\r\n\r\n",
                "hello"
            ),
            (
                "trailers",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Trailer: 1\r\nX-More: 2\r\n\r\n",
                "hello"
            ),
            (
                "small-chunks",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + String(repeating: "1\r\nx\r\n", count: 500)
                    + "0\r\n\r\n",
                String(repeating: "x", count: 500)
            ),
            (
                "upper-case-hexadecimal",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n00A\r\n0123456789\r\n0\r\n\r\n", "0123456789"
            ),
            ("until-close", "HTTP/1.1 200 OK\r\n\r\nall of it", "all of it"),
            ("http-1.0", "HTTP/1.0 200 OK\r\n\r\nall of it", "all of it"),
            ("empty-until-close", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", ""),
        ]

    private static let rawResponseChecks: [Check] = rawResponses.map { word, answer, text in
        Check("responses/raw/\(word)", "a body in this form (\(word)) is read whole", needs: [.sockets]) { bench in
            let server = try bench.server { _ in .raw(answer).then(.close) }
            let request = HTTPRequest(method: .get, scheme: "http", authority: server.authority, path: "/")
            let (_, body) = try await bench.fetch(bench.transport(), request)
            try bench.expect(String(decoding: body, as: UTF8.self), is: text, "the body")
        }
    }

    private static let codingResponseChecks: [Check] = [
        Check("responses/coding/callers", "a content coding that the caller asked for is the caller's") { bench in
            let bytes = Array("not really gzip".utf8)
            let peer = try await bench.peer { _ in .answer(200, [("Content-Encoding", "gzip")], bytes: bytes) }
            let (head, body) = try await bench.fetch(
                bench.transport(),
                peer.request(.get, "/", [.acceptEncoding: "gzip"])
            )
            try bench.expect(body == bytes, "the bytes are as they came")
            try bench.expect(head.headerFields[.contentEncoding], is: "gzip", "the field")
        },
        Check(
            "responses/coding/undone",
            "a content coding that the transport asked for is undone, and its fields are removed",
            needs: [.sockets, .decompresses]
        ) { bench in
            let text = "hello, gzip"
            let peer = try await bench.peer { _ in
                .answer(200, [("Content-Encoding", "gzip")], bytes: StoredGzip.bytes(text))
            }
            let (head, body) = try await bench.fetch(bench.transport(), peer.request())
            let asked = try bench.first(peer).headers[.acceptEncoding]?.contains("gzip") ?? false
            try bench.expect(asked, "the transport asks for gzip")
            try bench.expect(String(decoding: body, as: UTF8.self), is: text, "the body")
            try bench.expect(head.headerFields[.contentEncoding], is: nil, "the coding")
            try bench.expect(head.headerFields[.contentLength], is: nil, "the length")
        },
    ]
}

/// The simplest gzip there is: one stored block.
package enum StoredGzip {
    package static func bytes(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        var crc: UInt32 = 0xffff_ffff
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xedb8_8320 : crc >> 1 }
        }
        crc = ~crc
        let length = UInt16(truncatingIfNeeded: bytes.count)
        func littleEndian(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
        let block: [UInt8] = [
            1, UInt8(truncatingIfNeeded: length), UInt8(length >> 8),
            UInt8(truncatingIfNeeded: ~length), UInt8(truncatingIfNeeded: ~length >> 8),
        ]
        return header + block + bytes + littleEndian(crc) + littleEndian(UInt32(bytes.count))
    }
}
