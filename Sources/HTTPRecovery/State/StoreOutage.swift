/// What the store has to learn about gates when it answers again, and why it does not.
struct StoreOutage: Sendable {
    let store: String
    var reason = ""
    /// The gates that were closed, and opened, meanwhile; one that is in both was opened first.
    var closed: [SharedState.Gate.Key: SharedState.Gate] = [:]
    var opened: Set<SharedState.Gate.Key> = []

    /// The most gates to remember.
    private static let limit = 65_536

    init(store: String) {
        self.store = store
    }

    /// Whether nothing has to be written.
    var isEmpty: Bool { closed.isEmpty && opened.isEmpty }

    /// The error for what only the store could have answered.
    var error: SharedState.StoreError {
        let detail = reason.isEmpty ? "" : " (\(reason))"
        return SharedState.StoreError("the store \(store) cannot be reached\(detail); try again when it can")
    }

    /// Notes that a gate was closed.
    mutating func close(_ gate: SharedState.Gate, at now: Timestamp) {
        if let present = closed[gate.key], !gate.opensLater(than: present) { return }
        if closed.count >= Self.limit { closed = closed.filter { $0.value.isClosed(at: now) } }
        if closed.count >= Self.limit, let any = closed.keys.first { closed[any] = nil }
        closed[gate.key] = gate
    }

    /// Notes that a gate was opened.
    mutating func open(_ key: SharedState.Gate.Key) {
        closed[key] = nil
        if opened.count < Self.limit { opened.insert(key) }
    }

    /// Notes all gates that are closed, as far as this process knows.
    mutating func close(_ known: [SharedState.Gate], at now: Timestamp) {
        for gate in known where gate.isClosed(at: now) { close(gate, at: now) }
    }

    /// What the store is told.
    enum Write: Sendable {
        case open(SharedState.Gate.Key)
        case close(SharedState.Gate)
    }

    /// What is to be written next: what was opened comes first.
    var next: Write? { opened.first.map(Write.open) ?? closed.values.first.map(Write.close) }

    /// Takes note that something is written.
    mutating func remove(_ written: Write) {
        switch written {
        case .open(let key): opened.remove(key)
        // Another may have closed it for longer meanwhile: that is for the next round.
        case .close(let gate): if closed[gate.key] == gate { closed[gate.key] = nil }
        }
    }
}
