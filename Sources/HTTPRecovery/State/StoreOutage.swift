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
}
