#if Redis
public import HTTPRecovery

extension RedisStore {
    /// Books deposits and a withdrawal of a retry budget in one step.
    ///
    /// If the answer is lost the entry may have been booked: at worst a withdrawal is spent that nobody uses.
    /// Amounts count up to 2^52.
    public func settle(_ entry: SharedState.BudgetEntry, at now: Timestamp) async throws -> SharedState.BudgetBalance {
        let reply = try await run(
            Scripts.settle,
            on: [keys.budget(entry.key)],
            Digits.text(entry.deposit),
            // More than any balance can be: a bound would grant what must not be granted.
            entry.withdrawal > Digits.most ? Array("inf".utf8) : Digits.text(entry.withdrawal),
            Digits.text(entry.limit),
            Digits.text(entry.initial),
            Digits.text(SharedState.BudgetEntry.lifetime)
        )
        let elements = try reply.elements(2)
        let balance = Int(clamping: try elements[1].number())
        return SharedState.BudgetBalance(isGranted: try elements[0].integer() == 1, balance: balance)
    }
}
#endif
