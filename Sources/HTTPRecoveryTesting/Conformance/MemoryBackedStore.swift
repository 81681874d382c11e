package import HTTPRecovery

/// A store for tests that behaves as a memory does but for what it is made to show: each question goes through one function.
package protocol MemoryBackedStore: RecoveryStore {
    /// Asks the memory, unless something else is to happen.
    func asked<Value>(_ question: (InMemoryRecoveryStore) async -> Value) async throws -> Value
}

extension MemoryBackedStore {
    package func closedGate(
        among keys: [SharedState.Gate.Key],
        at now: Timestamp
    ) async throws -> SharedState.Gate? {
        try await asked { await $0.closedGate(among: keys, at: now) }
    }

    package func close(_ gate: SharedState.Gate, at now: Timestamp) async throws {
        try await asked { await $0.close(gate, at: now) }
    }

    package func open(_ key: SharedState.Gate.Key) async throws { try await asked { await $0.open(key) } }

    package func joinQueue(at key: SharedState.Gate.Key) async throws -> Int {
        try await asked { await $0.joinQueue(at: key) }
    }

    package func acquireLease(
        _ name: String,
        for duration: Duration,
        at now: Timestamp
    ) async throws -> SharedState.Lease? {
        try await asked { await $0.acquireLease(name, for: duration, at: now) }
    }

    package func extendLease(
        _ lease: SharedState.Lease,
        for duration: Duration,
        at now: Timestamp
    ) async throws -> Bool {
        try await asked { await $0.extendLease(lease, for: duration, at: now) }
    }

    package func releaseLease(_ lease: SharedState.Lease) async throws {
        try await asked { await $0.releaseLease(lease) }
    }

    package func settle(
        _ entry: SharedState.BudgetEntry,
        at now: Timestamp
    ) async throws -> SharedState.BudgetBalance {
        try await asked { await $0.settle(entry, at: now) }
    }

    package func record(_ key: String) async throws -> SharedState.Record? {
        try await asked { await $0.record(key) }
    }

    package func replaceRecord(
        _ key: String,
        version: UInt64?,
        with bytes: [UInt8],
        lasting lifetime: Duration?,
        at now: Timestamp
    ) async throws -> SharedState.Record? {
        try await asked { await $0.replaceRecord(key, version: version, with: bytes, lasting: lifetime, at: now) }
    }
}
