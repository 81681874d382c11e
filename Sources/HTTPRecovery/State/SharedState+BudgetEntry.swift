extension SharedState {
    /// What is booked on a retry budget in one step, in thousandths of a resend.
    ///
    /// Deposits are added first, up to the limit; then the withdrawal is granted if the balance covers it.
    public struct BudgetEntry: Sendable, Hashable {
        /// Whose budget: the origin.
        public var key: String
        /// What calls have added since the last entry; at least 0.
        public var deposit: Int
        /// What is asked for; 0 books the deposit alone.
        public var withdrawal: Int
        /// The most that deposits can fill the budget up to.
        public var limit: Int
        /// What a budget holds that the store does not know yet.
        public var initial: Int

        /// How long a budget is remembered that nobody uses.
        public static let lifetime: Duration = .seconds(3600)

        /// Creates an entry; negative amounts count as 0.
        public init(key: String, deposit: Int = 0, withdrawal: Int = 0, limit: Int, initial: Int) {
            self.key = key
            self.deposit = max(0, deposit)
            self.withdrawal = max(0, withdrawal)
            self.limit = max(0, limit)
            self.initial = max(0, initial)
        }

        /// What the entry makes of a balance: the rule that every store applies.
        ///
        /// Negative amounts count as 0, and sums end at the greatest number.
        ///
        /// - Parameter balance: The balance that is stored; nil if none is.
        public func applied(to balance: Int?) -> SharedState.BudgetBalance {
            let before = max(0, balance ?? initial)
            let filled = min(before.saturatingAdding(max(0, deposit)), max(before, limit))
            let withdrawal = max(0, withdrawal)
            guard filled >= withdrawal else { return SharedState.BudgetBalance(isGranted: false, balance: filled) }
            return SharedState.BudgetBalance(isGranted: true, balance: filled - withdrawal)
        }
    }
}

extension SharedState {
    /// How a retry budget stands after an entry.
    public struct BudgetBalance: Sendable, Hashable {
        /// Whether the withdrawal was granted; true if none was asked for.
        public var isGranted: Bool
        /// The balance now, in thousandths of a resend.
        public var balance: Int

        /// Creates a balance.
        public init(isGranted: Bool, balance: Int) {
            self.isGranted = isGranted
            self.balance = balance
        }
    }
}
