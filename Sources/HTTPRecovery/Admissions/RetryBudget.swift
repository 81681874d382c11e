import Synchronization

/// Bounds how much retries add to the load of an origin, whatever the number of callers.
///
/// Every call deposits a fraction of an attempt, every resend withdraws one, and a resend that succeeds gives it back.
/// So while nothing succeeds, attempts stay at or below `calls * (1 + ratio) + burst`; if resends work, as after a
/// rate limit that was waited out, they do not run dry.
public final class RetryBudget: Sendable {
    /// The sizes of a budget.
    public struct Configuration: Sendable, Hashable {
        /// The resends that each call adds, 0 to 1; default: 0.2.
        ///
        /// A value out of range is clamped, NaN is 0.
        public var ratio: Double {
            get { boundedRatio }
            set { boundedRatio = newValue.isNaN ? 0 : min(max(newValue, 0), 1) }
        }

        /// The resends that are there before any call, and the most that can be saved up, 0 to a million; default: 10.
        ///
        /// A value out of range is clamped.
        public var burst: Int {
            get { boundedBurst }
            set { boundedBurst = min(max(newValue, 0), Self.largestBurst) }
        }

        private var boundedRatio = 0.0
        private var boundedBurst = 0

        fileprivate static let largestBurst = 1_000_000

        /// Creates sizes; values out of range are clamped.
        public init(ratio: Double = 0.2, burst: Int = 10) {
            self.ratio = ratio
            self.burst = burst
        }
    }

    /// Amounts are in thousandths of a resend, so that a thousand deposits of 0.001 make exactly one.
    private static let unit = 1000

    private struct Account {
        /// What there is; for a budget that is shared, as far as this process knows.
        var balance: Int
        /// What was added since the shared budget was told last.
        var unbooked = 0
        /// What a call adds, and what there is before any.
        var deposit: Int
        var initial: Int

        /// The most that can be saved up.
        var limit: Int { max(initial, unit) }

        init(_ configuration: Configuration) {
            deposit = Int((configuration.ratio * Double(unit)).rounded())
            initial = configuration.burst * unit
            balance = initial
        }
    }

    private let key: String
    private let account: Locked<Account>
    /// Whether there is no room for more, as mostly: then nothing has to be locked.
    private let isFull: Atomic<Bool>

    /// Creates a budget that holds its burst.
    ///
    /// - Parameters:
    ///   - configuration: The sizes.
    ///   - key: Under which name the budget is shared, if it is: the origin.
    public init(_ configuration: Configuration = Configuration(), key: String = "") {
        self.key = key
        self.account = Locked(Account(configuration))
        self.isFull = Atomic(false)
    }

    /// Whether a resend could be paid for now, as far as this process knows.
    public var hasBalance: Bool {
        account.withLock { $0.balance >= Self.unit }
    }

    /// How many resends could be paid for now, as far as this process knows.
    public var left: Double {
        account.withLock { Double($0.balance) / Double(Self.unit) }
    }

    /// Begins with so many resends, within what it can hold.
    func begin(with left: Double) {
        let left = left.isNaN ? 0 : min(max(left, 0), Double(Configuration.largestBurst))
        change { $0.balance = min(Int((left * Double(Self.unit)).rounded()), $0.limit) }
    }

    /// Keeps to other sizes from now on; what there is is kept, within those.
    func resize(to configuration: Configuration) {
        change { account in
            let sizes = Account(configuration)
            (account.deposit, account.initial) = (sizes.deposit, sizes.initial)
            account.balance = min(account.balance, account.limit)
            account.unbooked = min(account.unbooked, account.limit)
        }
    }

    /// Adds what a new call brings.
    public func recordCall() {
        add(nil)
    }

    /// Pays for a resend; false when the budget is used up.
    public func withdraw() -> Bool {
        change { account in
            guard account.balance >= Self.unit else { return false }
            account.balance -= Self.unit
            return true
        }
    }

    /// Pays for a resend from the budget of all who share the state; false when that is used up.
    ///
    /// Only a resend asks the store; what calls add is booked with it.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled; then nothing is paid, or it is given back.
    func withdraw(sharedBy state: SharedState) async throws -> Bool {
        try Task.checkCancellation()
        if state.isLocal { return withdraw() }
        let entry = change { account in
            defer { account.unbooked = 0 }
            return SharedState.BudgetEntry(
                key: key,
                deposit: account.unbooked,
                withdrawal: Self.unit,
                limit: account.limit,
                initial: account.initial
            )
        }
        let flight = Flight<Bool>()
        // Not a child of the caller's task: what the store books while the caller leaves has to be known.
        Task {
            let answer = await state.settle(entry)
            change { $0.balance = Self.bounded(answer.balance).saturatingAdding($0.unbooked) }
            flight.land(.success(answer.isGranted))
        }
        do {
            return try await flight.value
        } catch {
            Task {
                if try await flight.value { refund() }
            }
            throw error
        }
    }

    /// Gives back what a resend cost, because it succeeded or was not made.
    public func refund() {
        add(Self.unit)
    }

    /// - Parameter amount: What is added; nil is what a call brings.
    private func add(_ amount: Int?) {
        if isFull.load(ordering: .acquiring) { return }
        change { account in
            let (amount, limit) = (amount ?? account.deposit, account.limit)
            account.balance = min(account.balance.saturatingAdding(amount), max(account.balance, limit))
            account.unbooked = min(account.unbooked.saturatingAdding(amount), limit)
        }
    }

    private func change<Result>(_ body: (inout Account) -> Result) -> Result {
        account.withLock { account in
            defer { isFull.store(min(account.balance, account.unbooked) >= account.limit, ordering: .releasing) }
            return body(&account)
        }
    }

    /// What a store tells, within what any budget can hold.
    private static func bounded(_ balance: Int) -> Int {
        min(max(balance, 0), Configuration.largestBurst * unit)
    }
}
