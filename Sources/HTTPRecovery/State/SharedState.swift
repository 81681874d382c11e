/// The client's way to its store: never slower than a timeout, never a failure for lack of the back end.
///
/// While the store does not answer, this process goes by its own memory: gates, leases and budgets hold within it as
/// they were known last, and records are those that were read last. One caller a second asks the store again; when it
/// answers, what was decided meanwhile is written to it. A store in the process's own memory is asked directly.
///
/// A caller that is cancelled waits no longer, which is no failure of the store; what it wanted to be written is written
/// all the same.
public final class SharedState: Sendable {
    /// The longest that a call waits for the store; default: 250 ms.
    public let timeout: Duration

    private let store: any RecoveryStore
    private let time: TimeSource
    private let link: StoreLink
    /// What this process knows by itself; it holds while the store does not answer.
    private let memory = InMemoryRecoveryStore()

    /// Creates the way to a store.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - timeout: The longest that a call waits for it, at least 1 ms; a local store is not timed.
    ///   - time: Where time comes from.
    ///   - onChange: Told once when the store stops to answer, and once when it answers again; it must not block.
    public init(
        _ store: any RecoveryStore,
        timeout: Duration = .milliseconds(250),
        time: TimeSource = .system,
        onChange: @escaping @Sendable (SharedState.Health) -> Void = { _ in }
    ) {
        self.store = store
        self.timeout = max(timeout, .milliseconds(1))
        self.time = time
        self.link = StoreLink(store, timeout: self.timeout, time: time, memory: memory, onChange: onChange)
    }

    /// Whether the store answers.
    public var health: SharedState.Health { link.health }

    /// Whether the store is this process's own memory.
    public var isLocal: Bool { store.isLocal }

    /// Writes what the store has not seen yet, if it answers within the timeout, and closes it.
    ///
    /// Later calls go by the memory of this process.
    public func shutdown() async {
        await link.shutdown()
    }

    // MARK: Gates

    /// The gates that this process knows by itself: all, if its memory is the store.
    var ownGates: [SharedState.Gate] { ((store as? InMemoryRecoveryStore) ?? memory).gates }

    /// Whether any gate may be closed at all; false lets the engine skip asking.
    public var mayHoldGates: Bool { store.mayHoldGates || memory.mayHoldGates }

    /// Of the closed gates among the keys, the one that opens last; nil when all are open.
    public func closedGate(among keys: [SharedState.Gate.Key]) async -> SharedState.Gate? {
        let now = time.wallTime
        if isLocal, let gate = try? await store.closedGate(among: keys, at: now) { return gate }
        if isLocal || keys.isEmpty { return nil }
        let known = memory.closedGates(among: keys, at: now)
        if known.isEmpty, !store.mayHoldGates(among: keys) { return nil }
        let answer = await carryOut { [link] in await link.ask { try await $0.closedGate(among: keys, at: now) } }
        return memory.withGates {
            $0.closedGate(among: keys, by: answer ?? StoreLink.Answer.none, insteadOf: known, at: now)
        }
    }

    /// Closes a gate; one that is closed already stays closed until the later of the two times.
    ///
    /// A time beyond ``SharedState/Gate/longestTime(in:)`` counts as that.
    public func close(_ gate: SharedState.Gate) async {
        let now = time.wallTime
        let gate = gate.bounded(from: now).remembered(from: now)
        if isLocal { return (try? await store.close(gate, at: now)) ?? () }
        // At once for the callers of this process, whatever the store does meanwhile.
        await memory.close(gate, at: now)
        await carryOut { [link, memory] in
            await link.ask({ try await $0.close(gate, at: now) }, orNote: { $0.close(gate, at: now) })
            // Another caller may have been told, before the store knew, that the gate is open.
            await memory.close(gate, at: now)
        }
    }

    /// Opens a gate before its time, when it is known that its reason is gone.
    public func open(_ key: SharedState.Gate.Key) async {
        if isLocal { return (try? await store.open(key)) ?? () }
        await carryOut { [link, memory] in
            await link.ask({ try await $0.open(key) }, orNote: { $0.open(key) })
            await memory.open(key)
        }
    }

    /// Counts one more caller that waits at the gate and returns how many were counted before it.
    public func joinQueue(at key: SharedState.Gate.Key) async -> Int {
        if isLocal { return (try? await store.joinQueue(at: key)) ?? 0 }
        let answer = await carryOut { [link] in await link.ask { try await $0.joinQueue(at: key) } }
        guard case .answered(let count) = answer else { return await memory.joinQueue(at: key) }
        return count
    }

    // MARK: Leases

    /// Grants the lease, unless somebody holds it; while the store does not answer, for this process alone.
    ///
    /// - Returns: The lease; nil while another holds it, or when the caller is cancelled: a lease that is granted then is
    ///   given back.
    public func acquireLease(_ name: String, for duration: Duration) async -> SharedState.Lease? {
        let now = time.wallTime
        if isLocal { return try? await store.acquireLease(name, for: duration, at: now) }
        let claim = LeaseClaim()
        let granted = await carryOut {
            let lease = await self.askForLease(name, for: duration)
            if let lease, !claim.grant(lease) { await self.giveBack(lease) }
            return lease
        }
        return granted.flatMap(\.self) ?? claim.abandon()
    }

    private func askForLease(_ name: String, for duration: Duration) async -> SharedState.Lease? {
        let now = time.wallTime
        if memory.state.withLock({ $0.holdsOwnLease(name, at: now) }) { return nil }
        let claim = LeaseClaim()
        var answer = await link.ask { store in
            let lease = try await store.acquireLease(name, for: duration, at: now)
            // Granted when nobody waited for it any more: it would be held by nobody until it runs out.
            if let lease, !claim.grant(lease) { try? await store.releaseLease(lease) }
            return lease
        }
        // What came in the moment in which nobody waited for it any more is ours all the same.
        if case .none = answer, let lease = claim.abandon() { answer = .answered(lease) }
        return memory.state.withLock { $0.acquireLease(name, for: duration, by: answer, at: now) }
    }

    /// Extends a lease; false when it is not held any more.
    public func extendLease(_ lease: SharedState.Lease, for duration: Duration) async -> Bool {
        let now = time.wallTime
        if isLocal { return (try? await store.extendLease(lease, for: duration, at: now)) ?? false }
        if InMemoryRecoveryStore.isOwn(lease) { return await memory.extendLease(lease, for: duration, at: now) }
        let answer = await carryOut { [link] in
            await link.ask { try await $0.extendLease(lease, for: duration, at: now) }
        }
        return memory.state.withLock {
            $0.extendLease(lease, for: duration, by: answer ?? StoreLink.Answer.none, at: now)
        }
    }

    /// Gives a lease back.
    public func releaseLease(_ lease: SharedState.Lease) async {
        if isLocal { return (try? await store.releaseLease(lease)) ?? () }
        await carryOut { await self.giveBack(lease) }
    }

    private func giveBack(_ lease: SharedState.Lease) async {
        await memory.releaseLease(lease)
        if !InMemoryRecoveryStore.isOwn(lease) { _ = await link.ask { try await $0.releaseLease(lease) } }
    }

    // MARK: Budgets

    /// Books deposits and a withdrawal of a retry budget in one step.
    public func settle(_ entry: SharedState.BudgetEntry) async -> SharedState.BudgetBalance {
        let now = time.wallTime
        if isLocal, let balance = try? await store.settle(entry, at: now) { return balance }
        if isLocal { return await memory.settle(entry, at: now) }
        let answer = await carryOut { [link] in await link.ask { try await $0.settle(entry, at: now) } }
        switch answer {
        case .answered(let balance):
            memory.note(balance.balance, of: entry.key, at: now)
            return balance
        case .some(.none): return await memory.settle(entry, at: now)
        case nil:
            // Cancelled: what was asked for is of no use any more.
            let question = SharedState.BudgetEntry(key: entry.key, limit: entry.limit, initial: entry.initial)
            return SharedState.BudgetBalance(isGranted: false, balance: await memory.settle(question, at: now).balance)
        }
    }

    // MARK: Records

    /// The record under a key, as it was read last while the store does not answer.
    ///
    /// - Throws: ``SharedState/StoreError`` when the store does not answer and the record was never read; `CancellationError` as soon
    ///   as the task is cancelled.
    public func record(_ key: String) async throws -> SharedState.Record? {
        if isLocal { return try await store.record(key) }
        return try await carryOutOrThrow { [link, time] in
            let moment = link.overlay.moment
            return try await link.ask { store in
                let record = try await store.record(key)
                let standing = RecordOverlay.Standing(isOwn: false, confirmedAt: time.now)
                link.overlay.note(record, under: key, askedAt: moment, standing: standing)
                return record
            } orNote: { outage throws(SharedState.StoreError) in
                try link.overlay.record(key, missing: outage.error)
            }
        }
    }

    /// Stores a record, if the store still holds the version.
    ///
    /// While the store does not answer, the record is kept here and written when it answers again, unless another
    /// process has changed it by then. A store that has lost its records gets back those alone that this process has
    /// stored itself and has seen there within the last minute: anything else may be out of date. A record is not lost because the caller is cancelled: it is stored all the same.
    ///
    /// - Returns: What is stored now; nil when another change came first.
    /// - Throws: ``SharedState/StoreError`` when the store does not answer and the record was never read; `CancellationError` as soon
    ///   as the task is cancelled.
    public func replaceRecord(_ key: String, version: UInt64?, with bytes: [UInt8]) async throws -> SharedState.Record?
    {
        if isLocal { return try await store.replaceRecord(key, version: version, with: bytes) }
        return try await carryOutOrThrow { [link, time] in
            let moment = link.overlay.moment
            return try await link.ask { store in
                // The store knows no version that was given without it.
                if RecordOverlay.isLocal(version) { return nil }
                let record = try await store.replaceRecord(key, version: version, with: bytes)
                let standing = RecordOverlay.Standing(isOwn: true, confirmedAt: time.now)
                if let record { link.overlay.note(record, under: key, askedAt: moment, standing: standing) }
                return record
            } orNote: { outage throws(SharedState.StoreError) in
                try link.overlay.replace(key, version: version, with: bytes, missing: outage.error)
            }
        }
    }

    /// Stores a record that nobody needs any more after a while, if the store still holds the version.
    ///
    /// It is never kept in this process's memory in place of the store: whoever is told that it is stored is the only one.
    /// It is stored also if the caller is cancelled.
    ///
    /// - Returns: What is stored now; nil when another change came first.
    /// - Throws: ``SharedState/StoreError`` when the store does not answer; `CancellationError` as soon as the task is cancelled.
    public func replaceRecord(
        _ key: String,
        version: UInt64?,
        with bytes: [UInt8],
        lasting lifetime: Duration
    ) async throws -> SharedState.Record? {
        let now = time.wallTime
        if isLocal {
            return try await store.replaceRecord(key, version: version, with: bytes, lasting: lifetime, at: now)
        }
        return try await carryOutOrThrow { [link] in
            let answer = await link.ask {
                try await $0.replaceRecord(key, version: version, with: bytes, lasting: lifetime, at: now)
            }
            guard case .answered(let record) = answer else {
                throw SharedState.StoreError(
                    "the store does not answer, and nobody can know what another process stores there"
                )
            }
            return record
        }
    }

    // MARK: Cancellation

    /// Runs the function to its end, even if the caller is cancelled; that one waits no longer then.
    ///
    /// - Returns: What the function returned; nil when the caller is cancelled.
    @discardableResult
    private func carryOut<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value? {
        try? await carryOutOrThrow(body)
    }

    private func carryOutOrThrow<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let flight = Flight<Value>()
        Task {
            do {
                flight.land(.success(try await body()))
            } catch {
                flight.land(.failure(error))
            }
        }
        return try await flight.value
    }
}

/// Who has a lease that is granted while the one who asked for it may be gone.
private final class LeaseClaim: Sendable {
    private enum State {
        case waits
        case granted(SharedState.Lease)
        case abandoned
    }

    private let state = Locked(State.waits)

    /// Grants the lease; false if nobody waits for it any more.
    func grant(_ lease: SharedState.Lease) -> Bool {
        state.withLock { state in
            if case .abandoned = state { return false }
            state = .granted(lease)
            return true
        }
    }

    /// Waits no longer; the lease, if it was granted before.
    func abandon() -> SharedState.Lease? {
        state.withLock { state in
            guard case .granted(let lease) = state else {
                state = .abandoned
                return nil
            }
            return lease
        }
    }
}
