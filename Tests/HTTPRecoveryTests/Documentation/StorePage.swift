import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

// The store of the page, word for word.

/// Stands for the back end: it does one of these steps at a time.
actor Table {
    var gates: [SharedState.Gate.Key: (gate: SharedState.Gate, queued: Int)] = [:]
    var leases: [String: (fence: UInt64, endsAt: Timestamp)] = [:]
    var budgets: [String: (balance: Int, usedAt: Timestamp)] = [:]
    var records: [String: (record: SharedState.Record, endsAt: Timestamp?)] = [:]
    /// Fences and versions are taken from one count, which never goes back.
    var lastNumber: UInt64 = 0

    func next() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    func step<Value: Sendable>(_ work: @Sendable (isolated Table) -> Value) -> Value { work(self) }
}

/// A store on a table.
struct TableStore: RecoveryStore {
    let table: Table

    var name: String { "table" }

    func closedGate(among keys: [SharedState.Gate.Key], at now: Timestamp) async throws -> SharedState.Gate? {
        await table.step { table in
            let closed = keys.compactMap { table.gates[$0]?.gate }.filter { $0.isClosed(at: now) }
            return closed.max { opensLater($1, than: $0) }
        }
    }

    func close(_ gate: SharedState.Gate, at now: Timestamp) async throws {
        await table.step { table in
            var gate = gate
            if gate.opensAt == nil { gate.forgottenAt = now.advanced(by: SharedState.Gate.indefiniteLifetime) }
            if let present = table.gates[gate.key], present.gate.isClosed(at: now),
                !opensLater(gate, than: present.gate)
            {
                // Said once more: what has no end is remembered from now.
                if gate.opensAt == nil { table.gates[gate.key]?.gate.forgottenAt = gate.forgottenAt }
                return
            }
            table.gates[gate.key] = (gate, queued: 0)
        }
    }

    func open(_ key: SharedState.Gate.Key) async throws {
        await table.step { $0.gates[key] = nil }
    }

    func joinQueue(at key: SharedState.Gate.Key) async throws -> Int {
        await table.step { table in
            guard let before = table.gates[key]?.queued else { return 0 }
            table.gates[key]?.queued += 1
            return before
        }
    }

    func acquireLease(_ name: String, for duration: Duration, at now: Timestamp) async throws -> SharedState.Lease? {
        await table.step { table in
            if let present = table.leases[name], present.endsAt > now { return nil }
            let fence = table.next()
            table.leases[name] = (fence, now.advanced(by: duration))
            return SharedState.Lease(name: name, fence: fence)
        }
    }

    func extendLease(_ lease: SharedState.Lease, for duration: Duration, at now: Timestamp) async throws -> Bool {
        await table.step { table in
            guard let present = table.leases[lease.name], present.fence == lease.fence, present.endsAt > now else {
                return false
            }
            table.leases[lease.name]?.endsAt = now.advanced(by: duration)
            return true
        }
    }

    func releaseLease(_ lease: SharedState.Lease) async throws {
        await table.step { table in
            if table.leases[lease.name]?.fence == lease.fence { table.leases[lease.name] = nil }
        }
    }

    func settle(_ entry: SharedState.BudgetEntry, at now: Timestamp) async throws -> SharedState.BudgetBalance {
        await table.step { table in
            let present = table.budgets[entry.key].flatMap { present in
                now.elapsed(since: present.usedAt) > SharedState.BudgetEntry.lifetime ? nil : present.balance
            }
            let result = entry.applied(to: present)
            table.budgets[entry.key] = (result.balance, now)
            return result
        }
    }

    func record(_ key: String) async throws -> SharedState.Record? {
        await table.step { $0.records[key]?.record }
    }

    func replaceRecord(
        _ key: String,
        version: UInt64?,
        with bytes: [UInt8],
        lasting lifetime: Duration?,
        at now: Timestamp
    ) async throws -> SharedState.Record? {
        await table.step { table in
            // A back end with a clock drops these by itself.
            if lifetime != nil { table.records = table.records.filter { $0.value.endsAt.map { $0 > now } ?? true } }
            guard table.records[key]?.record.version == version else { return nil }
            let record = SharedState.Record(bytes: bytes, version: table.next())
            table.records[key] = (record, lifetime.map { now.advanced(by: $0) })
            return record
        }
    }

    private func opensLater(_ gate: SharedState.Gate, than other: SharedState.Gate) -> Bool {
        guard let end = gate.opensAt, let otherEnd = other.opensAt else { return other.opensAt != nil }
        return end > otherEnd
    }
}

/// The page about stores: its store is one.
@Suite struct StorePage {
    private static let tables = Locked<[String: Table]>([:])

    /// The table of a namespace; of two stores with the same one, each sees what the other writes.
    private static func table(_ namespace: String) -> Table {
        tables.withLock { tables in
            let table = tables[namespace] ?? Table()
            tables[namespace] = table
            return table
        }
    }

    static let mine = StoreUnderTest(clock: .callers, closes: false) { namespace in TableStore(table: table(namespace))
    }

    @Test(arguments: RecoveryStoreConformance.checks(for: mine))
    func conforms(_ check: RecoveryStoreConformance.Check) async throws {
        try await check(Self.mine)
    }

    @Test func theTableNamesEachRequirement() throws {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { directory, _ in directory.deletingLastPathComponent() }
        let path = root.appending(path: "Sources/HTTPRecovery/HTTPRecovery.docc/WriteAStore.md")
        let text = try String(contentsOf: path, encoding: .utf8)
        let protocolFile = root.appending(path: "Sources/HTTPRecovery/State/RecoveryStore.swift")
        let declarations = try String(contentsOf: protocolFile, encoding: .utf8).components(separatedBy: "\n}\n")[0]
        let names = declarations.split(separator: "\n").compactMap { line -> Substring? in
            let words = line.split { $0 == " " || $0 == "(" || $0 == ":" }
            return words.first == "func" || words.first == "var" ? words[1] : nil
        }
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ``RecoveryStore/") }
        #expect(Set(names).count > 12)
        for name in Set(names) { #expect(rows.contains { $0.hasPrefix("| ``RecoveryStore/\(name)") }, "\(name)") }
    }
}
