extension Recovery {
    /// Sends a request again before its answer has come, and takes whichever answer is good first.
    ///
    /// Only what may be repeated in any case is hedged: idempotent methods, or a caller who vouches for it, and a body that
    /// can be read again; never what spends something, and not for an `Idempotency-Key`, as many servers refuse a second
    /// request while the first with it is under way. Each hedge is charged to the retry budget and asks all admissions; one
    /// that may not go out at once does not go out. An answer that failed for a passing reason lets the next hedge out at
    /// once, and the one behind it a whole delay later. One that asks to wait, or not to come again, ends hedging, but no
    /// attempt that is under way; a time that is meant exactly (gRPC's pushback) is that of the next hedge. A success ends
    /// all, and so does a failure that repeating does not help. Losers are cancelled, and count for nothing.
    public struct Hedging: Sendable, Hashable {
        /// How long the answer is waited for before the next hedge; at least zero.
        public var delay: Duration
        /// The most attempts at the same time, the first included; those of the engine bound them too.
        ///
        /// Default: 2.
        public var maxAttempts: Int
        /// The quantile of the times of an origin's latest successful answers that takes the place of the delay once twenty are
        /// known, above 0 and below 1; nil keeps to the delay.
        ///
        /// Default: nil.
        public var quantile: Double?

        /// Why no hedging can work by it, as a sentence; nil if it can.
        public var problem: String? {
            guard let quantile, !(quantile > 0 && quantile < 1) else { return nil }
            return "a quantile is above 0 and below 1"
        }

        /// Creates a configuration; the parameters are the properties.
        public init(after delay: Duration, maxAttempts: Int = 2, quantile: Double? = nil) {
            self.delay = max(delay, .zero)
            self.maxAttempts = max(1, maxAttempts)
            self.quantile = quantile
        }
    }
}
