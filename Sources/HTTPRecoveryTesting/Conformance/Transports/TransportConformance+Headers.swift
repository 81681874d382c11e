import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    static let headerChecks: [Check] = responseHeaderChecks + rawHeaderChecks + interimChecks

    private static let responseHeaderChecks: [Check] = [
        Check("headers/response/repeated", "repeated fields of an answer are kept in their order") { bench in
            let peer = try await bench.peer { _ in
                .answer(200, [("X-One", "1"), ("X-Two", "a"), ("X-One", "2"), ("Set-Cookie", "a=1"), ("X-One", "3")])
            }
            let (head, _) = try await bench.fetch(bench.transport(), peer.request())
            try bench.expect(head.headerFields[values: bench.name("X-One")], is: ["1", "2", "3"], "the values")
            try bench.expect(head.headerFields[values: bench.name("X-Two")], is: ["a"], "the other field")
        },
        Check("headers/response/set-cookie", "Set-Cookie fields are not merged, commas in them or not") { bench in
            let cookies = ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2; Path=/", "c=\"3,4\""]
            let peer = try await bench.peer { _ in .answer(200, cookies.map { ("Set-Cookie", $0) }) }
            let (head, _) = try await bench.fetch(bench.transport(), peer.request())
            try bench.expect(head.headerFields[values: .setCookie], is: cookies, "the cookies")
        },
        Check("headers/response/empty-value", "a field without a value is there, and empty") { bench in
            let peer = try await bench.peer { _ in .answer(200, [("X-Empty", ""), ("X-Last", "last")]) }
            let (head, _) = try await bench.fetch(bench.transport(), peer.request())
            try bench.expect(head.headerFields[values: bench.name("X-Empty")], is: [""], "the empty field")
            try bench.expect(head.headerFields[bench.name("X-Last")], is: "last", "the field after it")
        },
        Check("headers/response/case", "names are found in any case, and what a name stands for stays") { bench in
            let peer = try await bench.peer { _ in
                .answer(200, [("x-LOWER-Upper", "1"), ("CONTENT-TYPE", "text/Plain")])
            }
            let (head, _) = try await bench.fetch(bench.transport(), peer.request())
            try bench.expect(head.headerFields[bench.name("X-Lower-Upper")], is: "1", "a name in another case")
            try bench.expect(head.headerFields[.contentType], is: "text/Plain", "the case of a value")
        },
        Check("headers/response/large", "a header section of 40 KiB arrives whole") { bench in
            let fields = (0..<200).map { (name: "X-Field-\($0)", value: String(repeating: "v", count: 180)) }
            let peer = try await bench.peer { _ in
                .answer(200, fields + [("X-Long", String(repeating: "l", count: 4096))])
            }
            let (head, _) = try await bench.fetch(bench.transport(), peer.request())
            for field in fields {
                try bench.expect(head.headerFields[bench.name(field.name)], is: field.value, field.name)
            }
            try bench.expect(head.headerFields[bench.name("X-Long")]?.utf8.count, is: 4096, "the long field")
        },
        Check("headers/response/utf8", "a value in UTF-8 arrives as it is") { bench in
            let peer = try await bench.peer { _ in .answer(200, [("X-Text", "café ☕")]) }
            let (head, _) = try await bench.fetch(bench.transport(), peer.request())
            try bench.expect(head.headerFields[bench.name("X-Text")], is: "café ☕", "the value")
        },
    ]

    /// A check of an answer of which every byte matters.
    private static func raw(
        _ id: String,
        _ name: String,
        _ answer: [UInt8],
        _ method: HTTPRequest.Method = .get,
        _ body: @escaping @Sendable (TransportBench, HTTPResponse, String) throws -> Void
    ) -> Check {
        Check(id, name, needs: [.sockets]) { bench in
            let server = try bench.server { _ in .bytes(answer) }
            let request = HTTPRequest(method: method, scheme: "http", authority: server.authority, path: "/")
            let (head, content) = try await bench.fetch(bench.transport(), request)
            try body(bench, head, String(decoding: content, as: UTF8.self))
        }
    }

    private static func raw(
        _ id: String,
        _ name: String,
        _ answer: String,
        _ method: HTTPRequest.Method = .get,
        _ body: @escaping @Sendable (TransportBench, HTTPResponse, String) throws -> Void
    ) -> Check {
        raw(id, name, Array(answer.utf8), method, body)
    }

    private static let rawHeaderChecks: [Check] = [
        raw(
            "headers/response/folded",
            "a value that goes on in the next line (obsolete folding) is one value",
            "HTTP/1.1 200 OK\r\nX-Folded: one\r\n  two\r\n\tthree\r\nX-Last: last\r\nContent-Length: 2\r\n\r\nok"
        ) { bench, head, text in
            let value = head.headerFields[try bench.name("X-Folded")] ?? ""
            let words = value.split { $0 == " " || $0 == "\t" }.map(String.init)
            try bench.expect(words, is: ["one", "two", "three"], "the words of the value")
            try bench.expect(head.headerFields[bench.name("X-Last")], is: "last", "the field after it")
            try bench.expect(text, is: "ok", "the body")
        },
        raw(
            "headers/response/latin1",
            "a value that is no UTF-8 harms nothing, and its bytes are kept",
            Array("HTTP/1.1 200 OK\r\nX-Text: caf".utf8) + [0xE9]
                + Array(" au lait\r\nX-Last: last\r\nContent-Length: 2\r\n\r\nok".utf8)
        ) { bench, head, text in
            let name = try bench.name("X-Text")
            guard let field = head.headerFields.first(where: { $0.name == name }) else {
                throw ConformanceFailure("the field is missing")
            }
            // The bytes are copied within the closure.
            let bytes = unsafe field.withUnsafeBytesOfValue { unsafe Array($0) }
            let isKept = bytes == Array("caf".utf8) + [0xE9] + Array(" au lait".utf8)
            try bench.expect(isKept, "the value's bytes: \(bytes)")
            try bench.expect(head.headerFields[bench.name("X-Last")], is: "last", "the field after it")
            try bench.expect(text, is: "ok", "the body")
        },
        raw(
            "headers/response/blanks",
            "blanks around a value do not belong to it, those within do",
            "HTTP/1.1 200 OK\r\nX-Text:  \t a  b \t \r\nX-Tight:c\r\nContent-Length: 0\r\n\r\n"
        ) { bench, head, _ in
            try bench.expect(head.headerFields[bench.name("X-Text")], is: "a  b", "the value")
            try bench.expect(head.headerFields[bench.name("X-Tight")], is: "c", "a value without a blank before it")
        },
        raw(
            "headers/response/no-reason",
            "a status line without a reason is one",
            "HTTP/1.1 202 \r\nContent-Length: 2\r\n\r\nok"
        ) { bench, head, text in
            try bench.expect(head.status.code, is: 202, "the status")
            try bench.expect(text, is: "ok", "the body")
        },
    ]

    /// Interim answers, which nobody but the transport sees.
    private static let interimAnswers: [(word: String, text: String)] = [
        ("100", "HTTP/1.1 100 Continue\r\n\r\n"),
        ("102", "HTTP/1.1 102 Processing\r\n\r\n"),
        ("103", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX-Early: 1\r\n\r\n"),
        ("several", String(repeating: "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n", count: 5)),
    ]

    private static let interimChecks: [Check] = interimAnswers.flatMap { word, interim in
        [HTTPRequest.Method.get, .post].map { method in
            raw(
                "headers/interim/\(word)/\(method.rawValue)",
                "interim answers (\(word)) are skipped, and their fields with them",
                interim + "HTTP/1.1 201 Created\r\nX-Final: 1\r\nContent-Length: 2\r\n\r\nok",
                method
            ) { bench, head, text in
                try bench.expect(head.status.code, is: 201, "the status")
                try bench.expect(head.headerFields[bench.name("X-Final")], is: "1", "a field of the answer")
                try bench.expect(head.headerFields[bench.name("X-Early")], is: nil, "a field of the interim answer")
                try bench.expect(text, is: "ok", "the body")
            }
        }
    }
}
