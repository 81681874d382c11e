/// The wire between a client and its store: asks it within a time, knows whether it answers, and writes back what was
/// decided without it.
final class StoreLink: Sendable {
    /// What a question to the store came to.
    enum Answer<Value: Sendable>: Sendable {
        case answered(Value)
        /// The store does not answer, or is not asked at present.
        case none
    }

    let store: any RecoveryStore
    let timeout: Duration
    let overlay = RecordOverlay()
    /// What the process knows of gates by itself.
    private let memory: InMemoryRecoveryStore
    private let time: TimeSource
    private let state: Locked<State>
    private let onChange: @Sendable (SharedState.Health) -> Void

    /// How long before the store went a record of ours must have been seen there to be given back to one that has lost it.
    private static let recency: Duration = .seconds(60)
    /// A key to ask for if nothing is to be written; with no key at all a store may answer without its back end.
    private static let probe = SharedState.Gate.Key(scope: .app, origin: Origin(scheme: "store", authority: "probe"))

    init(
        _ store: any RecoveryStore,
        timeout: Duration,
        time: TimeSource,
        memory: InMemoryRecoveryStore,
        onChange: @escaping @Sendable (SharedState.Health) -> Void
    ) {
        self.store = store
        self.memory = memory
        self.timeout = timeout
        self.time = time
        self.onChange = onChange
        self.state = Locked(State(store: store.name))
    }

    var health: SharedState.Health {
        state.withLock { $0.asksAgainAt == nil ? .available : .degraded(store: store.name, reason: $0.outage.reason) }
    }

    // MARK: Asking

    /// Asks the store, within the timeout; for use in a task that nobody cancels.
    func ask<Value: Sendable>(
        _ question: @escaping @Sendable (any RecoveryStore) async throws -> Value
    ) async -> Answer<Value> {
        let end = time.now.advanced(by: timeout)
        guard let epoch = await admission() else { return .none }
        do {
            let left = time.now.duration(to: end)
            return .answered(try await time.withAbandonment(after: left) { [store] in try await question(store) })
        } catch {
            markDown(error, epoch: epoch)
            return .none
        }
    }

    /// Asks the store; if it does not answer, lets the function note what it has to learn when it answers again.
    @discardableResult
    func ask<Value: Sendable, Failure: Error>(
        _ question: @escaping @Sendable (any RecoveryStore) async throws -> Value,
        orNote note: (inout StoreOutage) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        var mayAskAgain = true
        while true {
            if case .answered(let value) = await ask(question) { return value }
            let noted: Value? = try state.withLock { state throws(Failure) in
                // In one step with the look at it: what is noted is written before the store is gone by again.
                guard state.isDown else { return nil }
                return try note(&state.outage)
            }
            if let noted { return noted }
            // It has come back in between. Nobody waits for it twice, however.
            if !mayAskAgain { markDown(TimeoutExceeded()) }
            mayAskAgain = false
        }
    }

    /// Whether the store may be asked: the present epoch, or nil.
    ///
    /// If it did not answer of late, one caller a second tries it, and waits for that no longer than half the timeout.
    private func admission() async -> UInt64? {
        let now = time.now
        switch state.withLock({ $0.admit(at: now) }) {
        case .asks(let epoch): return epoch
        case .doesNot: return nil
        case .heals: return (try? await time.withAbandonment(after: timeout / 2) { await self.heal() }) ?? nil
        }
    }

    /// Takes note that the store does not answer.
    ///
    /// - Parameter epoch: When it was asked; what it failed before it came back says nothing. Nil: it counts anyway.
    private func markDown(_ error: any Error, epoch: UInt64? = nil) {
        let reason = Self.reason(error, timeout: timeout)
        let now = time.now
        let isNew = state.withLock { $0.goDown(at: now, because: reason, epoch: epoch) }
        if isNew { onChange(.degraded(store: store.name, reason: reason)) }
    }

    /// What may be said of an error: of one that is no ``SharedState/StoreError`` only its type, since it may hold anything.
    private static func reason(_ error: any Error, timeout: Duration) -> String {
        if let error = error as? SharedState.StoreError { return error.description }
        return error is TimeoutExceeded ? "no answer within \(timeout)" : "\(type(of: error))"
    }

    // MARK: Healing

    /// Writes to the store what was decided without it, and goes by it again.
    ///
    /// - Returns: The new epoch; nil when the store still does not answer.
    private func heal() async -> UInt64? {
        var epoch: UInt64?
        do {
            try await within { _ = try await $0.closedGate(among: [Self.probe], at: self.time.wallTime) }
            noteKnownGates()
            repeat {
                try await writeGates()
                try await writeRecords()
                epoch = finishHealing()
            } while epoch == nil
        } catch {
            let reason = Self.reason(error, timeout: timeout)
            let now = time.now
            state.withLock { $0.stayDown(at: now, because: reason) }
            return nil
        }
        onChange(.available)
        return epoch
    }

    /// Goes by the store again, if nothing is left to be written.
    private func finishHealing() -> UInt64? {
        state.withLock { overlay.changes.isEmpty ? $0.comeBack() : nil }
    }

    /// Has all gates written that this process holds closed: the store may have come back empty.
    private func noteKnownGates() {
        let now = time.wallTime
        let known = memory.gates
        state.withLock { $0.outage.close(known, at: now) }
    }

    private func writeGates() async throws {
        while let write = state.withLock({ $0.outage.next }) {
            switch write {
            case .open(let key): try await within { try await $0.open(key) }
            case .close(let gate):
                let now = time.wallTime
                if gate.isClosed(at: now) { try await within { try await $0.close(gate, at: now) } }
            }
            state.withLock { $0.outage.remove(write) }
        }
    }

    private func writeRecords() async throws {
        let downAt = state.withLock { $0.downAt } ?? time.now
        let unchanged = overlay.unchanged(confirmedSince: downAt.advanced(by: .zero - Self.recency))
        var standing: RecordOverlay.Standing { RecordOverlay.Standing(isOwn: true, confirmedAt: time.now) }
        for change in overlay.changes {
            let present = try await within { try await $0.record(change.key) }
            if let present, present.bytes == change.bytes {
                // A write that had been given up has come through.
                overlay.settle(change, as: present, standing: standing)
            } else if let present, !change.follows(present) {
                // Another process came first: its record counts.
                overlay.yield(change.key, to: present)
            } else if let stored = try await write(change.bytes, under: change.key, over: present) {
                overlay.settle(change, as: stored, standing: standing)
            }
        }
        // A store that has lost one record has come back empty, and gets all that are known to be the newest.
        for (key, record) in unchanged {
            guard try await within({ try await $0.record(key) }) == nil else { return }
            let stored = try await write(record.bytes, under: key, over: nil)
            overlay.restore(key, record, as: stored, standing: standing)
        }
    }

    private func write(_ bytes: [UInt8], under key: String, over present: SharedState.Record?) async throws
        -> SharedState.Record?
    {
        let version = present?.version
        return try await within { try await $0.replaceRecord(key, version: version, with: bytes) }
    }

    private func within<Value: Sendable>(
        _ question: @escaping @Sendable (any RecoveryStore) async throws -> Value
    ) async throws -> Value {
        try await time.withAbandonment(after: timeout) { [store] in try await question(store) }
    }

    // MARK: The end

    /// Writes what is not written yet, if the store answers within the timeout, and asks it nothing more.
    func shutdown() async {
        let heals = state.withLock { $0.beginLastHealing() }
        // In a task of its own: who shuts down is often cancelled already.
        await Task { [time, timeout] in
            if heals { _ = try? await time.withAbandonment(after: timeout) { await self.heal() } }
            self.state.withLock { state in
                state.isShutDown = true
                state.outage.reason = "it is closed"
            }
            try? await time.withAbandonment(after: timeout) { [store = self.store] in await store.shutdown() }
        }
        .value
    }
}
