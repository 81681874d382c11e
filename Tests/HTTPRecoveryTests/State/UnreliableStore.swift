import HTTPRecovery
import HTTPRecoveryTesting

/// A back end that a test takes down in several ways; what reaches it is kept in memory.
final class UnreliableStore: MemoryBackedStore {
    enum Mode: Sendable {
        case answers
        case throwsErrors
        /// Answers after a time of the test's clock.
        case slow(Duration)
        /// Answers when the test says so.
        case hangs
        /// Carries out what it is asked, and says so when the test does.
        case answersLate
        /// Carries out what it is asked, and never says so.
        case swallowsAnswers
    }

    private struct State {
        var mode = Mode.answers
        var held = Flight<Void>()
        var questions = 0
        var isClosed = false
        var isInformed = false
        var memory = InMemoryRecoveryStore()
    }

    struct SecretError: Error, CustomStringConvertible {
        var description: String { "password=hunter2" }
    }

    private let state = Locked(State())
    private let clock: ManualClock

    init(clock: ManualClock) {
        self.clock = clock
    }

    var name: String { "unreliable" }

    /// What the back end holds, for a look past the client.
    var contents: InMemoryRecoveryStore { state.withLock { $0.memory } }
    var questions: Int { state.withLock { $0.questions } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    func become(_ mode: Mode) {
        state.withLock { $0.mode = mode }
    }

    /// Has it know what is closed without being asked.
    func inform() {
        state.withLock { $0.isInformed = true }
    }

    func mayHoldGates(among keys: [SharedState.Gate.Key]) -> Bool {
        let (isInformed, memory) = state.withLock { ($0.isInformed, $0.memory) }
        return !isInformed || memory.mayHoldGates(among: keys)
    }

    /// Lets those go on that hang.
    func release() {
        let held = state.withLock { state in
            defer { state.held = Flight() }
            return state.held
        }
        held.land(.success(()))
    }

    /// Loses everything, as a server without a disk does when it is started again.
    func lose() {
        state.withLock { $0.memory = InMemoryRecoveryStore() }
    }

    func asked<Value>(_ question: (InMemoryRecoveryStore) async -> Value) async throws -> Value {
        let (mode, held) = state.withLock { state in
            state.questions += 1
            return (state.mode, state.held)
        }
        switch mode {
        case .answers: break
        case .throwsErrors: throw SecretError()
        case .slow(let delay): try await clock.sleep(until: clock.now.advanced(by: delay))
        case .hangs: try await held.value
        case .answersLate:
            let answer = await question(contents)
            try await held.value
            return answer
        case .swallowsAnswers:
            _ = await question(contents)
            try await held.value
            throw SharedState.StoreError("too late")
        }
        return await question(contents)
    }

    func closedGate(among keys: [SharedState.Gate.Key], at now: Timestamp) async throws -> SharedState.Gate? {
        // As a back end may: nothing is asked, nothing goes over the wire.
        if keys.isEmpty { return nil }
        return try await asked { await $0.closedGate(among: keys, at: now) }
    }

    func shutdown() async { state.withLock { $0.isClosed = true } }
}

/// A client's state in front of an unreliable store, and what it said about it.
struct SharedStateBench: Sendable {
    static let timeout: Duration = .milliseconds(250)

    let clock = ManualClock()
    let store: UnreliableStore
    let time: TimeSource
    let state: SharedState
    private let changes = Locked<[SharedState.Health]>([])

    init() {
        store = UnreliableStore(clock: clock)
        time = clock.timeSource()
        state = SharedState(store, timeout: Self.timeout, time: time) { [changes] change in
            changes.withLock { $0.append(change) }
        }
    }

    var health: [SharedState.Health] { changes.withLock { $0 } }
    var words: [String] { health.map { $0 == .available ? "available" : "degraded" } }
    var now: Timestamp { time.wallTime }

    func key(_ name: String = "a") -> SharedState.Gate.Key {
        SharedState.Gate.Key(scope: .account, origin: Origin(scheme: "https", authority: "api.example.com"), name: name)
    }

    func gate(_ name: String = "a", opensIn time: Duration = .seconds(60)) -> SharedState.Gate {
        SharedState.Gate(key: key(name), reason: .accountLocked, opensAt: now.advanced(by: time))
    }

    /// Lets the store fail, and one caller find out.
    func takeDown() async {
        store.become(.throwsErrors)
        _ = await state.closedGate(among: [key("probe")])
    }

    /// Lets the store answer again, and one caller find out.
    func bringUp() async {
        store.become(.answers)
        clock.advance(by: .seconds(1))
        await state.recover(on: clock)
    }
}

extension SharedState {
    /// Asks until the store answers again; the clock moves so slowly that nothing runs into the timeout.
    func recover(on clock: ManualClock) async {
        let key = SharedState.Gate.Key(scope: .app, origin: Origin(scheme: "https", authority: "recover.example"))
        while health != .available {
            clock.advance(by: .milliseconds(1))
            _ = await closedGate(among: [key])
            for _ in 0..<20 where health != .available { await Task.yield() }
        }
    }
}
