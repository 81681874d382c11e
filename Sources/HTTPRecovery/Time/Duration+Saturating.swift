extension Duration {
    /// The longest time the library calculates with: about 292 million years.
    ///
    /// `Duration` traps on overflow. Everything that comes from outside is clamped to this bound, far enough from the
    /// type's own limit that a handful of additions cannot reach it.
    public static let longest: Duration = .seconds(Int64.max / 1000)

    /// The sum, saturated at plus or minus ``longest``.
    public func saturatingAdding(_ other: Duration) -> Duration {
        Duration(attoseconds: Self.bounded(Self.bounded(attoseconds) + Self.bounded(other.attoseconds)))
    }

    /// The difference, saturated at plus or minus ``longest``.
    public func saturatingSubtracting(_ other: Duration) -> Duration {
        Duration(attoseconds: Self.bounded(Self.bounded(attoseconds) - Self.bounded(other.attoseconds)))
    }

    /// The duration in seconds as a floating-point number.
    public var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    /// Creates a duration from a floating-point number of seconds; NaN is zero, infinities are ``longest``.
    public static func saturating(seconds: Double) -> Duration {
        if seconds.isNaN { return .zero }
        let bound = Double(Int64.max / 1000)
        if seconds >= bound { return .longest }
        if seconds <= -bound { return .zero - .longest }
        return .seconds(seconds)
    }

    /// The duration multiplied by `factor`, saturated; a NaN factor gives zero.
    public func scaled(by factor: Double) -> Duration {
        .saturating(seconds: inSeconds * factor)
    }

    /// Within ``longest``; by the number, since this is done several times in each call.
    private static func bounded(_ attoseconds: Int128) -> Int128 {
        let most = Int128(Int64.max / 1000) * 1_000_000_000_000_000_000
        return attoseconds > most ? most : attoseconds < -most ? -most : attoseconds
    }
}
