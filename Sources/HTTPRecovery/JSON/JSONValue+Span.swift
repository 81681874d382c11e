extension JSONValue {
    /// A time as seconds from another.
    static func span(_ duration: Duration) -> JSONValue { .number(Number(duration.inSeconds)) }

    /// A time that must not be taken for shorter than it is, as seconds, in whole milliseconds.
    static func wait(_ duration: Duration) -> JSONValue {
        .number(Number(Double(duration.roundedUp(to: .milliseconds(1))) / 1000))
    }

    /// A finite number.
    static func finite(_ value: Double) -> JSONValue { .number(Number(value)) }

    /// The seconds that a number states.
    var span: Duration? { number?.seconds }

    /// The number, if it is finite and within a billion on either side of zero.
    var moderate: Double? {
        guard let value = number?.double, value.isFinite, abs(value) <= 1e9 else { return nil }
        return value
    }

    /// The whole number from 0 to a billion.
    var count: Int? {
        guard let value = moderate, value >= 0 else { return nil }
        return Int(value)
    }
}
