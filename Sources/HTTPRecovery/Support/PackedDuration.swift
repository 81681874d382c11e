/// A duration, or none, in one word: for what every layer and every waiting call copies.
///
/// It is exact to the nanosecond; what is longer than 292 years counts as ``Duration/longest``.
struct PackedDuration: Sendable {
    private static let nothing = Int64.min
    private var nanoseconds = PackedDuration.nothing

    init() {}

    init(_ duration: Duration?) {
        guard let duration else { return }
        nanoseconds = Self.nanoseconds(of: duration.attoseconds)
        // The least of all means none.
        nanoseconds = max(nanoseconds, Self.nothing + 1)
    }

    /// Whole nanoseconds, as clocks tell them, are found by a multiplication: each call asks twice, and a division of 128 bits
    /// takes as long as a lock.
    ///
    /// 10^9 is 2^9 times 5^9, and the factor is what makes 5^9 one, modulo 2^64.
    private static func nanoseconds(of attoseconds: Int128) -> Int64 {
        let whole = Int64(truncatingIfNeeded: attoseconds >> 9) &* Int64(bitPattern: 0x8e47_ce42_3a2e_9c6d)
        if Int128(whole) * 1_000_000_000 == attoseconds { return whole }
        return Int64(clamping: attoseconds / 1_000_000_000)
    }

    /// Nothing.
    static let none = PackedDuration()

    /// Whether there is no duration.
    var isNone: Bool { nanoseconds == Self.nothing }

    /// Whether it stands for no bound at all.
    var isLongest: Bool { nanoseconds == .max }

    /// The lesser of two bounds; none bounds nothing.
    static func least(_ first: PackedDuration, _ second: PackedDuration) -> PackedDuration {
        if first.isNone { return second }
        return second.isNone || first.nanoseconds < second.nanoseconds ? first : second
    }

    /// The sum, saturated; both have to be there.
    static func + (first: PackedDuration, second: PackedDuration) -> PackedDuration {
        PackedDuration(nanoseconds: first.nanoseconds.saturatingAdding(second.nanoseconds))
    }

    /// How much the first is more than the second, at least nothing at all; both have to be there.
    static func - (first: PackedDuration, second: PackedDuration) -> PackedDuration {
        // What is longest stays so.
        if first.nanoseconds == .max { return first }
        return PackedDuration(nanoseconds: max(0, first.nanoseconds.saturatingSubtracting(second.nanoseconds)))
    }

    private init(nanoseconds: Int64) {
        self.nanoseconds = max(nanoseconds, Self.nothing + 1)
    }

    /// Whether it is nothing or less.
    var isOver: Bool { !isNone && nanoseconds <= 0 }

    /// The duration; nil for none.
    var value: Duration? {
        switch nanoseconds {
        case Self.nothing: nil
        case .max: .longest
        default: .nanoseconds(nanoseconds)
        }
    }
}
