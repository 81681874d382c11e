import HTTPRecovery
import HTTPRecoveryTesting

// Limits, and the headers that tell of them on almost every answer.
extension OktaWorld {
    /// Counts a request against the limit of its API.
    mutating func admit(to name: String, _ settings: SandboxOktaSettings, now: Int64) throws(OktaFailure) {
        let limit = settings.rateLimit ?? SandboxOktaSettings.defaultLimit
        var bucket = buckets[name] ?? (start: now, count: 0)
        if now - bucket.start >= limit.per { bucket = (start: now, count: 0) }
        defer { buckets[name] = bucket }
        guard settings.rateLimit == nil || bucket.count < limit.count else { throw .limit }
        bucket.count += 1
    }

    /// Counts a sign-in against the limit of a name, of which the org's own limit knows nothing.
    mutating func admit(signInOf name: String, _ exchange: OktaExchange) throws(OktaFailure) {
        guard let limit = exchange.okta.nameLimit else { return }
        let key = "name \(name.lowercased())"
        var bucket = buckets[key] ?? (start: exchange.now, count: 0)
        if exchange.now - bucket.start >= limit.per { bucket = (start: exchange.now, count: 0) }
        defer { buckets[key] = bucket }
        guard bucket.count < limit.count else {
            var failure = OktaFailure.limit
            failure.windowEnd = bucket.start + limit.per
            throw failure
        }
        bucket.count += 1
    }

    /// The answer that tells of a failure.
    mutating func response(of failure: OktaFailure, settings: SandboxOktaSettings) -> SandboxResponse {
        var response = SandboxResponse.json(failure.body(id: "oae" + random.letters(22)), status: failure.status)
        if let end = failure.windowEnd {
            response.setHeader(Self.windowMark, String((end + settings.clockSkew) / 1000))
        }
        return response
    }

    /// Carries the end of a window from a refusal to its headers; it never goes over the wire.
    private static let windowMark = "x-sandbox-window"

    /// Adds Okta's own headers to an answer, as far as it does not have them.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - name: The bucket of the request.
    ///   - settings: How Okta behaves.
    ///   - now: The sandbox's time.
    mutating func stamp(
        _ response: inout SandboxResponse,
        bucket name: String,
        _ settings: SandboxOktaSettings,
        now: Int64
    ) {
        func add(_ header: String, _ value: String) {
            response.headers.append(.init(name: Self.written(header, settings.headerCase), value: value))
        }
        let windowEnd = response.header(Self.windowMark)
        response.headers.removeAll { $0.name == Self.windowMark }
        if response.header("date") == nil { add("date", Timestamp(milliseconds: now + settings.clockSkew).httpDate) }
        // A page comes from somebody who stands before the org.
        let isPage = response.header("content-type")?.hasPrefix("text/html") ?? false
        guard settings.sendsRateHeaders, !isPage else { return }
        if response.header("x-okta-request-id") == nil { add("x-okta-request-id", random.letters(26)) }
        guard response.header("x-rate-limit-reset") == nil, response.header("x-rate-limit-limit") == nil else { return }
        let limit = settings.rateLimit ?? SandboxOktaSettings.defaultLimit
        let bucket = buckets[name] ?? (start: now, count: 0)
        // A code that was sent a moment ago is another limit than the org's, which has something left.
        let isOut = response.status == 429 && windowEnd == nil
        let isConcurrency = isOut && settings.isConcurrencyLimit
        let rest = isOut ? 0 : settings.remaining ?? max(0, limit.count - bucket.count)
        add("x-rate-limit-limit", String(isConcurrency ? 0 : limit.count))
        add("x-rate-limit-remaining", String(rest))
        let base = now + settings.clockSkew
        if let resets = settings.resets {
            for reset in resets { add("x-rate-limit-reset", String(base / 1000 + reset)) }
        } else {
            add("x-rate-limit-reset", String((bucket.start + limit.per + settings.clockSkew) / 1000))
        }
        if let windowEnd { add("x-rate-limit-reset", windowEnd) }
    }

    private static func written(_ name: String, _ headerCase: String) -> String {
        switch headerCase {
        case "upper": name.uppercased()
        case "title":
            name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "-")
        default: name
        }
    }
}
