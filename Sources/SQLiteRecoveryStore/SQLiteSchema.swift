#if SQLite
internal import GRDB
import HTTPRecovery

/// The tables, and how they came to be.
///
/// A change is a further step at the end, and only ever adds: tables, or columns that have a default. So a program of an
/// older version goes on with the file, and every statement names its columns.
enum SQLiteSchema {
    /// What marks the file as ours (`PRAGMA application_id`): `HRec`.
    private static let applicationID: Int64 = 0x4852_6563

    /// Names and keys are blobs, since text in SQLite ends at its first zero byte.
    private static let steps = [
        """
        CREATE TABLE gate (
            namespace BLOB NOT NULL, key BLOB NOT NULL,
            ends_at INTEGER NOT NULL, set_at INTEGER NOT NULL, boot TEXT NOT NULL, boot_at INTEGER NOT NULL,
            indefinite INTEGER NOT NULL, queued INTEGER NOT NULL, payload BLOB NOT NULL,
            PRIMARY KEY (namespace, key)
        ) WITHOUT ROWID;
        CREATE INDEX gate_end ON gate (namespace, ends_at);
        CREATE TABLE lease (
            namespace BLOB NOT NULL, name BLOB NOT NULL,
            ends_at INTEGER NOT NULL, set_at INTEGER NOT NULL, boot TEXT NOT NULL, boot_at INTEGER NOT NULL,
            fence INTEGER NOT NULL,
            PRIMARY KEY (namespace, name)
        ) WITHOUT ROWID;
        CREATE TABLE fence (namespace BLOB NOT NULL PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE budget (
            namespace BLOB NOT NULL, key BLOB NOT NULL, balance INTEGER NOT NULL, used_at INTEGER NOT NULL,
            PRIMARY KEY (namespace, key)
        ) WITHOUT ROWID;
        CREATE INDEX budget_use ON budget (namespace, used_at);
        CREATE TABLE record (
            id INTEGER PRIMARY KEY, namespace BLOB NOT NULL, key BLOB NOT NULL,
            version INTEGER NOT NULL, content BLOB NOT NULL,
            UNIQUE (namespace, key)
        );
        """,
        // Microseconds since the epoch; null for good.
        """
        ALTER TABLE record ADD COLUMN ends_at INTEGER;
        CREATE INDEX record_end ON record (namespace, ends_at) WHERE ends_at IS NOT NULL;
        """,
    ]

    /// Throws if a file is no database, or another program's, which is not changed.
    ///
    /// What else may be wrong with it is found when it is opened to be written. Nor is this a connection that can only read:
    /// such a one would leave a log behind, and could not take back what a program has left that has crashed.
    static func examine(_ path: String, _ configuration: Configuration) throws {
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            try queue.read { db in _ = try version(db, path: path) }
        } catch let error as DatabaseError where ![.SQLITE_BUSY, .SQLITE_NOTADB].contains(error.resultCode) {
        }
    }

    /// How many of the steps have been made.
    private static func version(_ db: Database, path: String) throws -> Int64 {
        let present = try Int64.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        let owner = try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let objects = try Int64.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        guard owner == applicationID || (owner == 0 && objects == 0 && present == 0) else {
            throw SharedState.StoreError("\(path) is the database of another program; name another file")
        }
        return present
    }

    /// Makes what is missing, in one transaction: of several processes that begin at once, one does it.
    static func prepare(_ db: Database, path: String) throws {
        if try isReady(db) { return }
        try db.inTransaction(.immediate) {
            let present = try version(db, path: path)
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            for (index, step) in steps.enumerated() where index >= present { try db.execute(sql: step) }
            try db.execute(sql: "PRAGMA user_version = \(max(present, Int64(steps.count)))")
            return .commit
        }
    }

    private static func isReady(_ db: Database) throws -> Bool {
        guard try Int64.fetchOne(db, sql: "PRAGMA application_id") == applicationID else { return false }
        return try Int64.fetchOne(db, sql: "PRAGMA user_version") ?? 0 >= steps.count
    }
}
#endif
