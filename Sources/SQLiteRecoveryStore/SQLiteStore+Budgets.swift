#if SQLite
internal import GRDB
public import HTTPRecovery

extension SQLiteStore {
    /// Books deposits and a withdrawal of a retry budget in one step.
    public func settle(_ entry: SharedState.BudgetEntry, at now: Timestamp) async throws -> SharedState.BudgetBalance {
        try await connection.write(.process) { [self] db in
            let key = data(entry.key)
            let past = now.sinceEpoch.saturatingSubtracting(SharedState.BudgetEntry.lifetime).microseconds
            try db.execute(
                sql: "DELETE FROM budget WHERE namespace = ? AND used_at < ?",
                arguments: [data(namespace), past]
            )
            let statement = try db.cachedStatement(sql: "SELECT balance FROM budget WHERE namespace = ? AND key = ?")
            let row = try Row.fetchOne(statement, arguments: [data(namespace), key])
            let balance = row?.integer(0).flatMap { $0 < 0 ? nil : Int(clamping: $0) }
            let result = entry.applied(to: balance)
            try db.execute(
                sql: "INSERT OR REPLACE INTO budget (namespace, key, balance, used_at) VALUES (?, ?, ?, ?)",
                arguments: [data(namespace), key, result.balance, now.sinceEpoch.microseconds]
            )
            return result
        }
    }
}
#endif
