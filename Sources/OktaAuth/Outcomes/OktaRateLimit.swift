import HTTPRecovery

/// What the rate-limit fields of an answer state; Okta's are `x-rate-limit-limit`, `-remaining` and `-reset`.
struct OktaRateLimit {
    /// How long a concurrency limit is waited for: its reset is an estimate only.
    static let concurrencyDelay: Duration = .seconds(1)

    /// Whether the answer is about requests at the same time, not about requests in a minute.
    let isConcurrency: Bool
    /// Whether all limits that are reported have something left, so that the refusal was for another one.
    let hasRest: Bool
    /// Whether the reset of another limit stands beside that of the org's requests.
    let hasSeveralResets: Bool
    /// The time until the reset; nil if none can be read.
    let delay: Duration?

    init(_ interpretation: ErrorInterpretation) {
        let fields = interpretation.fields
        let limits = Self.numbers(fields.lines("x-rate-limit-limit"))
        let rests = Self.numbers(fields.lines("x-rate-limit-remaining"))
        isConcurrency = !limits.isEmpty && limits.allSatisfy { $0 == 0 } && rests.allSatisfy { $0 == 0 }
        hasRest = !rests.isEmpty && rests.allSatisfy { $0 > 0 }
        // Several buckets have a line each, which libraries join with commas; the smallest is the one that Okta's own
        // clients take.
        let resets = Self.numbers(fields.lines("x-rate-limit-reset")).filter { $0 > 0 }
        hasSeveralResets = resets.count > 1
        guard let reset = resets.min() else {
            delay = isConcurrency ? Self.concurrencyDelay : nil
            return
        }
        let clock = ServerClock(fields, receivedAt: interpretation.exchange.now)
        let left = Timestamp(sinceEpoch: min(.seconds(reset), .longest)).elapsed(since: clock.now)
        // A second more, since the reset falls anywhere within its second.
        let stated = min(max(left.saturatingAdding(.seconds(1)), .seconds(1)), .longest)
        delay = isConcurrency ? Self.concurrencyDelay : stated
    }

    /// The whole numbers of the lines; saturated, and without what is none.
    private static func numbers(_ lines: [String]) -> [Int64] {
        lines.flatMap { $0.split(separator: ",") }.compactMap { text in
            let digits = Substring(text.utf8.trimming(\.isOWS))
            guard !digits.isEmpty, digits.utf8.allSatisfy(\.isDigit) else { return nil }
            return Int64(digits) ?? .max
        }
    }
}
