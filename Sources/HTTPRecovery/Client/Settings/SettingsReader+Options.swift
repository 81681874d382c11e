extension SettingsReader {
    static let presets: [String: RecoveringClient.Settings] = [
        "standard": .standard, "aggressive": .aggressive, "batch": .batch, "interactive": .interactive, "none": .none,
        "aws_standard": .awsStandard, "grpc": .grpc, "polly_standard": .pollyStandard,
    ]

    /// What the options make of a preset, or of what holds where none is named.
    ///
    /// - Parameter base: What holds where no preset is named; nil has all off that is absent, as in a scenario.
    package func settings(base: RecoveringClient.Settings?) throws(Failure) -> RecoveringClient.Settings {
        let start = try word("preset", Self.presets) ?? base
        let isOff = start == nil
        var settings = start ?? .nothing
        let forms: [String: RecoveringClient.AttemptNumber.Form] = ["amazon": .amazon, "grpc": .grpc]
        settings.attemptNumber = try unlessOff("attempt_number", settings.attemptNumber) { key throws(Failure) in
            try word(key, forms)
        }
        if let attempts = try whole("max_attempts", atLeast: 1) {
            // gRPC's more than five mean five (proposal A6).
            settings.maxAttempts = settings.attemptNumber == .grpc ? min(attempts, 5) : attempts
        }
        settings.deadline = try unlessOff("deadline_s", settings.deadline, seconds)
        settings.maxWait = try seconds("max_wait_s") ?? settings.maxWait
        settings.longestLockout = try unlessOff("longest_lockout_s", settings.longestLockout, seconds)
        try readTimeouts(into: &settings)
        if let backoff = try backoff("backoff", base: isOff ? nil : settings.backoff) {
            settings.backoff = backoff
            // Whoever says how long the same delays are after a throttle wants no others there.
            if let own = try object("backoff", keys: Self.keys(of: "backoff")), own.value("throttled_base_s") != nil,
                !own.switchesOff("throttled_base_s")
            {
                settings.throttledBackoff = nil
            }
        }
        settings.throttledBackoff =
            try unlessOff("throttled_backoff", settings.throttledBackoff) { key throws(Failure) in
                try backoff(key, base: isOff ? nil : settings.delaysAfterThrottles)
            }
        if let budget = try budget(base: isOff ? nil : settings.budget) {
            settings.budget = budget
            // By gRPC's rules the first resend of what was provably not processed is free (proposal A6).
            if case .throttle = budget { settings.resendsTransparently = true }
        }
        try readBreaker(into: &settings, isOff: isOff)
        settings.limit = try unlessOff("limit", settings.limit) { _ throws(Failure) in
            try limit(base: settings.limit, isOff: isOff)
        }
        settings.pace = try unlessOff("pacing", settings.pace) { _ throws(Failure) in try pace(base: settings.pace) }
        settings.isAdaptive = try bool("adaptive") ?? settings.isAdaptive
        settings.hedging = try unlessOff("hedge", settings.hedging) { _ throws(Failure) in
            try hedging(base: settings.hedging)
        }
        settings.resendsTransparently = try bool("resends_transparently") ?? settings.resendsTransparently
        try checkWindow(of: settings)
        return settings
    }

    private func readTimeouts(into settings: inout RecoveringClient.Settings) throws(Failure) {
        let positive = { (time: Duration) in time > .zero }
        let deadline = settings.deadline.flatMap { $0 > .zero ? $0 : nil }
        // What a preset says of attempts ends with the call.
        let own = settings.attemptTimeout.map { min($0, deadline ?? $0) }
        settings.attemptTimeout = try unlessOff("attempt_timeout_s", own) { key throws(Failure) in
            guard let timeout = try seconds(key, if: positive, "has to be above zero") else { return nil }
            guard let deadline, timeout > deadline else { return timeout }
            throw Failure(
                name(key),
                "is at most \(name("deadline_s")), which is \(deadline): no attempt takes longer than its call"
            )
        }
        settings.idleTimeout = try unlessOff("idle_timeout_s", settings.idleTimeout) { key throws(Failure) in
            guard let idle = try seconds(key, if: positive, "has to be above zero") else { return nil }
            guard let timeout = settings.attemptTimeout, idle >= timeout else { return idle }
            throw Failure(
                name(key),
                "is below \(name("attempt_timeout_s")), which is \(timeout), or it would never end an attempt"
            )
        }
    }

    private func readBreaker(into settings: inout RecoveringClient.Settings, isOff: Bool) throws(Failure) {
        if switchesOff("breaker") {
            (settings.breaker, settings.breakerOverride) = (nil, nil)
            return
        }
        guard let own = try object("breaker", keys: Self.keys(of: "breaker")) else { return }
        settings.breaker = try own.breaker(base: settings.breaker, isOff: isOff)
        let words = Dictionary(uniqueKeysWithValues: Recovery.CircuitBreaker.Override.words)
        settings.breakerOverride = try own.unlessOff("force", settings.breakerOverride) { key throws(Failure) in
            try own.word(key, words)
        }
        settings.isBreakerShared = try own.bool("shared") ?? settings.isBreakerShared
    }

    /// A window of time holds two attempts at least.
    private func checkWindow(of settings: RecoveringClient.Settings) throws(Failure) {
        guard case .time(let length, _)? = settings.breaker?.window, let timeout = settings.attemptTimeout,
            length < timeout * 2, value("breaker") != nil || value("attempt_timeout_s") != nil
        else { return }
        throw Failure(
            name("breaker.window_s"),
            "is at least twice \(name("attempt_timeout_s")), which is \(timeout); it is \(length)"
        )
    }

    private func pace(base: RecoveringClient.Settings.Pace?) throws(Failure) -> RecoveringClient.Settings.Pace? {
        guard let own = try object("pacing", keys: Self.keys(of: "pacing")) else { return nil }
        guard let rate = try own.number("rate_per_s", if: { $0 > 0 }, "has to be above 0") ?? base?.perSecond else {
            throw own.missing("rate_per_s")
        }
        return .init(perSecond: rate, burst: try own.whole("burst", atLeast: 1) ?? base?.burst ?? 1)
    }

    private func hedging(base: Recovery.Hedging?) throws(Failure) -> Recovery.Hedging? {
        guard let own = try object("hedge", keys: Self.keys(of: "hedge")) else { return nil }
        guard let delay = try own.seconds("delay_s") ?? base?.delay else { throw own.missing("delay_s") }
        let quantile = try own.unlessOff("quantile", base?.quantile) { key throws(Failure) in
            try own.number(key, if: { $0 > 0 && $0 < 1 }, "has to be above 0 and below 1")
        }
        return .init(
            after: delay,
            maxAttempts: try own.whole("max", atLeast: 1) ?? base?.maxAttempts ?? 2,
            quantile: quantile
        )
    }
}

extension RecoveringClient.Settings {
    /// Every policy switched off.
    package static let nothing = RecoveringClient.Settings(
        deadline: nil,
        attemptTimeout: nil,
        maxAttempts: 1,
        maxWait: .longest,
        backoff: .constant(.zero),
        throttledBackoff: nil,
        longestLockout: .longest,
        budget: .unlimited
    )

    /// What a refusal for too many requests is followed by, as a backoff of its own.
    fileprivate var delaysAfterThrottles: Backoff {
        guard throttledBackoff == nil, let base = backoff.throttledBase else { return throttledBackoff ?? backoff }
        var own = backoff
        (own.base, own.throttledBase) = (base, nil)
        return own
    }
}
