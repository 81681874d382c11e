import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// The kit itself: it sees what is wrong, and it serves stores that have a clock of their own.
@Suite struct ConformanceKitTests {
    private static func subject(
        clock: StoreUnderTest.Clock = .callers,
        _ wrap: @escaping @Sendable (InMemoryRecoveryStore) -> any RecoveryStore
    ) -> StoreUnderTest {
        let stores = Locked<[String: InMemoryRecoveryStore]>([:])
        return StoreUnderTest(clock: clock, closes: false) { namespace in
            wrap(
                stores.withLock { stores in
                    let store = stores[namespace] ?? InMemoryRecoveryStore()
                    stores[namespace] = store
                    return store
                }
            )
        }
    }

    private static let ownClock = subject(clock: .own) { OwnClockStore(memory: $0) }

    @Test(arguments: RecoveryStoreConformance.checks(for: ownClock))
    func aStoreWithAClockOfItsOwnConforms(_ check: RecoveryStoreConformance.Check) async throws {
        try await check(Self.ownClock)
    }

    @Test(arguments: FaultyStore.Fault.allCases)
    func whatIsWrongIsFound(_ fault: FaultyStore.Fault) async throws {
        let subject = Self.subject { FaultyStore(memory: $0, fault: fault) }
        var failures: [String] = []
        for check in RecoveryStoreConformance.checks(for: subject) {
            do {
                try await check(subject)
            } catch let failure as ConformanceFailure {
                failures.append(failure.description)
            }
        }
        #expect(!failures.isEmpty)
    }

    @Test func aCheckThatDoesNotApplyDoesNotPass() async throws {
        let subject = Self.subject { $0 }
        let applying = Set(RecoveryStoreConformance.checks(for: subject).map(\.name))
        let others = RecoveryStoreConformance.checks.filter { !applying.contains($0.name) }
        #expect(others.count == 3)
        for check in others {
            await #expect(throws: ConformanceFailure.self) { try await check(subject) }
        }
    }

    @Test func checksHaveNamesOfTheirOwn() {
        #expect(Set(RecoveryStoreConformance.checks.map(\.name)).count == RecoveryStoreConformance.checks.count)
    }
}

/// The memory behind a clock of its own: of the callers' times only the spans count.
private struct OwnClockStore: RecoveryStore {
    let memory: InMemoryRecoveryStore
    var name: String { "own-clock" }

    func closedGate(among keys: [SharedState.Gate.Key], at now: Timestamp) async -> SharedState.Gate? {
        let own = Timestamp.system()
        var gate = await memory.closedGate(among: keys, at: own)
        if let opensAt = gate?.opensAt { gate?.opensAt = now.advanced(by: opensAt.elapsed(since: own)) }
        return gate
    }

    func close(_ gate: SharedState.Gate, at now: Timestamp) async {
        let own = Timestamp.system()
        var gate = gate
        if let opensAt = gate.opensAt { gate.opensAt = own.advanced(by: opensAt.elapsed(since: now)) }
        await memory.close(gate, at: own)
    }

    func open(_ key: SharedState.Gate.Key) async { await memory.open(key) }
    func joinQueue(at key: SharedState.Gate.Key) async -> Int { await memory.joinQueue(at: key) }

    func acquireLease(_ name: String, for duration: Duration, at now: Timestamp) async -> SharedState.Lease? {
        await memory.acquireLease(name, for: duration, at: .system())
    }

    func extendLease(_ lease: SharedState.Lease, for duration: Duration, at now: Timestamp) async -> Bool {
        await memory.extendLease(lease, for: duration, at: .system())
    }

    func releaseLease(_ lease: SharedState.Lease) async { await memory.releaseLease(lease) }

    func settle(_ entry: SharedState.BudgetEntry, at now: Timestamp) async -> SharedState.BudgetBalance {
        await memory.settle(entry, at: .system())
    }

    func record(_ key: String) async -> SharedState.Record? { await memory.record(key) }

    func replaceRecord(
        _ key: String,
        version: UInt64?,
        with bytes: [UInt8],
        lasting lifetime: Duration?,
        at now: Timestamp
    ) async -> SharedState.Record? {
        await memory.replaceRecord(key, version: version, with: bytes, lasting: lifetime, at: .system())
    }
}

/// The memory with one fault.
struct FaultyStore: RecoveryStore {
    enum Fault: String, CaseIterable {
        case forgetsCode, shortensGates, neverOpens, countsNoQueue, ignoresScopes
        case grantsTwice, reusesFences, extendsAnything, releasesAnyone
        case forgetsDeposits, grantsAllWithdrawals
        case ignoresVersions, cutsRecords, keepsVersions, keepsRecordsForGood
    }

    let memory: InMemoryRecoveryStore
    let fault: Fault
    var name: String { fault.rawValue }

    private func stored(_ key: SharedState.Gate.Key) -> SharedState.Gate.Key {
        var key = key
        if fault == .ignoresScopes { key.scope = .app }
        return key
    }

    func closedGate(among keys: [SharedState.Gate.Key], at now: Timestamp) async -> SharedState.Gate? {
        let time = fault == .neverOpens ? Timestamp(secondsSinceEpoch: 0) : now
        var gate = await memory.closedGate(among: keys.map(stored), at: time)
        if fault == .forgetsCode { gate?.code = nil }
        return gate
    }

    func close(_ gate: SharedState.Gate, at now: Timestamp) async {
        var gate = gate
        gate.key = stored(gate.key)
        if fault == .shortensGates { await memory.open(gate.key) }
        await memory.close(gate, at: now)
    }

    func open(_ key: SharedState.Gate.Key) async { await memory.open(stored(key)) }

    func joinQueue(at key: SharedState.Gate.Key) async -> Int {
        fault == .countsNoQueue ? 0 : await memory.joinQueue(at: stored(key))
    }

    func acquireLease(_ name: String, for duration: Duration, at now: Timestamp) async -> SharedState.Lease? {
        let lease = await memory.acquireLease(name, for: duration, at: now)
        switch fault {
        case .grantsTwice: return lease ?? SharedState.Lease(name: name, fence: 1000)
        case .reusesFences: return lease.map { SharedState.Lease(name: $0.name, fence: 1) }
        default: return lease
        }
    }

    func extendLease(_ lease: SharedState.Lease, for duration: Duration, at now: Timestamp) async -> Bool {
        if fault == .extendsAnything { return true }
        return await memory.extendLease(lease, for: duration, at: now)
    }

    func releaseLease(_ lease: SharedState.Lease) async {
        await memory.releaseLease(lease)
        guard fault == .releasesAnyone else { return }
        for fence in 0...(lease.fence &+ 1) % 100 {
            await memory.releaseLease(SharedState.Lease(name: lease.name, fence: fence))
        }
    }

    func settle(_ entry: SharedState.BudgetEntry, at now: Timestamp) async -> SharedState.BudgetBalance {
        var entry = entry
        if fault == .forgetsDeposits { entry.deposit = 0 }
        var balance = await memory.settle(entry, at: now)
        if fault == .grantsAllWithdrawals { balance.isGranted = true }
        return balance
    }

    func record(_ key: String) async -> SharedState.Record? { await memory.record(key) }

    func replaceRecord(
        _ key: String,
        version: UInt64?,
        with bytes: [UInt8],
        lasting lifetime: Duration?,
        at now: Timestamp
    ) async -> SharedState.Record? {
        let lifetime = fault == .keepsRecordsForGood ? nil : lifetime
        let version = fault == .ignoresVersions ? await memory.record(key)?.version : version
        let bytes = fault == .cutsRecords ? Array(bytes.prefix(1000)) : bytes
        var record = await memory.replaceRecord(key, version: version, with: bytes, lasting: lifetime, at: now)
        if fault == .keepsVersions { record?.version = 1 }
        return record
    }
}
