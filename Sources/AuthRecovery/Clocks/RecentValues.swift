import HTTPRecovery

/// A value an origin, as it was heard last, of a bounded number of origins.
struct RecentValues<Value: Sendable>: Sendable {
    private let capacity: Int
    private var values: [Origin: (value: Value, serial: UInt64)] = [:]
    private var serial: UInt64 = 0

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var count: Int { values.count }

    subscript(origin: Origin) -> Value? { values[origin]?.value }

    /// Keeps the value; if there are too many, the origin that has been silent longest goes.
    mutating func keep(_ value: Value, for origin: Origin) {
        serial += 1
        values[origin] = (value, serial)
        guard values.count > capacity else { return }
        if let oldest = values.min(by: { $0.value.serial < $1.value.serial }) { values[oldest.key] = nil }
    }
}
