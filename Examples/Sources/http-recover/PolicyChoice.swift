import AuthRecovery
import CommandLineSupport
import HTTPRecovery

/// The policies of the program: what its options make of them, and a recording says of them.
struct PolicyChoice: Sendable {
    /// The policy of a file; nil for none.
    private let policy: PolicyFile?
    /// The delays that take the place of the policy's; nil for none.
    private let delays: BackoffRange?
    /// Whether these are the same each time, and not random.
    private let isConstant: Bool
    /// Whether refused tokens are renewed or removed.
    private let renews: Bool
    /// What all of it comes to.
    private let settings: RecoveringClient.Settings

    init(_ options: RecoveryOptions, _ policy: PolicyFile?, _ settings: RecoveringClient.Settings, renews: Bool) {
        self.policy = policy
        self.delays = options.delays
        self.isConstant = options.hasOneDelay
        self.renews = renews
        self.settings = settings
    }

    /// The policies, the first asked first.
    ///
    /// - Parameter tokens: Renews tokens, of which a replay, which renews none, may have any; nil for a renewal itself.
    func policies(_ tokens: TokenManager?) -> [any RecoveryPolicy] {
        var policies: [any RecoveryPolicy] = [
            RateLimitBackoff(backoff: settings.throttledBackoff ?? settings.backoff)
        ]
        if let longest = settings.longestLockout { policies.append(LockoutWait(atMost: longest)) }
        if renews, let tokens { policies.append(SessionRenewal(tokens)) }
        policies.append(TransientRetry(backoff: settings.backoff))
        return policies
    }
}

extension PolicyChoice {
    /// The choice as a recording keeps it: times as seconds and attoseconds.
    var json: JSONValue {
        [
            "policy": policy?.json ?? nil, "backoff": delays.map { [Self.json($0.base), Self.json($0.cap)] } ?? nil,
            "constant": .bool(isConstant), "longest_lockout": settings.longestLockout.map(Self.json) ?? nil,
            "renews": .bool(renews),
        ]
    }

    /// Reads ``json``; nil for what it cannot have written.
    init?(_ json: JSONValue) {
        guard let renews = json["renews"]?.bool else { return nil }
        self.renews = renews
        self.isConstant = json["constant"]?.bool ?? false
        var policy: PolicyFile?
        if let text = json["policy"], !text.isNull {
            guard let file = try? PolicyFile(text) else { return nil }
            policy = file
        }
        var delays: BackoffRange?
        if let range = json["backoff"], !range.isNull {
            guard let base = range[0].flatMap(Self.duration), let cap = range[1].flatMap(Self.duration), base <= cap
            else { return nil }
            delays = BackoffRange(base: base, cap: cap)
        }
        guard let longest = json["longest_lockout"], longest.isNull || Self.duration(longest) != nil else { return nil }
        var settings = policy?.settings ?? .ofProgram
        settings.setDelays(delays, isConstant: isConstant)
        settings.longestLockout = Self.duration(longest)
        (self.policy, self.delays, self.settings) = (policy, delays, settings)
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
