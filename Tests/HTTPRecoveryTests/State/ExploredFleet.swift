import HTTPRecovery
import HTTPRecoveryTesting

/// Chooses at every fork, so that all histories are gone through one after the other.
final class Choices: Sendable {
    private struct State {
        var path: [(choice: Int, count: Int)] = []
        var position = 0
    }

    private let state = Locked(State())

    func choose(of count: Int) -> Int {
        state.withLock { state in
            defer { state.position += 1 }
            if state.position == state.path.count { state.path.append((0, count)) }
            return state.path[state.position].choice
        }
    }

    /// Goes to the next history; false after the last.
    func advance() -> Bool {
        state.withLock { state in
            state.position = 0
            while let last = state.path.popLast() {
                guard last.choice + 1 < last.count else { continue }
                state.path.append((last.choice + 1, last.count))
                return true
            }
            return false
        }
    }
}

/// Three processes with clocks that differ by hours, and a store with a clock of its own.
final class ExploredFleet {
    let choices: Choices
    private let clock = ManualClock()
    private let store: ChosenStore
    private var processes: [Process] = []
    private(set) var log: [String] = []
    private(set) var violations: [String] = []

    private struct Process {
        let state: SharedState
        let time: TimeSource
        let number: Int
        /// Until when the server has told this process to wait, or the store has.
        var waitsUntil = Duration.zero
        var lease: SharedState.Lease?
        var leaseEnd = Duration.zero
    }

    private static let key = SharedState.Gate.Key(
        scope: .origin,
        origin: Origin(scheme: "https", authority: "a.example")
    )
    private static let span = Duration.seconds(10)

    init(_ choices: Choices, faults: Int) {
        self.choices = choices
        store = ChosenStore(choices, faults: faults, clock: clock)
        processes = (0..<3).map { start($0, hour: $0 - 1) }
    }

    private func start(_ number: Int, hour: Int) -> Process {
        let wallTime = Timestamp(secondsSinceEpoch: 1_800_000_000).advanced(
            by: .seconds(3600 * hour) + clock.now.offset
        )
        let time = clock.timeSource(wallTime: wallTime)
        return Process(state: SharedState(StoreSeen(by: number, store), time: time), time: time, number: number)
    }

    private var now: Duration { clock.now.offset }

    // MARK: What may happen

    func pass(_ time: Duration) {
        log.append("\(time) pass")
        clock.advance(by: time)
    }

    /// A process ends, and another is started in its place, whose clock was set meanwhile.
    func crash(_ p: Int) {
        log.append("\(p) crashes")
        processes[p] = start(p, hour: 5)
    }

    func restartStoreEmpty() {
        log.append("the store starts empty")
        store.restartEmpty()
    }

    /// The server tells a process to wait.
    func close(_ p: Int) async {
        log.append("\(p) closes")
        let opensAt = processes[p].time.wallTime.advanced(by: Self.span)
        await processes[p].state.close(SharedState.Gate(key: Self.key, reason: .rateLimited, opensAt: opensAt))
        processes[p].waitsUntil = max(processes[p].waitsUntil, now + Self.span)
    }

    func attempt(_ p: Int) async {
        let failures = store.failures
        let gate = await processes[p].state.closedGate(among: [Self.key])
        log.append("\(p) \(gate == nil ? "goes" : "waits")")
        let isAnswered = store.failures == failures && processes[p].state.health == .available
        guard let gate else {
            if processes[p].waitsUntil > now { violations.append("\(p) goes, and knows that it must not") }
            if isAnswered, store.isGateClosed { violations.append("\(p) goes, and the store knows that it must not") }
            return
        }
        let left = gate.opensAt?.elapsed(since: processes[p].time.wallTime) ?? .zero
        if left > Self.span { violations.append("\(p) waits for \(left)") }
        processes[p].waitsUntil = max(processes[p].waitsUntil, now + left)
    }

    func acquire(_ p: Int) async {
        guard processes[p].lease == nil else { return }
        let lease = await processes[p].state.acquireLease("renewal", for: Self.span)
        log.append("\(p) \(lease == nil ? "gets no lease" : "gets the lease")")
        guard let lease else { return }
        if isOfStore(lease), let other = processes.first(where: { $0.number != p && holds($0) }) {
            violations.append("\(p) gets the lease that \(other.number) holds")
        }
        processes[p].lease = lease
        processes[p].leaseEnd = now + Self.span
    }

    func extend(_ p: Int) async {
        guard let lease = processes[p].lease else { return }
        let failures = store.failures
        let isHeld = await processes[p].state.extendLease(lease, for: Self.span)
        log.append("\(p) \(isHeld ? "extends" : "has lost") the lease")
        if isHeld, processes[p].leaseEnd <= now { violations.append("\(p) extends a lease that has run out") }
        // What the store was not told holds within the process alone.
        if isHeld, store.failures == failures { processes[p].leaseEnd = now + Self.span }
        if !isHeld { processes[p].lease = nil }
    }

    func release(_ p: Int) async {
        guard let lease = processes[p].lease else { return }
        log.append("\(p) releases")
        await processes[p].state.releaseLease(lease)
        processes[p].lease = nil
    }

    /// Whether the process has a lease of the store whose time is not over.
    private func holds(_ process: Process) -> Bool {
        process.lease.map { isOfStore($0) } == true && process.leaseEnd > now
    }

    /// Fences of leases that a process has granted itself lie in the upper half.
    private func isOfStore(_ lease: SharedState.Lease) -> Bool { lease.fence < 1 << 63 }

    // MARK: The end

    /// The store is well again, and in time everybody agrees with it.
    func settle() async {
        log.append("all is well")
        store.heal()
        for _ in 0..<2 {
            clock.advance(by: .seconds(1))
            for p in processes.indices {
                for _ in 0..<2 { await attempt(p) }
            }
        }
        for process in processes {
            if process.state.health != .available {
                violations.append("\(process.number) does not find the store again")
            }
        }
        let isClosed = processes.contains { $0.waitsUntil > now }
        if isClosed, !store.isGateClosed { violations.append("the store is not told of a gate") }
        clock.advance(by: Self.span)
        for p in processes.indices { await attempt(p) }
        if log.suffix(3).contains(where: { $0.hasSuffix("waits") }) { violations.append("a gate stays closed") }
        for p in processes.indices { processes[p].lease = nil }
        await acquire(2)
        if processes[2].lease.map(isOfStore) != true { violations.append("a lease is held for longer than its time") }
    }
}

/// A store that keeps spans, as one with a clock of its own does, and of whose questions any may be lost.
final class ChosenStore: Sendable {
    private struct State {
        var faults: Int
        var failures = 0
        var memory = InMemoryRecoveryStore()
        /// Those whose connection was cut when the store was started again.
        var cut: Set<Int> = []
    }

    private let choices: Choices
    private let clock: ManualClock
    private let state: Locked<State>

    init(_ choices: Choices, faults: Int, clock: ManualClock) {
        (self.choices, self.clock) = (choices, clock)
        state = Locked(State(faults: faults))
    }

    /// How many questions were not answered.
    var failures: Int { state.withLock { $0.failures } }

    var time: Timestamp { Timestamp(secondsSinceEpoch: 0).advanced(by: clock.now.offset) }

    var isGateClosed: Bool {
        let (memory, now) = (state.withLock { $0.memory }, time)
        return memory.gates.contains { $0.isClosed(at: now) }
    }

    func restartEmpty() {
        state.withLock { state in
            state.memory = InMemoryRecoveryStore()
            state.cut = [0, 1, 2]
        }
    }

    func heal() {
        state.withLock { $0.faults = 0 }
    }

    func asked<Value>(by process: Int, _ question: (InMemoryRecoveryStore) async -> Value) async throws -> Value {
        let isCut = state.withLock { $0.cut.remove(process) != nil }
        let mayFail = state.withLock { $0.faults > 0 }
        let fate = isCut ? 2 : mayFail ? choices.choose(of: 3) : 0
        let memory = state.withLock { state in
            if fate != 0 { state.failures += 1 }
            if fate != 0, !isCut { state.faults -= 1 }
            return state.memory
        }
        if fate == 2 { throw SharedState.StoreError("lost") }
        let answer = await question(memory)
        if fate == 1 { throw SharedState.StoreError("the answer was lost") }
        return answer
    }
}

/// The store as a process sees it: times are told as spans.
struct StoreSeen: MemoryBackedStore {
    let process: Int
    let store: ChosenStore

    init(by process: Int, _ store: ChosenStore) {
        (self.process, self.store) = (process, store)
    }

    var name: String { "chosen" }

    func asked<Value>(_ question: (InMemoryRecoveryStore) async -> Value) async throws -> Value {
        try await store.asked(by: process, question)
    }

    func closedGate(among keys: [SharedState.Gate.Key], at now: Timestamp) async throws -> SharedState.Gate? {
        guard var gate = try await asked({ await $0.closedGate(among: keys, at: store.time) }) else { return nil }
        let opensAt = gate.opensAt
        gate.opensAt = opensAt.map { now.advanced(by: $0.elapsed(since: store.time)) }
        return gate
    }

    func close(_ gate: SharedState.Gate, at now: Timestamp) async throws {
        var gate = gate
        gate.opensAt = gate.opensAt.map { store.time.advanced(by: $0.elapsed(since: now)) }
        try await asked { [gate] in await $0.close(gate, at: store.time) }
    }

    func acquireLease(_ name: String, for duration: Duration, at now: Timestamp) async throws -> SharedState.Lease? {
        try await asked { await $0.acquireLease(name, for: duration, at: store.time) }
    }

    func extendLease(_ lease: SharedState.Lease, for duration: Duration, at now: Timestamp) async throws -> Bool {
        try await asked { await $0.extendLease(lease, for: duration, at: store.time) }
    }

    func shutdown() async {}
}
