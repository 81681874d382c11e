#if SQLite
import GRDB
import HTTPRecovery
import HTTPRecoveryTesting
import ProcessSupport
import SQLiteRecoveryStore
import Testing

@Suite(.serialized) struct SQLiteStoreConformanceTests {
    private static let directory = TemporaryDirectory()
    private static let path = directory.file("state/store.db")

    /// A machine without a boot clock: the checks' time is not the machine's, and leases go by it.
    private static let standstill = BootClock { BootClock.Value(boot: "", microseconds: 1_000_000) }

    private static let subject = StoreUnderTest(clock: .callers) { namespace in
        // The checks' time is not the machine's.
        SQLiteStore(path: path, namespace: namespace, lockTimeout: .seconds(600), clock: standstill)
    } corrupt: { namespace in
        try corrupt(namespace, with: garbage.randomElement() ?? "NULL")
    }

    private static let garbage = ["'garbage'", "X'FFFE00'", "-9223372036854775808", "9223372036854775807", "1.5", "''"]

    private static let columns = [
        "gate": ["ends_at", "set_at", "boot", "boot_at", "indefinite", "queued", "payload"],
        "lease": ["ends_at", "set_at", "boot", "boot_at", "fence"], "fence": ["last"],
        "budget": ["balance", "used_at"], "record": ["version", "content"],
    ]

    private static func corrupt(_ namespace: String, with value: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.write { db in
            for (table, columns) in columns {
                let values = columns.map { "\($0) = \(value)" }.joined(separator: ", ")
                try db.execute(
                    sql: "UPDATE \(table) SET \(values) WHERE namespace = CAST(? AS BLOB)",
                    arguments: [namespace]
                )
            }
        }
    }

    @Test(arguments: RecoveryStoreConformance.checks(for: subject))
    func theFileConforms(_ check: RecoveryStoreConformance.Check) async throws {
        try await check(Self.subject)
    }

    @Test(arguments: garbage)
    func anyGarbageIsAnErrorOrNothing(_ value: String) async throws {
        let subject = StoreUnderTest(clock: .callers) { namespace in
            SQLiteStore(path: Self.path, namespace: namespace, lockTimeout: .seconds(600), clock: Self.standstill)
        } corrupt: { namespace in
            try Self.corrupt(namespace, with: value)
        }
        for check in RecoveryStoreConformance.checks where check.ability == .isCorruptible { try await check(subject) }
    }
}
#endif
