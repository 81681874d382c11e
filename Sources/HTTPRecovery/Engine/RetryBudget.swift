/// Bounds how much retries add to the load of an origin, whatever the number of callers.
///
/// Every call deposits a fraction of an attempt, every resend withdraws one, and a resend that succeeds gives it back.
/// So while nothing succeeds, attempts stay at or below `calls * (1 + ratio) + burst`; where resends work, as after a
/// rate limit that was waited out, they do not run dry.
public final class RetryBudget: Sendable {
    /// The sizes of a budget.
    public struct Configuration: Sendable, Hashable {
        /// The resends that each call adds, 0 to 1; default: 0.2.
        public var ratio: Double
        /// The resends that are there before any call, and the most that can be saved up; at least 0; default: 10.
        public var burst: Int

        /// Creates sizes; values out of range are clamped.
        public init(ratio: Double = 0.2, burst: Int = 10) {
            self.ratio = ratio.isNaN ? 0 : min(max(ratio, 0), 1)
            self.burst = min(max(burst, 0), 1_000_000)
        }
    }

    private static let unit = 1000

    private let deposit: Int
    private let limit: Int
    /// In thousandths, so that a thousand deposits of 0.001 make exactly one resend.
    private let balance: Locked<Int>

    /// Creates a budget that holds its burst.
    public init(_ configuration: Configuration = Configuration()) {
        self.deposit = Int((configuration.ratio * Double(Self.unit)).rounded())
        self.limit = max(configuration.burst, 1) * Self.unit
        self.balance = Locked(configuration.burst * Self.unit)
    }

    /// Whether a resend could be paid for now.
    public var hasBalance: Bool {
        balance.withLock { $0 >= Self.unit }
    }

    /// Adds what a new call brings.
    public func recordCall() {
        balance.withLock { $0 = min($0 + deposit, max($0, limit)) }
    }

    /// Pays for a resend; false when the budget is used up.
    public func withdraw() -> Bool {
        balance.withLock { balance in
            guard balance >= Self.unit else { return false }
            balance -= Self.unit
            return true
        }
    }

    /// Gives back what a resend cost, because it succeeded.
    public func refund() {
        balance.withLock { $0 = min($0 + Self.unit, max($0, limit)) }
    }
}

/// The budgets of a client, one an origin.
final class RetryBudgets: Sendable {
    private let configuration: RetryBudget.Configuration
    private let budgets = Locked<[Origin: RetryBudget]>([:])
    private static let limit = 1024

    init(_ configuration: RetryBudget.Configuration) {
        self.configuration = configuration
    }

    subscript(origin: Origin) -> RetryBudget {
        budgets.withLock { budgets in
            if let budget = budgets[origin] { return budget }
            // Bounded against endless hosts; a forgotten origin starts with a fresh burst.
            if budgets.count >= Self.limit, let any = budgets.keys.first { budgets[any] = nil }
            let budget = RetryBudget(configuration)
            budgets[origin] = budget
            return budget
        }
    }
}
