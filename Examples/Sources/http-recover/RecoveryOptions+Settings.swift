import CommandLineSupport
import HTTPRecovery

extension RecoveringClient.Settings {
    /// What holds where nothing is written: the library's standard, without a limit of a call's time.
    static let ofProgram: Self = {
        var settings = Self.standard
        settings.deadline = nil
        return settings
    }()

    /// Has all delays begin and end as somebody wants them, the same each time or random.
    mutating func setDelays(_ range: BackoffRange?, isConstant: Bool) {
        guard let range else { return }
        if isConstant {
            backoff = .constant(range.base)
            throttledBackoff = nil
        } else {
            backoff = .exponential(base: range.base, cap: range.cap)
            throttledBackoff = .exponential(base: range.base, cap: range.cap, jitter: .equal)
        }
    }
}

extension RecoveryOptions {
    /// By what calls are recovered: a policy, and above it what is written beside it.
    func settings(_ policy: PolicyFile?) -> RecoveringClient.Settings {
        var settings = policy?.settings ?? .ofProgram
        if let attempts = maxAttempts ?? retry.map({ $0 + 1 }) { settings.maxAttempts = attempts }
        if let time = callTime?.duration { settings.deadline = time > .zero ? time : nil }
        if let attemptTimeout { settings.attemptTimeout = attemptTimeout.duration }
        if let idleTimeout { settings.idleTimeout = idleTimeout.duration }
        if let maxWait { (settings.maxWait, settings.longestLockout) = (maxWait.duration, maxWait.duration) }
        settings.setDelays(delays, isConstant: hasOneDelay)
        if budgetRatio != nil || budgetBurst != nil {
            var budget = RetryBudget.Configuration()
            if case .ratio(let own) = settings.budget { budget = own }
            budget.ratio = budgetRatio ?? budget.ratio
            budget.burst = budgetBurst ?? budget.burst
            settings.budget = .ratio(budget)
        }
        if let breaker {
            settings.breaker = Recovery.CircuitBreaker.Configuration(
                window: .time(max(.seconds(60), (settings.attemptTimeout ?? .zero) * 2)),
                failureRatio: breaker.ratio,
                minimumCalls: breaker.minimumCalls,
                breakDuration: breaker.openTime
            )
        }
        if let hedge { settings.hedging = Recovery.Hedging(after: hedge.duration) }
        return settings
    }

    /// Whether the delay is the same each time.
    var hasOneDelay: Bool { retryDelay.map { $0.duration > .zero } ?? false }

    /// The delays that the person wants; nil for those of the policies.
    var delays: BackoffRange? {
        guard let delay = retryDelay?.duration, delay > .zero else { return backoff }
        return BackoffRange(base: delay, cap: delay)
    }
}

extension RecoveringClient.Settings {
    /// The bounds of an attempt.
    var timeout: AttemptTimeout { AttemptTimeout(attemptTimeout ?? .longest, idle: idleTimeout) }

    /// What holds attempts back; a breaker is known to whoever shares the state.
    func admissions() -> [any Admission] {
        var admissions: [any Admission] = []
        if breaker != nil || breakerOverride != nil {
            let breaker = Recovery.CircuitBreaker(breaker ?? .init(), isShared: true)
            breaker.override = breakerOverride
            admissions.append(breaker)
        }
        if let pace { admissions.append(Recovery.Pacing(perSecond: pace.perSecond, burst: pace.burst)) }
        if isAdaptive { admissions.append(Recovery.AdaptiveRate()) }
        if let limit { admissions.append(Recovery.ConcurrencyLimit(limit.algorithm, queue: limit.queue)) }
        return admissions
    }
}
