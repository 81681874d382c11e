#if SQLite
internal import GRDB
public import HTTPRecovery

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SQLiteStore {
    /// The record under a key; nil where there is none.
    public func record(_ key: String) async throws -> StoredRecord? {
        try await connection.read { [self] db in try record(key, in: db) }
    }

    /// Stores a record, if the store still holds the version; it is on the disk when this returns.
    public func replaceRecord(_ key: String, version: UInt64?, with bytes: [UInt8]) async throws -> StoredRecord? {
        // To the disk: a refresh token that was replaced at the server cannot be had again.
        try await connection.write(.power) { [self] db in
            let present = try record(key, in: db)
            guard present?.version == version else { return nil }
            let next = StoredRecord(bytes: bytes, version: (present?.version ?? 0) + 1)
            guard let number = Int64(exactly: next.version) else { throw damage }
            let statement =
                present == nil
                ? "INSERT INTO record (version, content, namespace, key) VALUES (?, ?, ?, ?)"
                : "UPDATE record SET version = ?, content = ? WHERE namespace = ? AND key = ?"
            try db.execute(sql: statement, arguments: [number, data(bytes), data(namespace), data(key)])
            return next
        }
    }

    private func record(_ key: String, in db: Database) throws -> StoredRecord? {
        let statement = try db.cachedStatement(
            sql: "SELECT version, content FROM record WHERE namespace = ? AND key = ?"
        )
        guard let row = try Row.fetchOne(statement, arguments: [data(namespace), data(key)]) else { return nil }
        guard let version = row.integer(0), version > 0, let content = row.bytes(1) else { throw damage }
        return StoredRecord(bytes: content, version: UInt64(version))
    }

    private var damage: StoreError {
        StoreError("a record in \(connection.path) is damaged; move the file away, and a new one is made")
    }

    func data(_ text: String) -> DatabaseValue {
        data(Array(text.utf8))
    }

    func data(_ bytes: [UInt8]) -> DatabaseValue {
        Data(bytes).databaseValue
    }
}
#endif
