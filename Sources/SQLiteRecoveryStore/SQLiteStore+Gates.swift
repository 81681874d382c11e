#if SQLite
internal import GRDB
public import HTTPRecovery

extension SQLiteStore {
    /// A row of the table.
    private struct StoredGate {
        var span: StoredSpan
        var isIndefinite: Bool
        var queued: Int
        var payload: String

        /// nil if the row holds something else than a gate: then there is none.
        init?(_ row: Row) {
            guard let span = StoredSpan(row, at: 0), let indefinite = row.integer(4), let queued = row.integer(5),
                let payload = row.bytes(6)
            else { return nil }
            self.span = span
            self.isIndefinite = indefinite != 0
            self.queued = Int(clamping: max(0, queued))
            self.payload = String(decoding: payload, as: UTF8.self)
        }
    }

    /// How long rows stay after their time: another process may still see an earlier one.
    private static var purgeDelay: Duration { .seconds(3600) }

    /// Of the closed gates among the keys, the one that opens last; nil when all are open.
    public func closedGate(among keys: [SharedState.Gate.Key], at now: Timestamp) async throws -> SharedState.Gate? {
        let (gate, adrift) = try await connection.read { [self] db -> (SharedState.Gate?, [SharedState.Gate.Key]) in
            var latest: (left: Int64, gate: SharedState.Gate)?
            var adrift: [SharedState.Gate.Key] = []
            for key in keys {
                guard let stored = try self.gate(key, in: db) else { continue }
                if stored.span.isAdrift(at: now, clock: clock) { adrift.append(key) }
                let left = stored.span.left(at: now, clock: clock)
                guard left > 0 else { continue }
                let end = now.advanced(by: .microseconds(left))
                let gate = SharedState.Gate(
                    key: key,
                    payload: stored.payload,
                    opensAt: stored.isIndefinite ? nil : end,
                    forgottenAt: stored.isIndefinite ? end : nil
                )
                let rank = stored.isIndefinite ? Int64.max : left
                if latest.map({ $0.left < rank }) ?? true { latest = (rank, gate) }
            }
            return (latest?.gate, adrift)
        }
        if !adrift.isEmpty { try await restart(adrift, at: now) }
        return gate
    }

    /// Lets spans begin anew whose beginning lies in the future, since a run of the machine that is over.
    private func restart(_ keys: [SharedState.Gate.Key], at now: Timestamp) async throws {
        try await connection.write(.process) { [self] db in
            for key in keys {
                guard let stored = try gate(key, in: db), stored.span.isAdrift(at: now, clock: clock) else { continue }
                let span = stored.span.restarted(at: now, clock: clock)
                try db.execute(
                    sql: """
                        UPDATE gate SET ends_at = ?, set_at = ?, boot = ?, boot_at = ? WHERE namespace = ? AND key = ?
                        """,
                    arguments: StatementArguments(span.columns + [data(namespace), data(key)])
                )
            }
        }
    }

    /// Closes a gate; one that is closed already stays closed until the later of the two times.
    ///
    /// A gate that no time opens is forgotten after ``indefiniteGateLifetime``.
    public func close(_ gate: SharedState.Gate, at now: Timestamp) async throws {
        let payload = Array(gate.payload.description.utf8)
        try await connection.write(.process) { [self] db in
            let present = try self.gate(gate.key, in: db)
            var left = present?.span.left(at: now, clock: clock) ?? 0
            let isIndefinite = gate.opensAt == nil
            var duration = gate.opensAt?.elapsed(since: now) ?? Self.indefiniteGateLifetime
            var queued = 0
            if let present, left > 0 {
                if present.isIndefinite {
                    guard isIndefinite else { return }
                    // The same, said again: it is remembered for longer.
                    queued = present.queued
                } else if !isIndefinite, duration.microseconds <= left {
                    return
                }
            }
            guard duration > .zero else { return }
            if isIndefinite, left > duration.microseconds {
                duration = .microseconds(left)
                left = 0
            }
            try makeRoom(for: gate.key, isPresent: present != nil, at: now, in: db)
            let span = StoredSpan(of: duration, from: now, clock: clock)
            let values: [any DatabaseValueConvertible] = [isIndefinite ? 1 : 0, queued, data(payload)]
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO gate
                        (namespace, key, ends_at, set_at, boot, boot_at, indefinite, queued, payload)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: StatementArguments([data(namespace), data(gate.key)] + span.columns + values)
            )
        }
    }

    /// Removes what is over for long, and beyond the limit those that open first.
    private func makeRoom(for key: SharedState.Gate.Key, isPresent: Bool, at now: Timestamp, in db: Database) throws {
        let past = now.sinceEpoch.saturatingSubtracting(Self.purgeDelay).microseconds
        try db.execute(sql: "DELETE FROM gate WHERE namespace = ? AND ends_at < ?", arguments: [data(namespace), past])
        if isPresent { return }
        let count = try Int.fetchOne(
            db,
            sql: "SELECT count(*) FROM gate WHERE namespace = ?",
            arguments: [data(namespace)]
        )
        guard let count, count >= gateLimit else { return }
        try db.execute(
            sql: """
                DELETE FROM gate WHERE namespace = ?1 AND key IN
                    (SELECT key FROM gate WHERE namespace = ?1 ORDER BY indefinite, ends_at LIMIT ?2)
                """,
            arguments: [data(namespace), count - gateLimit + 1]
        )
    }

    /// Opens a gate before its time.
    public func open(_ key: SharedState.Gate.Key) async throws {
        try await connection.write(.process) { [self] db in
            try db.execute(
                sql: "DELETE FROM gate WHERE namespace = ? AND key = ?",
                arguments: [data(namespace), data(key)]
            )
        }
    }

    /// Counts one more caller that waits at the gate and returns how many were counted before it since it closed.
    public func joinQueue(at key: SharedState.Gate.Key) async throws -> Int {
        try await connection.write(.process) { [self] db in
            guard let stored = try gate(key, in: db) else { return 0 }
            let next = Int64(clamping: stored.queued).saturatingAdding(1)
            try db.execute(
                sql: "UPDATE gate SET queued = ? WHERE namespace = ? AND key = ?",
                arguments: [next, data(namespace), data(key)]
            )
            return stored.queued
        }
    }

    private func gate(_ key: SharedState.Gate.Key, in db: Database) throws -> StoredGate? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT ends_at, set_at, boot, boot_at, indefinite, queued, payload FROM gate
                WHERE namespace = ? AND key = ?
                """
        )
        return try Row.fetchOne(statement, arguments: [data(namespace), data(key)]).flatMap(StoredGate.init)
    }

    private func data(_ key: SharedState.Gate.Key) -> DatabaseValue {
        data(Array(key.stableText(salt: salt).utf8))
    }
}
#endif
