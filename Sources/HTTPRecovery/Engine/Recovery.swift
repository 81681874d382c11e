public import HTTPTypes

/// Recovers from failures: asks its policies what to do and does it, within limits that hold for all of them.
///
/// This is the one place that waits and sends again. Before each attempt it looks whether a gate is closed for the
/// request (a rate limit, a lockout), after each failure it asks the policies in order. Whatever they decide, a request
/// is never resent against `ResendRule`, past the caller's deadline, beyond the attempts, or on an empty budget.
public struct Recovery: ClientLayer {
    /// The engine.
    public var place: CallContext.LayerPlace { .recovery }

    /// How many attempts, who is asked before each, and who decides about failures, in order.
    public var summary: String {
        let asked = all.map { "\(type(of: $0))" }.joined(separator: ", ")
        let policies = rules.policies.map { "\(type(of: $0))" }.joined(separator: ", ")
        let hedges = hedging.map { ", \($0.policy.maxAttempts) at the same time" } ?? ""
        return "Recovery \(rules.maxAttempts) attempts\(hedges), waits to \(rules.maxWait) "
            + "[admissions: \(asked); policies: \(policies)]"
    }

    /// Why its hedging or one of its admissions cannot work as it was made, as a sentence; nil if all can.
    public func problem(among layers: [any ClientLayer]) -> String? {
        if let problem = hedging?.policy.problem ?? all.lazy.compactMap(\.problem).first { return problem }
        guard hedging != nil, let engine = layers.firstIndex(where: { $0.place == .recovery }),
            let layer = layers[engine...].first(where: { !$0.bearsHedges })
        else { return nil }
        return
            "\(type(of: layer)) stands inside Recovery, whose hedges would be in it at the same time: write it above."
    }

    let rules: RecoveryRules
    let hedging: HedgeMemory?
    /// Those that are asked before the call's own.
    let budgets: RetryBudgets
    /// Those that are asked behind them.
    private let admissions: [any Admission]
    /// All of them, in the order in which they are asked.
    let all: [any Admission]

    /// Creates the engine.
    ///
    /// - Parameters:
    ///   - maxAttempts: The most attempts of a call, the first included; at least 1. Default: 3. The one free replay
    ///     after a repair counts as none.
    ///   - maxWait: The longest single wait, whatever the policies say; callers who wait for the same gate leave it one
    ///     after the other, at most 6 s later. Default: 2 minutes.
    ///   - budget: How much resends may add to the load of an origin.
    ///   - hedging: Whether requests are sent again before their answer has come. Default: they are not.
    ///   - resendsTransparently: Whether the first attempt of a call that the server has provably not processed
    ///     (``TransportError/Certainty/notProcessed``) is made again at once, and counts for nothing (gRPC proposal A6).
    ///     Default: it counts as any other.
    ///   - admissions: What else holds attempts back, the first asked first: a rate, a concurrency limit. Default: none.
    ///   - policies: What to do about failures, the first asked first. Default: ``defaultPolicies``.
    public init(
        maxAttempts: Int = 3,
        maxWait: Duration = .seconds(120),
        budget: RetryBudget.Model = .ratio(),
        hedging: Hedging? = nil,
        resendsTransparently: Bool = false,
        admissions: [any Admission] = [],
        @Recovery.PolicyBuilder policies: () -> [any RecoveryPolicy] = { Recovery.defaultPolicies }
    ) {
        let policies = policies()
        self.rules = RecoveryRules(
            policies: policies,
            maxAttempts: max(1, maxAttempts),
            maxWait: max(.zero, maxWait),
            resendsTransparently: resendsTransparently
        )
        self.hedging = hedging.map { HedgeMemory($0) }
        self.budgets = RetryBudgets(budget)
        // Who takes advice as the AWS SDKs do goes by the own delay, and holds nobody else to it.
        let takesAdvice = policies.contains { policy in
            ((policy as? RateLimitBackoff)?.backoff ?? (policy as? TransientRetry)?.backoff)?.adviceSlack != nil
        }
        self.admissions = admissions + [Gates(isAdviceBinding: !takesAdvice)]
        self.all = [budgets] + self.admissions
    }

    private init(rules: RecoveryRules, hedging: HedgeMemory?, budgets: RetryBudgets, admissions: [any Admission]) {
        self.rules = rules
        self.hedging = hedging
        self.budgets = budgets
        self.admissions = admissions
        self.all = [budgets] + admissions
    }

    /// The engine with the budgets of another one, in its own sizes, and what that knows of latencies: as far as both go by the
    /// same model and the same hedging.
    func goingOn(from other: Recovery, in runtime: Runtime) -> Recovery {
        let keepsBudgets = other.resizeBudget(to: budgets.present, in: runtime)
        return Recovery(
            rules: rules,
            hedging: hedging?.policy == other.hedging?.policy ? other.hedging : hedging,
            budgets: keepsBudgets ? other.budgets : budgets,
            admissions: admissions
        )
    }

    /// What the budget of a request's origin has left, in resends or in the model's tokens; infinite if nothing bounds it.
    package func budgetLeft(for request: HTTPRequest, at now: TimeSource.Instant) -> Double {
        budgets.left(for: request, at: now)
    }

    /// Has the budgets of a running client keep to other sizes; what there is of them is kept, within those.
    ///
    /// - Returns: Whether it is the model by which the engine was made: another one takes another engine.
    public func resizeBudget(to model: RetryBudget.Model, in runtime: Runtime) -> Bool {
        budgets.resize(to: model, at: runtime.time.now)
    }

    /// Waiting for rate limits and lockouts, and repeating what failed for a passing reason.
    public static var defaultPolicies: [any RecoveryPolicy] {
        [RateLimitBackoff(), LockoutWait(), TransientRetry()]
    }

    /// Sends the request, and again if that is right.
    public func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        try await CallDriver.send(request, body: body, context: context, next: next, by: self)
    }

    @inline(never)
    func driver(_ request: HTTPRequest, _ context: CallContext) -> CallDriver {
        let (policies, own) = (context.options.policies, context.options.admissions)
        let rules = rules.with(policies: policies, longestWait: context.longestWait)
        let admissions = own.isEmpty ? all : [budgets] + own + admissions
        var driver = CallDriver(rules: rules, admissions: admissions, request, context)
        driver.hedging.memory = hedging
        return driver
    }
}
