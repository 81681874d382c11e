import HTTPRecovery

/// The stores and the time of one check.
final class StoreBench: Sendable {
    private struct State {
        /// The callers' time, if the store goes by it.
        var now = Timestamp(secondsSinceEpoch: 1_893_456_000)
        var stores: [any RecoveryStore] = []
    }

    /// How long something is granted that is to run out while the check looks on.
    static let short: Duration = .milliseconds(60)
    /// How long something is granted that is to last for the whole check.
    static let long: Duration = .seconds(3600)

    private let subject: StoreUnderTest
    private let prefix: String
    private let state = Locked(State())

    init(_ subject: StoreUnderTest) {
        self.subject = subject
        // A server may be shared with earlier runs.
        prefix = "conformance-\(UInt64.random(in: 0 ... .max))"
    }

    /// How much a time may differ after its way through the store.
    var tolerance: Duration { subject.clock == .callers ? .milliseconds(1) : .seconds(600) }

    /// The callers' time.
    var now: Timestamp {
        subject.clock == .callers ? state.withLock { $0.now } : .system()
    }

    /// Lets time pass: the callers', or by a sleep.
    func advance(by duration: Duration) async throws {
        if subject.clock == .callers {
            state.withLock { $0.now = $0.now.advanced(by: duration) }
        } else {
            try await Task.sleep(for: duration)
        }
    }

    /// Lets enough time pass for what was granted for ``short`` to have run out.
    func passShort() async throws {
        try await advance(by: Self.short + .milliseconds(40))
    }

    /// A store; of two in the same namespace each sees what the other writes.
    func makeStore(_ namespace: String = "main") async throws -> any RecoveryStore {
        let store = try await subject.makeStore("\(prefix)-\(namespace)")
        state.withLock { $0.stores.append(store) }
        return store
    }

    /// Replaces by garbage what is stored.
    func corrupt(_ namespace: String = "main") async throws {
        try await subject.corrupt?("\(prefix)-\(namespace)")
    }

    /// Closes all stores that were made.
    func shutdown() async {
        let stores = state.withLock { $0.stores }
        for store in stores { await store.shutdown() }
    }

    // MARK: Material

    /// A gate that opens after a time; nil for one that only a person can open.
    func gate(
        _ name: String,
        scope: Outcome.Scope = .endpoint,
        opensIn time: Duration?,
        code: String? = nil
    ) -> SharedState.Gate {
        SharedState.Gate(
            key: key(name, scope: scope),
            reason: .rateLimited,
            opensAt: time.map { now.advanced(by: $0) },
            code: code
        )
    }

    func key(_ name: String, scope: Outcome.Scope = .endpoint, host: String = "api.example.com") -> SharedState.Gate.Key
    {
        SharedState.Gate.Key(scope: scope, origin: Origin(scheme: "https", authority: host), name: name)
    }

    /// Runs the function many times at once.
    func concurrently<Value: Sendable>(
        _ count: Int = 64,
        _ body: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            for index in 0..<count { group.addTask { try await body(index) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    // MARK: Expectations

    /// Fails unless the condition holds.
    func expect(_ condition: Bool, _ expectation: @autoclosure () -> String) throws {
        if !condition { throw ConformanceFailure(expectation()) }
    }

    /// Fails unless the two are equal.
    func expect<Value: Equatable>(_ value: Value, is expected: Value, _ expectation: String) throws {
        try expect(value == expected, "\(expectation): expected \(expected), found \(value)")
    }

    /// Fails unless the gate opens at the time, as exactly as the store can tell.
    func expect(_ gate: SharedState.Gate?, opensAt expected: Timestamp?, _ expectation: String) throws {
        guard let gate else { throw ConformanceFailure("\(expectation): expected a closed gate, found none") }
        switch (gate.opensAt, expected) {
        case (nil, nil): return
        case (let found?, let expected?):
            let difference = found.elapsed(since: expected)
            try expect(
                difference <= tolerance && .zero - difference <= tolerance,
                "\(expectation): the gate opens \(difference) later than expected"
            )
        case (let found, nil):
            throw ConformanceFailure(
                "\(expectation): expected a gate that no time opens, found one that opens at \(String(describing: found))"
            )
        case (nil, _): throw ConformanceFailure("\(expectation): expected an opening time, found none")
        }
    }

    /// Fails unless a lease is granted.
    func granted(_ lease: SharedState.Lease?, _ expectation: String) throws -> SharedState.Lease {
        guard let lease else { throw ConformanceFailure("\(expectation): expected the lease, it was not granted") }
        return lease
    }

    /// Fails unless a record is there.
    func stored(_ record: SharedState.Record?, _ expectation: String) throws -> SharedState.Record {
        guard let record else { throw ConformanceFailure("\(expectation): expected a record, found none") }
        return record
    }
}
