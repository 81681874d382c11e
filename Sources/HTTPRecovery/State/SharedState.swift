/// The client's way to its store: never slower than a timeout, never a failure for lack of the back end.
///
/// While the store does not answer, this process goes by its own memory: gates, leases and budgets hold within it, and
/// records are those that were read last. One caller a second asks the store again; when it answers, what was decided
/// meanwhile is written to it. A store in the process's own memory is asked directly.
public final class SharedState: Sendable {
    /// The longest that a call waits for the store; default: 250 ms.
    public let timeout: Duration

    private let store: any RecoveryStore
    private let time: TimeSource
    private let memory = InMemoryRecoveryStore()
    private let link = Locked(Link())
    private let overlay = RecordOverlay()
    private let onChange: @Sendable (StoreHealth) -> Void

    /// How things stand with the store.
    private struct Link {
        /// When the store may be asked again; nil while it answers.
        var asksAgainAt: TimeSource.Instant?
        var reason: String?
        /// The gates that were closed, and opened, while it did not answer.
        var closed: [Gate.Key: Gate] = [:]
        var opened: Set<Gate.Key> = []
    }

    /// How long the store is left alone after it did not answer.
    private static let pause: Duration = .seconds(1)

    /// Creates the way to a store.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - timeout: The longest that a call waits for it; a local store is not timed.
    ///   - time: Where time comes from.
    ///   - onChange: Told once when the store stops to answer, and once when it answers again; it must not block.
    public init(
        _ store: any RecoveryStore,
        timeout: Duration = .milliseconds(250),
        time: TimeSource = .system,
        onChange: @escaping @Sendable (StoreHealth) -> Void = { _ in }
    ) {
        self.store = store
        self.timeout = max(timeout, .milliseconds(1))
        self.time = time
        self.onChange = onChange
    }

    /// Whether the store answers.
    public var health: StoreHealth {
        link.withLock { link in
            guard link.asksAgainAt != nil else { return .available }
            return .degraded(store: store.name, reason: link.reason ?? "")
        }
    }

    /// Whether the store is this process's own memory.
    public var isLocal: Bool { store.isLocal }

    /// Closes the store.
    public func shutdown() async {
        await store.shutdown()
    }

    // MARK: Gates

    /// Whether any gate may be closed at all; false lets the engine skip asking.
    public var mayHoldGates: Bool { store.mayHoldGates || memory.mayHoldGates }

    /// Of the closed gates among the keys, the one that opens last; nil when all are open.
    public func closedGate(among keys: [Gate.Key]) async -> Gate? {
        let now = time.wallTime
        let answer = await ask { try await $0.closedGate(among: keys, at: now) }
        guard case .answered(let gate) = answer else { return await memory.closedGate(among: keys, at: now) }
        // Remembered, so that it holds while the store does not answer.
        if !isLocal, gate != nil || memory.mayHoldGates {
            for key in keys { await memory.open(key) }
            if let gate { await memory.close(gate, at: now) }
        }
        return gate
    }

    /// Closes a gate; one that is closed already stays closed until the later of the two times.
    public func close(_ gate: Gate) async {
        let now = time.wallTime
        let answer = await ask { try await $0.close(gate, at: now) }
        if isLocal { return }
        await memory.close(gate, at: now)
        guard case .none = answer else { return }
        link.withLock { link in
            link.opened.remove(gate.key)
            link.closed[gate.key] = gate
        }
    }

    /// Opens a gate before its time, when it is known that its reason is gone.
    public func open(_ key: Gate.Key) async {
        let answer = await ask { try await $0.open(key) }
        if isLocal { return }
        await memory.open(key)
        guard case .none = answer else { return }
        link.withLock { link in
            link.closed[key] = nil
            link.opened.insert(key)
        }
    }

    /// Counts one more caller that waits at the gate and returns how many were counted before it.
    public func joinQueue(at key: Gate.Key) async -> Int {
        let answer = await ask { try await $0.joinQueue(at: key) }
        guard case .answered(let count) = answer else { return await memory.joinQueue(at: key) }
        return count
    }

    // MARK: Leases

    /// Grants the lease, unless somebody holds it; while the store does not answer, for this process alone.
    public func acquireLease(_ name: String, for duration: Duration) async -> Lease? {
        let now = time.wallTime
        let answer = await ask { try await $0.acquireLease(name, for: duration, at: now) }
        guard case .answered(let lease) = answer else {
            return await memory.acquireLease(Self.ownPrefix + name, for: duration, at: now)
        }
        return lease
    }

    /// Extends a lease; false when it is not held any more.
    public func extendLease(_ lease: Lease, for duration: Duration) async -> Bool {
        let now = time.wallTime
        if Self.isOwn(lease) { return await memory.extendLease(lease, for: duration, at: now) }
        let answer = await ask { try await $0.extendLease(lease, for: duration, at: now) }
        // Where nobody can be asked, nobody else can have taken it.
        guard case .answered(let isHeld) = answer else { return true }
        return isHeld
    }

    /// Gives a lease back.
    public func releaseLease(_ lease: Lease) async {
        if Self.isOwn(lease) { return await memory.releaseLease(lease) }
        _ = await ask { try await $0.releaseLease(lease) }
    }

    /// Marks the leases that this process has granted itself.
    private static let ownPrefix = "own:"

    private static func isOwn(_ lease: Lease) -> Bool {
        lease.name.hasPrefix(ownPrefix)
    }

    // MARK: Budgets

    /// Books deposits and a withdrawal of a retry budget in one step.
    public func settle(_ entry: BudgetEntry) async -> BudgetBalance {
        let now = time.wallTime
        let answer = await ask { try await $0.settle(entry, at: now) }
        guard case .answered(let balance) = answer else { return await memory.settle(entry, at: now) }
        return balance
    }

    // MARK: Records

    /// The record under a key, as it was read last while the store does not answer.
    ///
    /// - Throws: ``StoreError`` when the store does not answer and the record was never read.
    public func record(_ key: String) async throws -> StoredRecord? {
        switch await ask({ try await $0.record(key) }) {
        case .answered(let record):
            if !isLocal { overlay.note(record, under: key) }
            return record
        case .none:
            try Task.checkCancellation()
            return try overlay.record(key, missing: unavailable)
        }
    }

    /// Stores a record, if the store still holds the version.
    ///
    /// While the store does not answer, the record is kept here and written when it answers again, unless another
    /// process has changed it by then.
    ///
    /// - Returns: What is stored now; nil when another change came first.
    /// - Throws: ``StoreError`` when the store does not answer and the record was never read.
    public func replaceRecord(_ key: String, version: UInt64?, with bytes: [UInt8]) async throws -> StoredRecord? {
        switch await ask({ try await $0.replaceRecord(key, version: version, with: bytes) }) {
        case .answered(let record):
            if !isLocal, let record { overlay.note(record, under: key) }
            return record
        case .none:
            try Task.checkCancellation()
            return try overlay.replace(key, version: version, with: bytes, missing: unavailable)
        }
    }

    private var unavailable: StoreError {
        let reason = link.withLock { $0.reason } ?? "it did not answer"
        return StoreError("the store \(store.name) cannot be reached (\(reason)); try again when it can")
    }

    // MARK: The store

    private enum Answer<Value: Sendable>: Sendable {
        case answered(Value)
        /// The store does not answer, or is not asked at present.
        case none
    }

    /// Asks the store, within the timeout.
    private func ask<Value: Sendable>(
        _ question: @escaping @Sendable (any RecoveryStore) async throws -> Value
    ) async -> Answer<Value> {
        if store.isLocal {
            guard let value = try? await question(store) else { return .none }
            return .answered(value)
        }
        guard await isOpen() else { return .none }
        do {
            return .answered(try await timed(question))
        } catch {
            // Whoever is cancelled says nothing about the store.
            if !Task.isCancelled { markDown(error) }
            return .none
        }
    }

    private func timed<Value: Sendable>(
        _ question: @escaping @Sendable (any RecoveryStore) async throws -> Value
    ) async throws -> Value {
        try await time.withAbandonment(after: timeout) { [store] in try await question(store) }
    }

    /// Whether the store may be asked; where it did not answer of late, one caller a second tries it.
    private func isOpen() async -> Bool {
        let tries: Bool? = link.withLock { link in
            guard let again = link.asksAgainAt else { return true }
            guard again <= time.now else { return false }
            link.asksAgainAt = time.now.advanced(by: Self.pause)
            return nil
        }
        if let tries { return tries }
        do {
            try await reconcile()
        } catch {
            return false
        }
        return true
    }

    private func markDown(_ error: any Error) {
        let reason = error is TimeoutExceeded ? "no answer within \(timeout)" : "\(error)"
        let isNew = link.withLock { link in
            let isNew = link.asksAgainAt == nil
            link.asksAgainAt = time.now.advanced(by: Self.pause)
            link.reason = reason
            return isNew
        }
        if isNew { onChange(.degraded(store: store.name, reason: reason)) }
    }

    /// Writes to the store what was decided without it, and goes by it again.
    private func reconcile() async throws {
        let (closed, opened) = link.withLock { ($0.closed, $0.opened) }
        let now = time.wallTime
        for key in opened { try await timed { try await $0.open(key) } }
        for gate in closed.values where gate.isClosed(at: now) { try await timed { try await $0.close(gate, at: now) } }
        for change in overlay.changes {
            let present = try await timed { try await $0.record(change.key) }
            // Another process came first: its record counts.
            guard present?.version == change.base || present == nil else {
                overlay.settle(change, as: present)
                continue
            }
            let version = present?.version
            let stored = try await timed {
                try await $0.replaceRecord(change.key, version: version, with: change.bytes)
            }
            if let stored { overlay.settle(change, as: stored) }
        }
        // The smallest question there is, where nothing was to be written.
        if opened.isEmpty, closed.isEmpty { _ = try await timed { try await $0.closedGate(among: [], at: now) } }
        let wasDown = link.withLock { link in
            for key in opened { link.opened.remove(key) }
            for (key, gate) in closed where link.closed[key] == gate { link.closed[key] = nil }
            defer { link.asksAgainAt = nil }
            return link.asksAgainAt != nil
        }
        if wasDown { onChange(.available) }
    }
}
