import AuthRecovery
import CommandLineSupport
import HTTPRecovery

/// The policies of the program: what its options make of them, and a recording says of them.
struct PolicyChoice: Sendable {
    /// The delays if the server states none; nil for those of the policies.
    var backoff: BackoffRange?
    /// Whether these are the same each time, and not random.
    var isConstant = false
    /// The longest lockout that is waited out.
    var longestLockout: Duration
    /// Whether refused tokens are renewed or removed.
    var renews: Bool

    /// The policies, the first asked first.
    ///
    /// - Parameter tokens: Renews tokens; a replay, which renews none, has any.
    func policies(_ tokens: TokenManager?) -> [any RecoveryPolicy] {
        var rateLimits = RateLimitBackoff()
        var transient = TransientRetry()
        if let range = backoff {
            if isConstant {
                (rateLimits.backoff, transient.backoff) = (.constant(range.base), .constant(range.base))
            } else {
                rateLimits.backoff = .exponential(base: range.base, cap: range.cap, jitter: .equal)
                transient.backoff = .exponential(base: range.base, cap: range.cap)
            }
        }
        var policies: [any RecoveryPolicy] = [rateLimits, LockoutWait(atMost: longestLockout)]
        if renews { policies.append(SessionRenewal(tokens ?? TokenManager(store: InMemoryTokenStore()))) }
        policies.append(transient)
        return policies
    }
}

extension PolicyChoice {
    init(_ options: RecoveryOptions, renews: Bool) {
        self.init(
            backoff: options.delays,
            isConstant: options.retryDelay.map { $0.duration > .zero } ?? false,
            longestLockout: options.maxWait.duration,
            renews: renews
        )
    }

    /// The choice as a recording keeps it: times as seconds and attoseconds.
    var json: JSONValue {
        [
            "backoff": backoff.map { [Self.json($0.base), Self.json($0.cap)] } ?? nil,
            "constant": .bool(isConstant), "longest_lockout": Self.json(longestLockout), "renews": .bool(renews),
        ]
    }

    /// Reads ``json``; nil for what it cannot have written.
    init?(_ json: JSONValue) {
        guard let longest = json["longest_lockout"].flatMap(Self.duration), let renews = json["renews"]?.bool else {
            return nil
        }
        var backoff: BackoffRange?
        if let range = json["backoff"], !range.isNull {
            guard let base = range[0].flatMap(Self.duration), let cap = range[1].flatMap(Self.duration), base <= cap
            else { return nil }
            backoff = BackoffRange(base: base, cap: cap)
        }
        let isConstant = json["constant"]?.bool ?? false
        self.init(backoff: backoff, isConstant: isConstant, longestLockout: longest, renews: renews)
    }

    private static func json(_ duration: Duration) -> JSONValue {
        let (seconds, attoseconds) = duration.components
        return [.number(JSONValue.Number(seconds)), .number(JSONValue.Number(attoseconds))]
    }

    private static func duration(_ json: JSONValue) -> Duration? {
        guard let seconds = json[0]?.number?.saturatedInt, let attoseconds = json[1]?.number?.saturatedInt,
            (0...Duration.longest.components.seconds).contains(seconds),
            (0..<1_000_000_000_000_000_000).contains(attoseconds)
        else { return nil }
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }
}
