/// A duration, or none, in one word: for what every layer and every waiting call copies.
///
/// It is exact to the nanosecond; what is longer than 292 years counts as ``Duration/longest``.
struct PackedDuration: Sendable {
    private static let nothing = Int64.min
    private var nanoseconds = PackedDuration.nothing

    init() {}

    init(_ duration: Duration?) {
        guard let duration else { return }
        nanoseconds = Int64(clamping: duration.attoseconds / 1_000_000_000)
        // The least of all means none.
        nanoseconds = max(nanoseconds, Self.nothing + 1)
    }

    /// The duration; nil for none.
    var value: Duration? {
        switch nanoseconds {
        case Self.nothing: nil
        case .max: .longest
        default: .nanoseconds(nanoseconds)
        }
    }
}
