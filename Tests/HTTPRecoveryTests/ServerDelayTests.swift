import HTTPRecovery
import HTTPTypes
import Testing

/// One row: status, header lines, and the delay in seconds that they state.
struct DelayRow: Sendable, CustomTestStringConvertible {
    var name: String
    var status = 429
    var lines: [[String]]
    var seconds: Double?

    init(_ name: String, status: Int = 429, _ lines: Lines, _ seconds: Double?) {
        self.name = name
        self.status = status
        self.lines = lines.map { [$0.0, $0.1] }
        self.seconds = seconds
    }

    var testDescription: String { name }

    var delay: ServerDelay {
        ServerDelay(response(status, lines.map { ($0[0], $0[1]) }), receivedAt: present)
    }
}

@Suite("What servers state about waiting")
struct ServerDelayTests {
    static let retryAfter = [
        DelayRow("seconds", [("Retry-After", "120")], 120),
        DelayRow("zero", [("retry-after", "0")], 0),
        DelayRow("leading zeros", [("Retry-After", "007")], 7),
        DelayRow("spaces around", [("Retry-After", " \t5 ")], 5),
        DelayRow("never an epoch", [("Retry-After", "1767225605")], 1_767_225_605),
        DelayRow(
            "more than any machine holds",
            [("Retry-After", String(repeating: "9", count: 31))],
            9_223_372_036_854_776
        ),
        DelayRow("plus sign", [("Retry-After", "+5")], nil),
        DelayRow("negative", [("Retry-After", "-1")], nil),
        DelayRow("fraction", [("Retry-After", "2.0")], nil),
        DelayRow("exponent", [("Retry-After", "1e3")], nil),
        DelayRow("hexadecimal", [("Retry-After", "0x10")], nil),
        DelayRow("unit", [("Retry-After", "5s")], nil),
        DelayRow("list", [("Retry-After", "5, 10")], nil),
        DelayRow("lines that disagree", [("Retry-After", "5"), ("Retry-After", "10")], 10),
        DelayRow("the longest comes first", [("Retry-After", "10"), ("retry-after", "5")], 10),
        DelayRow("a date is longer", [("Retry-After", "5"), ("Retry-After", "Thu, 01 Jan 2026 00:01:00 GMT")], 60),
        DelayRow("one line cannot be read", [("Retry-After", "5"), ("Retry-After", "soon")], 5),
        DelayRow("no line can be read", [("Retry-After", "nan"), ("Retry-After", "soon")], nil),
        DelayRow("ms that disagree", [("retry-after-ms", "500"), ("retry-after-ms", "2500")], 2.5),
        DelayRow("lines that agree", [("Retry-After", "5"), ("Retry-After", "5")], 5),
        DelayRow("not a number", [("Retry-After", "nan")], nil),
        DelayRow("infinite", [("Retry-After", "1e400")], nil),
        DelayRow("empty", [("Retry-After", "")], nil),
        DelayRow("arabic digits", [("Retry-After", "\u{0663}")], nil),
        DelayRow("inner space", [("Retry-After", "1 0")], nil),
        DelayRow("date", [("Retry-After", "Thu, 01 Jan 2026 00:01:00 GMT")], 60),
        DelayRow("obsolete date", [("Retry-After", "Thursday, 01-Jan-26 00:01:00 GMT")], 60),
        DelayRow("asctime date", [("Retry-After", "Thu Jan  1 00:01:00 2026")], 60),
        DelayRow("past date", [("Retry-After", "Wed, 31 Dec 2025 00:00:00 GMT")], 0),
        DelayRow("wrong day name", [("Retry-After", "Fri, 01 Jan 2026 00:01:00 GMT")], nil),
        DelayRow(
            "date from the server's own clock",
            [("Retry-After", "Wed, 21 Oct 2015 07:28:30 GMT"), ("Date", "Wed, 21 Oct 2015 07:28:00 GMT")],
            30
        ),
        DelayRow(
            "date beside an invalid Date",
            [("Retry-After", "Thu, 01 Jan 2026 00:01:00 GMT"), ("Date", "yesterday")],
            60
        ),
        DelayRow("on a redirect", status: 307, [("Retry-After", "3")], 3),
        DelayRow("on an accepted job", status: 202, [("Retry-After", "3")], 3),
        DelayRow("on a success", status: 200, [("Retry-After", "3")], nil),
        DelayRow("on a 503", status: 503, [("Retry-After", "3")], 3),
        DelayRow("on a 400", status: 400, [("Retry-After", "3")], 3),
    ]

    static let milliseconds = [
        DelayRow("ms", [("retry-after-ms", "1500")], 1.5),
        DelayRow("ms with fraction", [("retry-after-ms", "20.5")], 0.0205),
        DelayRow("azure", [("x-ms-retry-after-ms", "250")], 0.25),
        DelayRow("amazon", [("x-amz-retry-after", "250")], 0.25),
        DelayRow("amazon fraction", [("x-amz-retry-after", "250.5")], nil),
        DelayRow("amazon negative is ignored", [("x-amz-retry-after", "-1"), ("Retry-After", "4")], 4),
        DelayRow("ms before seconds", [("Retry-After", "2"), ("retry-after-ms", "1500")], 1.5),
        DelayRow("invalid ms hides seconds", [("Retry-After", "2"), ("retry-after-ms", "nan")], nil),
        DelayRow("negative ms", [("retry-after-ms", "-1")], nil),
        DelayRow("huge ms", [("retry-after-ms", String(repeating: "9", count: 400))], 9_223_372_036_854_776),
        DelayRow("pushback", [("grpc-retry-pushback-ms", "750"), ("Retry-After", "9")], 0.75),
        DelayRow("stopping pushback states no delay", [("grpc-retry-pushback-ms", "-1")], nil),
    ]

    static let draft = [
        DelayRow("used up", [("RateLimit", #""default";r=0;t=30"#)], 30),
        DelayRow("retry-after wins", [("RateLimit", #""default";r=0;t=30"#), ("Retry-After", "5")], 5),
        DelayRow("something left", [("RateLimit", #""default";r=1;t=30"#)], nil),
        DelayRow("longest of the used-up ones", [("RateLimit", #""a";r=0;t=30, "b";r=0;t=60, "c";r=5;t=99"#)], 60),
        DelayRow("several lines", [("RateLimit", #""a";r=0;t=30"#), ("RateLimit", #""b";r=0;t=60"#)], 60),
        DelayRow("unknown parameters", [("RateLimit", #""a";x=1;r=0;y;t=30;pk=:YQ==:"#)], 30),
        DelayRow("last duplicate wins", [("RateLimit", #""a";r=5;t=3;r=0;t=30"#)], 30),
        DelayRow("no time", [("RateLimit", #""a";r=0"#)], nil),
        DelayRow("token for a name", [("RateLimit", "default;r=0;t=30")], nil),
        DelayRow("negative time", [("RateLimit", #""a";r=0;t=-1"#)], nil),
        DelayRow("fraction", [("RateLimit", #""a";r=0;t=1.5"#)], nil),
        DelayRow("remaining missing", [("RateLimit", #""a";t=30"#)], nil),
        DelayRow("inner list", [("RateLimit", #"("a");r=0;t=30"#)], nil),
        DelayRow("one bad item spoils the field", [("RateLimit", #""a";r=0;t=30, b;r=0"#)], nil),
        DelayRow("malformed is as absent", [("RateLimit", "!"), ("RateLimit-Reset", "7")], 7),
        DelayRow("cached", [("RateLimit", #""a";r=0;t=30"#), ("Age", "10")], nil),
        DelayRow("draft before older", [("RateLimit", #""a";r=0;t=30"#), ("RateLimit-Reset", "7")], 30),
        DelayRow("on a success", status: 200, [("RateLimit", #""a";r=0;t=30"#)], nil),
        DelayRow("on a 503", status: 503, [("RateLimit", #""a";r=0;t=30"#)], 30),
        DelayRow("on a 500", status: 500, [("RateLimit", #""a";r=0;t=30"#)], nil),
    ]

    static let legacy = [
        DelayRow("delta", [("RateLimit-Reset", "7")], 7),
        DelayRow("delta with something left", [("RateLimit-Reset", "7"), ("RateLimit-Remaining", "3")], nil),
        DelayRow("gitlab epoch", [("RateLimit-Reset", "1767225660"), ("RateLimit-Remaining", "0")], 60),
        DelayRow("github epoch", [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1767225660")], 60),
        DelayRow("epoch in milliseconds", [("X-RateLimit-Reset", "1767225660000")], 60),
        DelayRow("past epoch", [("X-RateLimit-Reset", "1767225000")], 0),
        DelayRow(
            "epoch of an old recording",
            [
                ("X-RateLimit-Reset", "1445412540"), ("Date", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ],
            60
        ),
        DelayRow(
            "epoch from the server's clock",
            [
                ("X-RateLimit-Reset", "1767229260"), ("Date", "Thu, 01 Jan 2026 01:00:00 GMT"),
            ],
            60
        ),
        DelayRow("small numbers are deltas", [("X-RateLimit-Reset", "60")], 60),
        DelayRow(
            "invalid is not passed over",
            [
                ("X-RateLimit-Reset", "nan"), ("X-Rate-Limit-Reset", "1767225660"),
            ],
            nil
        ),
        DelayRow(
            "okta: smallest positive of several lines",
            [
                ("x-rate-limit-remaining", "0"), ("x-rate-limit-reset", "1767225660"),
                ("x-rate-limit-reset", "1767225630"), ("x-rate-limit-reset", "0"),
            ],
            30
        ),
        DelayRow("okta: lines joined by a proxy", [("x-rate-limit-reset", "1767225660, 1767225630")], 30),
        DelayRow(
            "discord",
            [
                ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1767225699.1"),
                ("X-RateLimit-Reset-After", "64.57"),
            ],
            64.57
        ),
        DelayRow("reset with a fraction", [("X-RateLimit-Reset", "1767225660.5")], 60.5),
        DelayRow("openai", [("x-ratelimit-reset-requests", "6m0s")], 360),
        DelayRow("openai milliseconds", [("x-ratelimit-reset-tokens", "20ms")], 0.02),
        DelayRow(
            "openai: the bucket that is empty",
            [
                ("x-ratelimit-remaining-requests", "9"), ("x-ratelimit-reset-requests", "1h0m0s"),
                ("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "7.66s"),
            ],
            7.66
        ),
        DelayRow(
            "openai: the later of two",
            [
                ("x-ratelimit-reset-requests", "1s"), ("x-ratelimit-reset-tokens", "1m1s"),
            ],
            61
        ),
        DelayRow("openai: not a duration", [("x-ratelimit-reset-tokens", "soon")], nil),
        DelayRow(
            "anthropic",
            [
                ("anthropic-ratelimit-requests-remaining", "0"),
                ("anthropic-ratelimit-requests-reset", "2026-01-01T00:00:30Z"),
                ("anthropic-ratelimit-tokens-remaining", "500"),
                ("anthropic-ratelimit-tokens-reset", "2026-01-01T01:00:00Z"),
            ],
            30
        ),
        DelayRow(
            "x-ratelimit-retry-after that disagree",
            [("X-RateLimit-Retry-After", "12"), ("X-RateLimit-Retry-After", "30")],
            30
        ),
        DelayRow("x-ratelimit-retry-after", [("X-RateLimit-Retry-After", "12"), ("X-RateLimit-Reset", "60")], 12),
        DelayRow(
            "403 with nothing left",
            status: 403,
            [
                ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1767225660"),
            ],
            60
        ),
        DelayRow(
            "403 with something left",
            status: 403,
            [
                ("X-RateLimit-Remaining", "10"), ("X-RateLimit-Reset", "1767225660"),
            ],
            nil
        ),
        DelayRow("403 that does not say", status: 403, [("X-RateLimit-Reset", "1767225660")], nil),
        // Without a limit that is used up it is not known what was refused.
        DelayRow("403 with a time alone", status: 403, [("X-RateLimit-Retry-After", "12")], nil),
        DelayRow("503 with a time alone", status: 503, [("X-RateLimit-Retry-After", "12")], nil),
        DelayRow(
            "503 with a time and nothing left",
            status: 503,
            [("X-RateLimit-Retry-After", "12"), ("X-RateLimit-Remaining", "0")],
            12
        ),
        DelayRow(
            "403 with nothing left, behind a family that does not say",
            status: 403,
            [("RateLimit-Reset", "5"), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1767225660")],
            60
        ),
        DelayRow(
            "503 with nothing left, behind a family that does not say",
            status: 503,
            [("RateLimit-Reset", "5"), ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1767225660")],
            60
        ),
        DelayRow(
            "404 with nothing left",
            status: 404,
            [
                ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1767225660"),
            ],
            nil
        ),
        DelayRow(
            "success with nothing left",
            status: 200,
            [
                ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1767225660"),
            ],
            nil
        ),
    ]

    @Test(arguments: retryAfter + milliseconds + draft + legacy)
    func row(row: DelayRow) {
        #expect(row.delay.delay?.inSeconds == row.seconds)
    }

    @Test func aMillionDigitsSaturateAtOnce() {
        let digits = String(repeating: "9", count: 1_000_000)
        for name in ["Retry-After", "retry-after-ms", "X-RateLimit-Reset", "x-ratelimit-reset-tokens"] {
            let delay = ServerDelay(response(429, [(name, digits)]), receivedAt: present).delay
            #expect(delay.map { $0 >= .seconds(Int64.max / 1000 / 1000) } == true)
        }
    }

    /// Just past the bound, where whole seconds are within it.
    @Test(arguments: [("retry-after-ms", "9223372036854775107"), ("x-ratelimit-reset-tokens", "9223372036854775.5s")])
    func nothingIsBeyondTheLongest(name: String, value: String) {
        #expect(ServerDelay(response(429, [(name, value)]), receivedAt: present).delay == .longest)
    }

    @Test(arguments: [
        ("x-should-retry", "true", ServerDelay.Hint.force), ("x-should-retry", "FALSE", .stop),
        ("x-should-retry", "maybe", nil), ("stripe-should-retry", "true", .force),
        ("stripe-should-retry", "false", .stop), ("grpc-retry-pushback-ms", "-1", .stop),
        ("grpc-retry-pushback-ms", "soon", .stop), ("grpc-retry-pushback-ms", "1.5", .stop),
        ("grpc-retry-pushback-ms", "99999999999", .stop), ("grpc-retry-pushback-ms", "10", nil),
    ])
    func hints(name: String, value: String, hint: ServerDelay.Hint?) {
        #expect(ServerDelay(response(503, [(name, value)]), receivedAt: present).hint == hint)
    }

    @Test func aRepeatedPushbackStops() {
        let lines = [("grpc-retry-pushback-ms", "10"), ("grpc-retry-pushback-ms", "10")]
        #expect(ServerDelay(response(503, lines), receivedAt: present).hint == .stop)
    }

    @Test func theOriginNamesTheField() {
        let plain = ServerDelay(response(429, [("Retry-After", "nan")]), receivedAt: present)
        #expect(plain.field == .delayField("retry-after"))
        let limit = ServerDelay(response(429, [("RateLimit-Reset", "5")]), receivedAt: present)
        #expect(limit.field?.fieldName == "ratelimit-reset")
        #expect(ServerDelay(response(429), receivedAt: present).field == nil)
    }

    @Test func theServersClockIsKnownFromItsDate() {
        let clock = ServerClock(fields([("Date", "Thu, 01 Jan 2026 00:10:00 GMT")]), receivedAt: present)
        #expect(clock.offset == .seconds(600))
        #expect(ServerClock(fields([("Date", "today")]), receivedAt: present).offset == nil)
        #expect(ServerClock(fields([("Date", presentDate), ("Date", "x")]), receivedAt: present).offset == nil)
    }

    @Test func policiesAreReadWhole() {
        #expect(RateLimitDraftProbe.windows(#""hour";q=100;w=3600;qu="requests""#) == 3600)
        #expect(RateLimitDraftProbe.windows(#""hour";w=3600"#) == nil)
        #expect(RateLimitDraftProbe.windows(#""hour";q=100;w=0"#) == nil)
        #expect(RateLimitDraftProbe.windows(#""hour";q=100;qu=requests;w=3600"#) == nil)
        #expect(RateLimitDraftProbe.windows(#""hour";q=100;w=3600;pk=x"#) == nil)
    }
}
