import HTTPRecovery
import HTTPRecoveryTesting

// Limits: of what is sent to people, of logins and new accounts, and of the tenant as a whole.
extension Auth0World {
    /// What of a limit is used up, and since when it is refilled.
    struct Bucket: Sendable {
        var used: Int64
        var since: Int64
    }

    /// So much at once, and then one more each period.
    struct Limit: Sendable {
        /// How a refusal tells when the next one is let pass.
        enum Telling: Sendable { case fields, retryAfter, nothing }

        let burst: Int64
        /// Milliseconds.
        let period: Int64
        let telling: Telling
        var refusal = Auth0Failure.tooManyRequests

        static let textMessages = Limit(burst: 10, period: 3_600_000, telling: .nothing)
        static let mails = Limit(burst: 20, period: 60_000, telling: .nothing)
        static let codes = Limit(burst: 50, period: 72_000, telling: .fields)
        static let challenges = Limit(burst: 50, period: 72_000, telling: .retryAfter)
        /// The logins of one name from one address, right ones too.
        static let logins = Limit(burst: 20, period: 6000, telling: .nothing, refusal: .tooManyLogins)
        /// Wrong tokens of another issuer from one address.
        static let exchanges = Limit(burst: 10, period: 600_000, telling: .nothing, refusal: .suspicious)
        /// New accounts from one address.
        static let signUps = Limit(burst: 50, period: 1200, telling: .nothing, refusal: .suspicious)
        static let resets = Limit(burst: 10, period: 60_000, telling: .fields)
    }

    /// Counts something that is sent against its limit.
    mutating func admit(to name: String, _ limit: Limit, _ exchange: Auth0Exchange) throws(Auth0Failure) {
        guard exchange.settings.limitsSending else { return }
        var bucket = buckets[name] ?? Bucket(used: 0, since: exchange.now)
        let refilled = max(0, (exchange.now - bucket.since) / limit.period)
        bucket = Bucket(used: max(0, bucket.used - refilled), since: bucket.since + refilled * limit.period)
        // What is full is not refilled: the time begins with what is taken first.
        if bucket.used == 0 { bucket.since = exchange.now }
        defer { buckets[name] = bucket }
        guard bucket.used < limit.burst else {
            var failure = limit.refusal
            let next = bucket.since + limit.period
            switch limit.telling {
            case .fields: failure.headers = Self.rate(limit.burst, rest: 0, next: next)
            case .retryAfter:
                let seconds = max(1, (next - exchange.now + 999) / 1000)
                failure.headers = [.init(name: "Retry-After", value: String(seconds))]
            case .nothing: break
            }
            throw failure
        }
        bucket.used += 1
    }

    /// Counts a request against the tenant's limit.
    ///
    /// - Returns: Whether it is one too many.
    mutating func countRequest(_ exchange: Auth0Exchange) -> Bool {
        guard let limit = exchange.settings.requestLimit else { return false }
        let minute = exchange.now / 60_000
        if requests.minute != minute { requests = (0, minute) }
        requests.count += 1
        return requests.count > limit
    }

    /// Tells of the tenant's limit, where the answer tells of no other.
    func tellLimit(in response: inout SandboxResponse, _ exchange: Auth0Exchange) {
        guard let limit = exchange.settings.requestLimit, response.header("x-ratelimit-limit") == nil else { return }
        let next = (requests.minute + 1) * 60_000
        response.headers += Self.rate(limit, rest: max(0, limit - requests.count), next: next)
    }

    private static func rate(_ limit: Int64, rest: Int64, next: Int64) -> [SandboxRequest.Header] {
        [
            .init(name: "x-ratelimit-limit", value: String(limit)),
            .init(name: "x-ratelimit-remaining", value: String(rest)),
            .init(name: "x-ratelimit-reset", value: String((next + 999) / 1000)),
        ]
    }
}
