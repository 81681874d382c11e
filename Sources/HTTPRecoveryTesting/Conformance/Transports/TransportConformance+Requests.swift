import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    static let requestChecks: [Check] =
        requestHeaderChecks + nothingAddedChecks + methodChecks + statusChecks + invalidRequestChecks

    private static let requestHeaderChecks: [Check] =
        [
            Check("headers/request/arrive", "the fields of a request arrive as they were written") { bench in
                let peer = try await bench.peer { _ in .answer() }
                var fields = HTTPFields()
                let written = [
                    ("X-Plain", "value"), ("X-Blanks", "a  b"), ("X-List", "a, b;q=0.5"), ("X-Quoted", "\"a, \\\" b\""),
                    ("Accept", "text/plain"), ("User-Agent", "check/1"), ("Authorization", "Bearer abc.def"),
                    ("Cookie", "a=1; b=2"), ("If-None-Match", "\"tag\""), ("Accept-Encoding", "identity"),
                    ("Referer", "https://example.com/a"),
                ]
                for (name, value) in written { fields.append(HTTPField(name: try bench.name(name), value: value)) }
                _ = try await bench.fetch(bench.transport(), peer.request(.get, "/", fields))
                let received = try bench.first(peer)
                for (name, value) in written {
                    try bench.expect(received.headers[values: bench.name(name)], is: [value], name)
                }
            },
            Check("headers/request/repeated", "repeated fields of a request are kept in their order") { bench in
                let peer = try await bench.peer { _ in .answer() }
                var fields = HTTPFields()
                let name = try bench.name("X-One")
                for value in ["1", "2", "3"] {
                    fields.append(HTTPField(name: name, value: value))
                    fields.append(HTTPField(name: try bench.name("X-Between-\(value)"), value: value))
                }
                _ = try await bench.fetch(bench.transport(), peer.request(.get, "/", fields))
                // One line for each, or one for all: both mean the same (RFC 9110, section 5.3).
                let received = try bench.first(peer).headers[values: name].joined(separator: ", ")
                try bench.expect(received, is: "1, 2, 3", "the values")
            },
            Check("headers/request/cookies", "cookies are one field, as servers read one", needs: [.sockets]) { bench in
                let peer = try await bench.peer { _ in .answer() }
                // RFC 6265 section 5.4; the type of a message parts them.
                var fields: HTTPFields = [.cookie: "a=1; b=2"]
                fields.append(HTTPField(name: .cookie, value: "c=3"))
                _ = try await bench.fetch(bench.transport(), peer.request(.get, "/", fields))
                try bench.expect(bench.first(peer).headers[values: .cookie], is: ["a=1; b=2; c=3"], "the field")
            },
            Check("headers/request/empty-value", "a field without a value is sent, and empty") { bench in
                let peer = try await bench.peer { _ in .answer() }
                let fields = HTTPFields([HTTPField(name: try bench.name("X-Empty"), value: "")])
                _ = try await bench.fetch(bench.transport(), peer.request(.get, "/", fields))
                try bench.expect(bench.first(peer).headers[values: bench.name("X-Empty")], is: [""], "the field")
            },
            Check("headers/request/utf8", "a value in UTF-8 is sent as it is") { bench in
                let peer = try await bench.peer { _ in .answer() }
                let fields = HTTPFields([HTTPField(name: try bench.name("X-Text"), value: "café ☕")])
                _ = try await bench.fetch(bench.transport(), peer.request(.get, "/", fields))
                try bench.expect(bench.first(peer).headers[bench.name("X-Text")], is: "café ☕", "the value")
            },
            Check("headers/request/no-smuggling", "line breaks in a value never make another field or request") {
                bench in
                let peer = try await bench.peer { _ in .answer() }
                let name = try bench.name("X-Value")
                var fields = HTTPFields()
                fields.append(HTTPField(name: name, lenientValue: Array("a\r\nX-Injected: 1".utf8)))
                fields.append(HTTPField(name: name, lenientValue: Array("b\r\n\r\nGET /x HTTP/1.1".utf8)))
                let attempt = await bench.attempt(try bench.transport(), peer.request(.get, "/", fields))
                // To refuse it is as good.
                if attempt.error != nil { return try bench.expect(peer.requests.count, is: 0, "requests seen") }
                try bench.expect(peer.requests.count, is: 1, "requests seen")
                try bench.expect(bench.first(peer).headers[bench.name("X-Injected")], is: nil, "the injected field")
            },
            Check("headers/request/host", "the authority is the host, whatever the fields say", needs: [.sockets]) {
                bench in
                let peer = try await bench.peer { _ in .answer() }
                let host = try bench.name("Host")
                let fields = HTTPFields([HTTPField(name: host, value: "elsewhere.example")])
                _ = try await bench.fetch(bench.transport(), peer.request(.get, "/", fields))
                try bench.expect(bench.first(peer).headers[values: host], is: [peer.authority], "the host")
            },
            Check(
                "headers/request/framing",
                "the body decides about its framing, whatever the fields say",
                needs: [.sockets]
            ) {
                bench in
                let peer = try await bench.peer { _ in .answer() }
                let fields: HTTPFields = [
                    .contentLength: "999", .transferEncoding: "chunked", .expect: "100-continue",
                ]
                _ = try await bench.fetch(bench.transport(), peer.request(.post, "/", fields), MessageBody("four"))
                try bench.expect(bench.first(peer).headers[values: .contentLength], is: ["4"], "the length")
                try bench.expect(bench.first(peer).headers[.transferEncoding], is: nil, "the coding")
                try bench.expect(bench.first(peer).text, is: "four", "the body")
            },
            Check("requests/target", "the path and the query are sent as they stand") { bench in
                let peer = try await bench.peer { _ in .answer() }
                let transport = try bench.transport()
                let paths = ["/a/../b?x=%20&y", "/", "/?", "/a//b/./c", "/%2F%2f?a=b?c/d", "/;p=1?q=%C3%A9&q=2"]
                for path in paths { _ = try await bench.fetch(transport, peer.request(.get, path)) }
                try bench.expect(peer.requests.map(\.path), is: paths, "the targets")
            },
        ]

    private static let plainRequests: [(method: HTTPRequest.Method, size: Int?)] = [
        (.get, nil), (.post, 9), (.post, 3_000_000), (.delete, nil),
    ]

    private static let nothingAddedChecks: [Check] = plainRequests.map { method, size in
        let word = size.map { "\(method.rawValue)-\($0)" } ?? method.rawValue
        return Check(
            "headers/request/nothing-added/\(word)",
            "a request has no fields but the caller's, the necessary ones and those that the transport is known for"
        ) { bench in
            let peer = try await bench.peer { _ in .answer() }
            let fields = HTTPFields([HTTPField(name: try bench.name("X-Own"), value: "1")])
            let body = size.map { MessageBody([UInt8](repeating: 1, count: $0)) }
            _ = try await bench.fetch(bench.transport(), peer.request(method, "/", fields), body)
            let names = Set(try bench.first(peer).headers.map { $0.name.canonicalName })
            let known = bench.subject.addedFields.union(TransportUnderTest.necessaryFields).union(["x-own"])
            try bench.expect(names.subtracting(known), is: [], "what was added")
            if body == nil {
                let framing = try bench.first(peer).headers[.transferEncoding]
                try bench.expect(framing, is: nil, "a coding without a body")
                let length = try bench.first(peer).headers[.contentLength]
                try bench.expect(length == nil || length == "0", "a length without a body: \(length ?? "")")
            }
        }
    }

    private static let methodChecks: [Check] = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE", "PROPFIND",
    ]
    .map { word in
        Check("requests/methods/\(word)", "a \(word) is sent as one") { bench in
            guard let method = HTTPRequest.Method(word) else { throw ConformanceFailure("no method") }
            let peer = try await bench.peer { _ in .answer(200, [("X-Answer", "1")]) }
            let (head, _) = try await bench.fetch(bench.transport(), peer.request(method))
            try bench.expect(peer.requests.map(\.method), is: [word], "the method")
            try bench.expect(head.headerFields[bench.name("X-Answer")], is: "1", "the answer's field")
        }
    }

    private static let statusChecks: [Check] = [
        200, 201, 202, 203, 206, 207, 226, 300, 400, 403, 404, 405, 409, 410, 412, 416, 418, 422, 451, 500, 501, 502,
        504, 507, 511, 599,
    ]
    .map { status in
        Check("responses/status/\(status)", "an answer with the status \(status) is an answer") { bench in
            let peer = try await bench.peer { _ in .answer(status, [("X-Answer", "1")], body: "content") }
            let (head, body) = try await bench.fetch(bench.transport(), peer.request())
            try bench.expect(head.status.code, is: status, "the status")
            try bench.expect(head.headerFields[bench.name("X-Answer")], is: "1", "the field")
            try bench.expect(String(decoding: body, as: UTF8.self), is: "content", "the body")
        }
    }

    private static let invalidRequests: [(word: String, scheme: String?, prefix: String?, path: String)] = [
        ("no-scheme", nil, "", "/"), ("foreign-scheme", "ftp", "", "/"), ("no-authority", "http", nil, "/"),
        ("empty-authority", "http", "-", "/"), ("user", "http", "user:secret@", "/"),
        ("encoded-line-break-in-host", "http", "a%20HTTP%2f1.1%0d%0aX-Injected:%201%0d%0a", "/"),
        ("encoded-bracket-in-host", "http", "%5b", "/"), ("encoded-zero-in-host", "http", "127.0.0.1%00.", "/"),
        ("line-break-in-path", "http", "", "/ HTTP/1.1\r\nX-Injected: 1"), ("blank-in-path", "http", "", "/a b"),
        ("relative-path", "http", "", "a"),
    ]

    private static let invalidRequestChecks: [Check] = invalidRequests.map { word, scheme, prefix, path in
        Check("requests/invalid/\(word)", "a request that cannot be sent (\(word)) is refused unsent") { bench in
            let peer = try await bench.peer { _ in .answer() }
            let authority = prefix.map { $0 == "-" ? "" : $0 + peer.authority }
            let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
            let attempt = await bench.attempt(try bench.transport(), request)
            let verdict = FaultVerdict([.invalidRequest], [.neverSent])
            let error = try bench.expect(attempt, endsWith: verdict, seen: peer.requests.count)
            try bench.expect(!error.isTransient, "trying again cannot help")
            try bench.expect(!error.description.contains("secret"), "what it says holds no password")
        }
    }
}

extension TransportBench {
    /// The first request that a server has seen.
    func first(_ peer: ConformancePeer) throws -> FaultServer.Request {
        guard let request = peer.requests.first else { throw ConformanceFailure("no request has arrived") }
        return request
    }
}
