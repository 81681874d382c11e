extension Recovery {
    /// Sends a request again before its answer has come, and takes whichever answer is good first.
    ///
    /// Only what may be repeated in any case is hedged: idempotent methods, an `Idempotency-Key`, or a caller who vouches for
    /// it, and a body that can be read again; never what spends something. Each hedge is charged to the retry budget and
    /// asks all admissions; one that may not go out at once does not go out. An answer that failed for a passing reason lets
    /// the next hedge out at once; one that asks to wait, or that repeating does not help, ends hedging. Losers are
    /// cancelled, and count for nothing.
    public struct Hedging: Sendable, Hashable {
        /// How long the answer is waited for before the next hedge; at least zero.
        public var delay: Duration
        /// The most attempts at the same time, the first included; those of the engine bound them too.
        ///
        /// Default: 2.
        public var maxAttempts: Int
        /// The quantile of the latest successful answers' times that takes the place of the delay once twenty are
        /// known, above 0 and below 1; nil keeps to the delay.
        ///
        /// Default: nil.
        public var quantile: Double?

        /// Creates a configuration; the parameters are the properties.
        public init(after delay: Duration, maxAttempts: Int = 2, quantile: Double? = nil) {
            self.delay = max(delay, .zero)
            self.maxAttempts = max(1, maxAttempts)
            self.quantile = quantile
        }
    }
}
