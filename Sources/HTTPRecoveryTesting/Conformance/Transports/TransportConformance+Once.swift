import HTTPRecovery
import HTTPTypes

extension TransportConformance {
    /// What a transport leaves to those above it: it sends once, and hands over what comes.
    static let onceChecks: [Check] =
        redirectChecks + challengeChecks + retryableChecks + lostChecks + lostBodyChecks + keptChecks

    private static let keptChecks: [Check] = [
        Check("once/cookies", "cookies are not kept") { bench in
            let peer = try await bench.peer { _ in .answer(200, [("Set-Cookie", "session=1; Path=/")]) }
            let transport = try bench.transport()
            for _ in 0..<3 { _ = try await bench.fetch(transport, peer.request()) }
            for request in peer.requests { try bench.expect(request.headers[.cookie], is: nil, "a cookie") }
        },
        Check("once/cache", "answers are not kept") { bench in
            let peer = try await bench.peer { _ in
                .answer(
                    200,
                    [
                        ("Cache-Control", "max-age=3600"), ("ETag", "\"1\""),
                        ("Last-Modified", "Thu, 01 Jan 1970 00:00:00 GMT"),
                    ],
                    body: "x"
                )
            }
            let transport = try bench.transport()
            for _ in 0..<3 { _ = try await bench.fetch(transport, peer.request()) }
            try bench.expect(peer.requests.count, is: 3, "requests seen")
            for request in peer.requests { try bench.expect(request.headers[.ifNoneMatch], is: nil, "a condition") }
        },
    ]

    private static let redirectChecks: [Check] = [301, 302, 303, 307, 308].flatMap { status in
        [HTTPRequest.Method.get, .post].map { method in
            Check("once/redirects/\(status)/\(method.rawValue)", "a redirect is handed over and not followed") {
                bench in
                let peer = try await bench.peer { _ in .answer(status, [("Location", "/elsewhere")], body: "moved") }
                let body = method == .post ? MessageBody("x") : nil
                let (head, content) = try await bench.fetch(bench.transport(), peer.request(method), body)
                try bench.expect(head.status.code, is: status, "the status")
                try bench.expect(head.headerFields[.location], is: "/elsewhere", "the place")
                try bench.expect(String(decoding: content, as: UTF8.self), is: "moved", "the body")
                try bench.expect(peer.requests.count, is: 1, "requests seen")
            }
        }
    }

    private static let challenges: [(word: String, challenge: String)] = [
        ("basic", "Basic realm=\"a\""), ("digest", "Digest realm=\"a\", nonce=\"b\", qop=\"auth\""),
        ("bearer", "Bearer error=\"invalid_token\""), ("negotiate", "Negotiate"),
    ]

    private static let challengeChecks: [Check] = challenges.map { word, challenge in
        Check("once/challenges/\(word)", "a challenge (\(word)) is handed over and not answered") { bench in
            let peer = try await bench.peer { _ in .answer(401, [("WWW-Authenticate", challenge)], body: "who?") }
            let (head, _) = try await bench.fetch(bench.transport(), peer.request(.post), MessageBody("x"))
            try bench.expect(head.status.code, is: 401, "the status")
            try bench.expect(head.headerFields[.wwwAuthenticate], is: challenge, "the challenge")
            try bench.expect(peer.requests.count, is: 1, "requests seen")
            try bench.expect(bench.first(peer).headers[.authorization], is: nil, "credentials that nobody gave")
        }
    }

    private static let retryableChecks: [Check] = [408, 417, 421, 425, 429, 503].map { status in
        Check("once/refusals/\(status)", "a refusal (\(status)) that could be answered by a resend is handed over") {
            bench in
            let peer = try await bench.peer { _ in .answer(status, [("Retry-After", "0")]) }
            for shape in RequestShape.allCases {
                let (head, _) = try await bench.fetch(bench.transport(), peer.request(shape.method), shape.body)
                try bench.expect(head.status.code, is: status, "the status")
            }
            try bench.expect(peer.requests.count, is: RequestShape.allCases.count, "requests seen")
        }
    }

    /// Answers that are lost after the request has arrived: nothing is sent again, and nobody claims to know better.
    private static let lostChecks: [Check] =
        RequestShape.allCases.flatMap { shape in
            [false, true].map { isReused in
                Check(
                    "once/lost/\(shape.rawValue)/\(isReused ? "reused" : "new")",
                    "a request whose answer is lost is not sent again, and may have been processed"
                ) { bench in
                    let peer = try await bench.peer { $0.path == "/lost" ? .cut : .answer() }
                    let transport = try bench.transport()
                    if isReused { _ = try await bench.fetch(transport, peer.request(.get, "/first")) }
                    let attempt = await bench.attempt(transport, peer.request(shape.method, "/lost"), shape.body)
                    let seen = peer.requests.count { $0.path == "/lost" }
                    try bench.expect(attempt, endsWith: FaultVerdict([.connectionLost], [.unknown]), seen: seen)
                    _ = try await bench.fetch(transport, peer.request(.get, "/after"))
                    try bench.expect(peer.requests.count { $0.path == "/lost" }, is: 1, "times the server saw it")
                }
            }
        }

    private static let lostBodyChecks: [Check] = [
        Check("once/lost-body", "an answer that breaks off in its body has been given") { bench in
            let peer = try await bench.peer { _ in .steps([.send(Array("abc".utf8)), .cut], length: 9) }
            for shape in RequestShape.allCases {
                let attempt = await bench.attempt(try bench.transport(), peer.request(shape.method), shape.body)
                let verdict = FaultVerdict([.connectionLost, .truncated], [.answered, .unknown])
                try bench.expect(attempt, endsWith: verdict, seen: 1)
            }
            try bench.expect(peer.requests.count, is: RequestShape.allCases.count, "requests seen")
        }
    ]
}
