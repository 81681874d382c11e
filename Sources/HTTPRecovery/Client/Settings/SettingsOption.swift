/// What an option of a policy takes; the one list of all that there are.
package enum SettingsOption: Sendable, Hashable {
    case text
    case bool
    case number
    /// Seconds as a number, or a text with a unit.
    case seconds
    /// A word, a fraction, or the least and the greatest factor.
    case jitter
    /// Numbers of seconds.
    case delays
    case object([String: SettingsOption])

    /// The options at the top.
    package static let all: [String: SettingsOption] = [
        "preset": .text, "max_attempts": .number, "deadline_s": .seconds, "max_wait_s": .seconds,
        "attempt_timeout_s": .seconds, "idle_timeout_s": .seconds, "longest_lockout_s": .seconds,
        "backoff": backoff, "throttled_backoff": backoff, "budget": budget, "breaker": breaker,
        "limit": .object([
            "kind": .text, "max": .number, "min": .number, "initial": .number, "queue": .number,
            "backoff_ratio": .number,
            "timeout_s": .seconds,
        ]),
        "pacing": .object(["rate_per_s": .number, "burst": .number]), "adaptive": .bool,
        "hedge": .object(["delay_s": .seconds, "max": .number, "quantile": .number]),
        "resends_transparently": .bool, "attempt_number": .text,
    ]

    private static let backoff = SettingsOption.object([
        "kind": .text, "base_s": .seconds, "throttled_base_s": .seconds, "factor": .number, "cap_s": .seconds,
        "cap": .text, "jitter": .jitter, "delays_s": .delays, "advice_slack_s": .seconds,
    ])

    private static let budget = SettingsOption.object([
        "model": .text, "ratio": .number, "burst": .number, "capacity": .number, "retry_cost": .number,
        "timeout_cost": .number, "throttle_cost": .number, "percent": .number, "floor": .number,
        "max_tokens": .number, "token_ratio": .number, "ttl_s": .seconds, "min_per_s": .number,
    ])

    private static let breaker = SettingsOption.object([
        "kind": .text, "failures": .number, "window": .number, "window_s": .seconds, "buckets": .number,
        "ratio": .number, "min_calls": .number, "slow_s": .seconds, "slow_ratio": .number,
        "half_open_permits": .number, "success_threshold": .number, "open_s": .seconds, "open_factor": .number,
        "open_max_s": .seconds, "counts_refusals": .bool, "force": .text, "shared": .bool,
    ])
}

extension SettingsReader {
    package static let optionKeys = Set(SettingsOption.all.keys)

    /// The keys of an option that is an object.
    static func keys(of option: String) -> Set<String> {
        guard case .object(let members) = SettingsOption.all[option] else { return [] }
        return Set(members.keys)
    }
}
