/// Keeps a value aside, or none, so that the one who has it stays small.
///
/// What is rare and large stands in one: every layer and every waiting call copies what holds it. It is an array of at
/// most one, as copies of that are made by a retain, which the empty one does not even need; copies of an optional object
/// are made by slower means.
struct BoxedIfPresent<Value: Sendable>: Sendable {
    private var values: [Value]

    /// Keeps nothing.
    init() {
        values = []
    }

    /// Keeps the value; nothing if it is nil.
    init(_ value: Value?) {
        values = value.map { [$0] } ?? []
    }

    /// Whether nothing is kept.
    var isEmpty: Bool { values.isEmpty }

    /// What is kept; only if something is.
    var value: Value {
        @inline(__always) get { values[0] }
    }

    /// What is kept, as an optional.
    var optional: Value? { values.first }
}

extension BoxedIfPresent: Equatable where Value: Equatable {}
extension BoxedIfPresent: Hashable where Value: Hashable {}
