import HTTPTypes

/// The families of fields that report on rate limits, with the differences between their vendors.
struct LimitFamilies {
    /// One limit as a family of fields reports it.
    private struct Report {
        /// The field that says when the limit is reset.
        var origin: String
        /// How much is left; nil if the family does not say.
        var remaining: Double?
        /// Whether nothing is left; nil if the family does not say.
        var isExhausted: Bool? { remaining.map { $0 == 0 } }
        /// The time until the reset; nil if it cannot be read.
        var reset: Duration?
        /// Whether a field speaks of a reset at all.
        var hasReset: Bool

        /// Whether what is left are no requests.
        var countsOtherThings: Bool {
            origin.hasPrefix("x-ratelimit-reset-") && origin != "x-ratelimit-reset-after"
                && origin != "x-ratelimit-reset-requests"
                || origin.hasPrefix("anthropic-") && origin != "anthropic-ratelimit-requests-reset"
        }
    }

    /// The draft fields.
    let draft: RateLimitFields

    /// Whether the answer comes from a cache, and says nothing about the present.
    private let isCached: Bool

    /// The groups of reports in the order in which they are consulted; within a group the longest time counts.
    private let groups: [[Report]]

    /// A field that states a delay by itself.
    private let retryAfter: Report?

    init(_ fields: HTTPFields, clock: ServerClock) {
        isCached = RateLimitFields.isCached(fields)
        draft = RateLimitFields(fields)
        let plain = Self.report(fields, remaining: "ratelimit-remaining", reset: "ratelimit-reset", clock: clock)
        let retry = fields.lines("x-ratelimit-retry-after")
        retryAfter =
            retry.isEmpty
            ? nil
            : Report(
                origin: "x-ratelimit-retry-after",
                remaining: nil,
                reset: retry.lazy.compactMap { DelayText.seconds($0, allowsFraction: true) }.max(),
                hasReset: true
            )
        var after = Report(
            origin: "x-ratelimit-reset-after",
            remaining: Self.remaining(fields, "x-ratelimit-remaining"),
            reset: nil,
            hasReset: false
        )
        if !fields.lines(after.origin).isEmpty {
            after.hasReset = true
            after.reset = fields.singleLine(after.origin).flatMap { DelayText.seconds($0, allowsFraction: true) }
        }
        groups = [
            [plain],
            [after],
            [Self.report(fields, remaining: "x-ratelimit-remaining", reset: "x-ratelimit-reset", clock: clock)],
            [Self.report(fields, remaining: "x-rate-limit-remaining", reset: "x-rate-limit-reset", clock: clock)],
            Self.buckets(fields, clock: clock),
        ]
    }

    /// Whether a limit says that nothing is left of it.
    var isExhausted: Bool {
        draft.isExhausted || groups.joined().contains { $0.isExhausted == true }
    }

    /// The delay that follows from the limits, on a response that refuses the request for one.
    ///
    /// - Parameter isExhaustedOnly: Whether only limits count that say that nothing is left of them.
    func statement(isExhaustedOnly: Bool) -> ServerDelay.Statement? {
        if let delay = draft.delay {
            return ServerDelay.Statement(delay: delay, field: .limitField("ratelimit"))
        }
        if let retryAfter {
            return ServerDelay.Statement(delay: retryAfter.reset, field: .limitField(retryAfter.origin))
        }
        for group in groups {
            let relevant = group.filter { report in
                report.hasReset && (report.isExhausted ?? !isExhaustedOnly)
            }
            guard let first = relevant.first else { continue }
            let longest = relevant.filter { $0.reset != nil }.max { $0.reset ?? .zero < $1.reset ?? .zero } ?? first
            return ServerDelay.Statement(delay: longest.reset, field: .limitField(longest.origin))
        }
        return nil
    }

    private static func report(
        _ fields: HTTPFields,
        remaining: String,
        reset: String,
        clock: ServerClock
    ) -> Report {
        let values = fields.lines(reset).flatMap { $0.split(separator: ",") }
        // Some servers send a line for each of several limits (Okta: org bucket and factor window). The smallest that
        // is positive is the one that Okta's own clients take; a zero there means a bucket that is not counted.
        let times = values.compactMap { value -> Duration? in
            DelayText.reset(String(value), clock: clock)
        }
        let positive = times.filter { $0 > .zero }
        return Report(
            origin: reset,
            remaining: self.remaining(fields, remaining),
            reset: positive.min() ?? times.first,
            hasReset: !values.isEmpty
        )
    }

    /// The limits that are reported apart for requests, tokens and the like.
    private static func buckets(_ fields: HTTPFields, clock: ServerClock) -> [Report] {
        var reports: [Report] = []
        for field in fields {
            let name = field.name.canonicalName
            if name.hasPrefix("x-ratelimit-reset-"), name != "x-ratelimit-reset-after" {
                // OpenAI and those who imitate it: a Go duration.
                let remaining = "x-ratelimit-remaining-" + name.dropFirst("x-ratelimit-reset-".count)
                let reset = DelayText.goDuration(field.value) ?? DelayText.reset(field.value, clock: clock)
                reports.append(
                    Report(
                        origin: name,
                        remaining: self.remaining(fields, remaining),
                        reset: reset,
                        hasReset: true
                    )
                )
            } else if name.hasPrefix("anthropic-ratelimit-"), name.hasSuffix("-reset") {
                let remaining = name.dropLast("reset".count) + "remaining"
                let reset = Timestamp(rfc3339: field.value).map { clock.time(until: $0) }
                reports.append(
                    Report(
                        origin: name,
                        remaining: self.remaining(fields, String(remaining)),
                        reset: reset,
                        hasReset: true
                    )
                )
            }
            if reports.count == 16 { break }
        }
        return reports
    }

    /// The least that the lines of a "remaining" field say; nil if none can be read.
    private static func remaining(_ fields: HTTPFields, _ name: String) -> Double? {
        fields.lines(name).flatMap { $0.split(separator: ",") }
            .compactMap { DelayText.seconds(String($0), allowsFraction: true)?.inSeconds }.min()
    }
}

extension LimitFamilies {
    /// What is left of a limit on requests, and until when.
    struct Announced: Sendable, Hashable {
        /// What tells it from others.
        var name: String
        var remaining: Double
        /// The time until there is more.
        var reset: Duration
        /// How much there is in all; nil if that is not said.
        var quota: Double?
    }

    /// The limits on requests of which is said what is left and until when: those of the draft, else those of the first of
    /// the older families that says so.
    var announced: [Announced] {
        let drafts = draft.limits.compactMap { limit -> Announced? in
            let policy = draft.policies.first { $0.key == limit.key }
            guard let reset = limit.reset, policy?.unit ?? "requests" == "requests" else { return nil }
            return Announced(
                name: "\(limit.key.policy) \(limit.key.partition ?? "")",
                remaining: Double(limit.remaining),
                reset: .seconds(reset),
                quota: policy.map { Double($0.quota) }
            )
        }
        if !drafts.isEmpty || isCached { return drafts }
        for group in groups {
            let said = group.compactMap { report -> Announced? in
                guard let remaining = report.remaining, let reset = report.reset, !report.countsOtherThings else {
                    return nil
                }
                return Announced(name: report.origin, remaining: remaining, reset: reset)
            }
            if !said.isEmpty { return said }
        }
        return []
    }
}
