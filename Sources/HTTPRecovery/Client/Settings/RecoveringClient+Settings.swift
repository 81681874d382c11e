extension RecoveringClient {
    /// How a client recovers, as one value: what presets are, what is tried in a simulation, and what becomes layers.
    ///
    /// ```swift
    /// var settings = RecoveringClient.Settings.interactive
    /// settings.breaker = .consecutive(5)
    /// let client = RecoveringClient(transport: transport) { settings.layers() }
    /// ```
    public struct Settings: Sendable, Hashable {
        /// A concurrency limit and its line.
        public struct Limit: Sendable, Hashable {
            /// How many attempts may be under way at an origin.
            public var algorithm: Recovery.ConcurrencyLimit.Algorithm
            /// How many may stand in line.
            public var queue: Int

            /// Creates a limit.
            public init(_ algorithm: Recovery.ConcurrencyLimit.Algorithm, queue: Int = 100) {
                self.algorithm = algorithm
                self.queue = queue
            }
        }

        /// A rate.
        public struct Pace: Sendable, Hashable {
            /// How many attempts a second.
            public var perSecond: Double
            /// How many at once after a pause.
            public var burst: Int

            /// Creates a rate.
            public init(perSecond: Double, burst: Int = 1) {
                self.perSecond = perSecond
                self.burst = burst
            }
        }

        /// The time a call may take; nil is any.
        public var deadline: Duration?
        /// The time an attempt may take; nil is any, within the deadline.
        public var attemptTimeout: Duration?
        /// The longest time in which no byte of an attempt comes or goes; nil is any.
        public var idleTimeout: Duration?
        /// The most attempts of a call, the first included.
        public var maxAttempts: Int
        /// The longest single wait.
        public var maxWait: Duration
        /// The delays if the server states none.
        public var backoff: Backoff
        /// The delays after rate limits and stated outages; nil is ``backoff``, with its throttled base.
        public var throttledBackoff: Backoff?
        /// The longest lockout to wait for; nil waits for none.
        public var longestLockout: Duration?
        /// How much resends may add to the load of an origin.
        public var budget: RetryBudget.Model
        /// The circuit breaker; nil is none.
        public var breaker: Recovery.CircuitBreaker.Configuration?
        /// Somebody's word in place of what the breaker has seen; nil is none.
        public var breakerOverride: Recovery.CircuitBreaker.Override?
        /// Whether all who share the client's store heed a breaker that one of them has opened; each attempt asks the store then.
        public var isBreakerShared: Bool
        /// The concurrency limit; nil is none.
        public var limit: Limit?
        /// A rate that is known beforehand; nil is none.
        public var pace: Pace?
        /// Whether the rate is found as the AWS SDKs' adaptive mode finds it.
        public var isAdaptive: Bool
        /// Whether requests are sent again before their answer has come; nil is not.
        public var hedging: Recovery.Hedging?
        /// Whether the first attempt that was provably not processed is made again for nothing.
        public var resendsTransparently: Bool
        /// In whose words the server is told which attempt it sees; nil tells it nothing.
        public var attemptNumber: AttemptNumber.Form?

        /// Creates settings; the parameters are the properties.
        ///
        /// The defaults are those of ``standard``.
        public init(
            deadline: Duration? = .seconds(60),
            attemptTimeout: Duration? = .seconds(30),
            idleTimeout: Duration? = nil,
            maxAttempts: Int = 3,
            maxWait: Duration = .seconds(120),
            backoff: Backoff = .exponential(),
            throttledBackoff: Backoff? = RateLimitBackoff().backoff,
            longestLockout: Duration? = .seconds(120),
            budget: RetryBudget.Model = .ratio(),
            breaker: Recovery.CircuitBreaker.Configuration? = nil,
            breakerOverride: Recovery.CircuitBreaker.Override? = nil,
            isBreakerShared: Bool = false,
            limit: Limit? = nil,
            pace: Pace? = nil,
            isAdaptive: Bool = false,
            hedging: Recovery.Hedging? = nil,
            resendsTransparently: Bool = false,
            attemptNumber: AttemptNumber.Form? = nil
        ) {
            self.deadline = deadline
            self.attemptTimeout = attemptTimeout
            self.idleTimeout = idleTimeout
            self.maxAttempts = maxAttempts
            self.maxWait = maxWait
            self.backoff = backoff
            self.throttledBackoff = throttledBackoff
            self.longestLockout = longestLockout
            self.budget = budget
            self.breaker = breaker
            self.breakerOverride = breakerOverride
            self.isBreakerShared = isBreakerShared
            self.limit = limit
            self.pace = pace
            self.isAdaptive = isAdaptive
            self.hedging = hedging
            self.resendsTransparently = resendsTransparently
            self.attemptNumber = attemptNumber
        }

        /// Why no client can work by them, as a sentence; nil if one can.
        public var problem: String? {
            if maxAttempts < 1 { return "a call has at least one attempt" }
            if maxWait < .zero { return "the longest wait is not below zero" }
            if let deadline, deadline < .zero { return "a deadline is not below zero" }
            if let deadline, let attemptTimeout, attemptTimeout > deadline, deadline > .zero {
                return "an attempt cannot take longer than the call that it belongs to"
            }
            if let problem = timeout.problem(among: []) { return problem }
            if let pace, !(pace.perSecond > 0) || pace.burst < 1 {
                return "a rate is above 0, and its burst at least 1"
            }
            if let limit, limit.queue < 0 { return "a line has no negative length" }
            if let breaker, case .time(let length, _) = breaker.window, let attemptTimeout, length < attemptTimeout * 2
            {
                return "a breaker's window of time has to hold two attempts at least"
            }
            return budget.problem ?? hedging?.problem ?? breaker?.problem ?? limit?.algorithm.problem
        }
    }
}

extension RecoveringClient.Settings {
    /// What holds attempts back by the settings: objects with a memory of their own, which can be looked at.
    package struct Admissions: Sendable {
        package let breaker: Recovery.CircuitBreaker?
        package let limit: Recovery.ConcurrencyLimit?
        package let pacing: Recovery.Pacing?
        package let adaptive: Recovery.AdaptiveRate?

        /// All of them, in the order in which they are asked: whoever refuses first, whoever has it wait last.
        var all: [any Admission] {
            let all: [(any Admission)?] = [breaker, pacing, adaptive, limit]
            return all.compactMap { $0 }
        }
    }

    package func admissions() -> Admissions {
        let breaker = (breaker ?? (breakerOverride == nil ? nil : .init())).map {
            Recovery.CircuitBreaker($0, isShared: isBreakerShared)
        }
        breaker?.override = breakerOverride
        return Admissions(
            breaker: breaker,
            limit: limit.map { Recovery.ConcurrencyLimit($0.algorithm, queue: $0.queue) },
            pacing: pace.map { Recovery.Pacing(perSecond: $0.perSecond, burst: $0.burst) },
            adaptive: isAdaptive ? Recovery.AdaptiveRate() : nil
        )
    }

    /// What a program has beside the settings: asked before what is theirs.
    package struct Own: Sendable {
        package var admissions: [any Admission] = []
        package var policies: [any RecoveryPolicy] = []

        package init(admissions: [any Admission] = [], policies: [any RecoveryPolicy] = []) {
            (self.admissions, self.policies) = (admissions, policies)
        }
    }

    /// The engine.
    package func recovery(_ admissions: Admissions, beside own: Own = Own()) -> Recovery {
        let lockouts = longestLockout.map { [LockoutWait(atMost: $0) as any RecoveryPolicy] } ?? []
        let limits = RateLimitBackoff(backoff: throttledBackoff ?? backoff)
        let policies = own.policies + [limits] + lockouts + [TransientRetry(backoff: backoff)]
        return Recovery(
            maxAttempts: maxAttempts,
            maxWait: maxWait,
            budget: budget,
            hedging: hedging,
            resendsTransparently: resendsTransparently,
            admissions: own.admissions + admissions.all,
            policies: { policies }
        )
    }

    package func layers(_ recovery: Recovery) -> [any ClientLayer] {
        let number = attemptNumber.map {
            RecoveringClient.AttemptNumber($0, maxAttempts: maxAttempts) as any ClientLayer
        }
        let outer: [any ClientLayer] = deadline.map { [Deadline($0)] } ?? []
        return outer + [recovery, timeout] + [number].compactMap(\.self)
    }

    fileprivate var timeout: AttemptTimeout {
        AttemptTimeout(attemptTimeout ?? .longest, idle: idleTimeout)
    }

    /// The layers of a client, the outermost first; each time with a fresh memory.
    ///
    /// ```swift
    /// let client = RecoveringClient(transport: transport) {
    ///     settings.layers { SessionRenewal(tokens) }
    ///     Authorization(tokens, audience: [api])
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - own: What else holds attempts back, asked before what the settings have. Default: nothing.
    ///   - policies: What else is done about failures, asked before the settings' own. Default: nothing.
    public func layers(
        admissions own: [any Admission] = [],
        @Recovery.PolicyBuilder policies: () -> [any RecoveryPolicy] = { [] }
    ) -> [any ClientLayer] {
        layers(recovery(admissions(), beside: Own(admissions: own, policies: policies())))
    }
}
