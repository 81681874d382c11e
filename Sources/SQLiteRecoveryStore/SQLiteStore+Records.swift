#if SQLite
internal import GRDB
public import HTTPRecovery

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SQLiteStore {
    /// The record under a key; nil if there is none.
    public func record(_ key: String) async throws -> SharedState.Record? {
        try await connection.read { [self] db in try record(key, in: db) }
    }

    /// Stores a record, if the store still holds the version; it is on the disk when this returns.
    ///
    /// The version begins with the time in microseconds: it grows even when the file was deleted, as long as the clock
    /// does not go back at the same time.
    ///
    /// A record whose time is over is dropped when the next one that does not last is stored.
    public func replaceRecord(
        _ key: String,
        version: UInt64?,
        with bytes: [UInt8],
        lasting lifetime: Duration?,
        at now: Timestamp
    ) async throws -> SharedState.Record? {
        // To the disk: a refresh token that was replaced at the server cannot be had again.
        try await connection.write(.power) { [self] db in
            let present = try record(key, in: db)
            guard present?.version == version else { return nil }
            if let present, present.version >= Self.mostNumber { throw damage }
            let number = Self.number(after: Int64(clamping: present?.version ?? 0))
            let next = SharedState.Record(bytes: bytes, version: UInt64(number))
            let statement =
                present == nil
                ? "INSERT INTO record (version, content, ends_at, namespace, key) VALUES (?, ?, ?, ?, ?)"
                : "UPDATE record SET version = ?, content = ?, ends_at = ? WHERE namespace = ? AND key = ?"
            let end = lifetime.map { now.advanced(by: $0).sinceEpoch.microseconds }
            try db.execute(sql: statement, arguments: [number, data(bytes), end, data(namespace), data(key)])
            if lifetime != nil {
                try db.execute(
                    sql: "DELETE FROM record WHERE namespace = ? AND ends_at <= ?",
                    arguments: [data(namespace), now.sinceEpoch.microseconds]
                )
            }
            return next
        }
    }

    private func record(_ key: String, in db: Database) throws -> SharedState.Record? {
        let statement = try db.cachedStatement(
            sql: "SELECT version, content FROM record WHERE namespace = ? AND key = ?"
        )
        guard let row = try Row.fetchOne(statement, arguments: [data(namespace), data(key)]) else { return nil }
        guard let version = row.integer(0), version > 0, let content = row.bytes(1) else { throw damage }
        return SharedState.Record(bytes: content, version: UInt64(version))
    }

    /// A version or a fence that comes after the last one, and after all that a lost file may have given.
    static func number(after last: Int64) -> Int64 {
        let time = min(max(1, Timestamp.system().sinceEpoch.microseconds), Self.mostNumber)
        return last < time ? time : min(last, Self.mostNumber - 1) + 1
    }

    /// Far beyond every time, and below the upper half, which the client gives itself.
    private static var mostNumber: Int64 { .max / 4 }

    private var damage: SharedState.StoreError {
        SharedState.StoreError("a record in \(connection.path) is damaged; move the file away, and a new one is made")
    }

    func data(_ text: String) -> DatabaseValue {
        data(Array(text.utf8))
    }

    func data(_ bytes: [UInt8]) -> DatabaseValue {
        Data(bytes).databaseValue
    }
}
#endif
