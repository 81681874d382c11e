import HTTPRecovery

// The endpoints under `/_sandbox/`.
extension SandboxWorld {
    /// Answers a request to one of them.
    mutating func control(_ request: SandboxRequest) -> SandboxResponse {
        if let refusal = ControlGuard.refusal(of: request) {
            return .json(["error": .string(refusal)], status: 403, pretty: true)
        }
        if let file = SandboxPage.file(for: request) { return file }
        do throws(SandboxError) {
            let name = request.segments.dropFirst().joined(separator: "/")
            // Of an answer to HEAD the server sends the head alone.
            let method = request.method == "HEAD" ? "GET" : request.method
            guard let control = present.first(where: { $0.name == "\(method) \(name)" }) else {
                let reason = upstream.map { "requests are forwarded to \($0.url); " } ?? ""
                throw SandboxError(.invalidInput, "no such endpoint: \(reason)GET /_sandbox/ lists what there is")
            }
            return .json(try control.answer(&self, request), pretty: true)
        } catch {
            let isMissing = error.message.hasPrefix("no such")
            return .json(["error": .string(error.message)], status: isMissing ? 404 : 400, pretty: true)
        }
    }

    /// Those that there are here.
    private var present: [SandboxControl] { Self.controls.filter { upstream == nil || $0.isForUpstream } }

    private static let controls = common + SandboxProvider.all.flatMap { $0.world.controls }

    private static let common: [SandboxControl] = [
        SandboxControl("GET ", "this list; to a browser, the page that shows it all", isForUpstream: true) { world, _ in
            .object(world.present.map { .init($0.title, .string($0.help)) })
        },
        SandboxControl(
            "GET state",
            "what the page shows: {now_ms, providers, accounts, messages, faults, requests, links, …}; the newest of each",
            isForUpstream: true
        ) { world, _ in world.state() },
        SandboxControl(
            "GET outbox",
            query: "?to=",
            "the codes that were sent: {messages: [{to, channel, strategy, code, sent_at, …}]}"
        ) { world, request in
            ["messages": JSONValue(of: world.outbox.messages(to: request.queryItem("to")))]
        },
        SandboxControl(
            "GET requests",
            query: "?method=&path=&grant=",
            """
            what arrived: {total, matching, counts: {route: {received, processed}}, requests: […]}; path is a beginning, \
            or a pattern with *; grant is what a token request asked with, such as refresh_token
            """,
            isForUpstream: true
        ) { world, request in world.log.view(request) },
        SandboxControl("DELETE requests", "forget them", isForUpstream: true) { world, _ in
            world.log.clear()
            return ["total": 0]
        },
        SandboxControl(
            "GET faults",
            "the faults that are set, with how often each struck: {faults: […]}",
            isForUpstream: true
        ) { world, _ in ["faults": JSONValue(of: world.faults.entries, showsNull: false)] },
        SandboxControl(
            "POST faults",
            """
            set a fault, or a list of them: {kind, match?: {method?, path?, grant?}, status?, headers?, retry_after?, body?, \
            code?, message?, meta?, envelope?, delay_ms?, times?, skip?, percent?, processed?}
            """,
            isForUpstream: true
        ) { world, request throws(SandboxError) in
            let body = try request.controlBody()
            let faults: [SandboxFault] =
                body.array == nil ? [try body.read(path: "fault")] : try body.read(path: "faults")
            return ["faults": JSONValue(of: faults.map { world.context.faults.add($0) }, showsNull: false)]
        },
        SandboxControl("DELETE faults", query: "?id=", "remove one, or all: {removed}", isForUpstream: true) {
            world,
            request throws(SandboxError) in
            let number = request.queryItem("id")
            if let number, Int(number) == nil { throw SandboxError(.invalidInput, "id must be a number") }
            return ["removed": .int(world.context.faults.clear(number: number.flatMap { Int($0) }))]
        },
        SandboxControl("GET clock", "the sandbox's time: {now_ms, now, offset_s}", isForUpstream: true) { world, _ in
            world.clockView
        },
        .reading("POST clock", ClockMove.self, "move it on: {advance_s}", isForUpstream: true) { world, move in
            world.advanceClock(byMilliseconds: move.advance)
            return world.clockView
        },
        SandboxControl("GET settings", "the settings") { world, _ in JSONValue(of: world.settings) },
        SandboxControl("POST settings", "change some of them, with the keys of a scenario's settings") {
            world,
            request throws(SandboxError) in
            var settings = world.settings
            try settings.update(from: request.controlBody(), path: "settings")
            world.settings = settings
            return JSONValue(of: settings)
        },
        SandboxControl(
            "POST reset",
            "begin again: people, faults, settings, clock, log and codes are as at the start",
            isForUpstream: true
        ) { world, _ in
            world.reset(wallNow: world.context.now - world.clockOffset)
            return ["reset": true]
        },
    ]

    private struct ClockMove: SandboxInput {
        var advance: Int64

        enum CodingKeys: String, CodingKey {
            case advance = "advance_s"
        }
    }

    private var clockView: JSONValue {
        [
            "now_ms": .int(context.now), "now": .string(Timestamp(milliseconds: context.now).rfc3339),
            "offset_s": .seconds(clockOffset),
        ]
    }

    /// Moves the clock on; it never runs further ahead than a thousand years.
    mutating func advanceClock(byMilliseconds advance: Int64) {
        let before = clockOffset
        clockOffset = min(clockOffset + max(0, min(advance, 31_557_600_000_000)), 31_557_600_000_000)
        context.now = now(wallNow: context.now - before)
    }
}

extension RequestLog {
    /// The requests that one asks for by method, path and grant, and how often each route was called.
    fileprivate func view(_ request: SandboxRequest) -> JSONValue {
        let grant = request.queryItem("grant").map(OAuthGrantType.shortName)
        let records = records(method: request.queryItem("method"), path: request.queryItem("path"))
            .filter { grant == nil || $0.grant == grant }
        return [
            "total": .int(total),
            "matching": .int(records.count),
            "counts": .object(counts.sorted { $0.key < $1.key }.map { .init($0.key, JSONValue(of: $0.value)) }),
            "requests": JSONValue(of: records),
        ]
    }
}
