#if SQLite
internal import GRDB
public import HTTPRecovery

extension SQLiteStore {
    /// Grants the lease, unless somebody holds it.
    public func acquireLease(_ name: String, for duration: Duration, at now: Timestamp) async throws -> SharedState
        .Lease?
    {
        // To the disk: after a power cut no fence may be given twice.
        try await connection.write(.power) { [self] db in
            if let present = try lease(name, in: db), present.span.leftToHolder(at: now, clock: clock) > 0 {
                guard present.span.isAdrift(at: now, clock: clock) else { return nil }
                // Its holder has ended with an earlier run of the machine.
            }
            let fence = try nextFence(in: db)
            let span = StoredSpan(of: duration, from: now, clock: clock)
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO lease (namespace, name, ends_at, set_at, boot, boot_at, fence)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: StatementArguments([data(namespace), data(name)] + span.columns + [fence])
            )
            return SharedState.Lease(name: name, fence: UInt64(fence))
        }
    }

    /// Extends a lease that is still held.
    public func extendLease(_ lease: SharedState.Lease, for duration: Duration, at now: Timestamp) async throws -> Bool
    {
        try await connection.write(.process) { [self] db in
            guard let present = try self.lease(lease.name, in: db), present.fence == lease.fence,
                present.span.leftToHolder(at: now, clock: clock) > 0
            else { return false }
            let span = StoredSpan(of: duration, from: now, clock: clock)
            try db.execute(
                sql: "UPDATE lease SET ends_at = ?, set_at = ?, boot = ?, boot_at = ? WHERE namespace = ? AND name = ?",
                arguments: StatementArguments(span.columns + [data(namespace), data(lease.name)])
            )
            return true
        }
    }

    /// Gives a lease back.
    public func releaseLease(_ lease: SharedState.Lease) async throws {
        try await connection.write(.process) { [self] db in
            guard let fence = Int64(exactly: lease.fence) else { return }
            try db.execute(
                sql: "DELETE FROM lease WHERE namespace = ? AND name = ? AND fence = ?",
                arguments: [data(namespace), data(lease.name), fence]
            )
        }
    }

    /// The lease as it is stored; nil if there is none, or something else.
    private func lease(_ name: String, in db: Database) throws -> (span: StoredSpan, fence: UInt64)? {
        let statement = try db.cachedStatement(
            sql: "SELECT ends_at, set_at, boot, boot_at, fence FROM lease WHERE namespace = ? AND name = ?"
        )
        guard let row = try Row.fetchOne(statement, arguments: [data(namespace), data(name)]),
            let span = StoredSpan(row, at: 0), let fence = row.integer(4).flatMap({ UInt64(exactly: $0) })
        else { return nil }
        return (span, fence)
    }

    /// One count for all names, so that a lease that is given back leaves nothing behind.
    ///
    /// It begins with the time, so that it grows even if the file was deleted.
    private func nextFence(in db: Database) throws -> Int64 {
        let row = try Row.fetchOne(db, sql: "SELECT last FROM fence WHERE namespace = ?", arguments: [data(namespace)])
        // If the count is damaged it goes on from the time, too.
        let next = Self.number(after: row?.integer(0) ?? 0)
        try db.execute(
            sql: "INSERT OR REPLACE INTO fence (namespace, last) VALUES (?, ?)",
            arguments: [data(namespace), next]
        )
        return next
    }
}
#endif
