extension Runtime {
    /// Where the library takes randomness from; seeded, it repeats itself.
    public final class RandomSource: Sendable {
        private let generator: Locked<SplitMix64?>
        /// The numbers that backoffs are given, the last one again and again; nil if they are random.
        private let script: Locked<ArraySlice<Double>>?

        /// Creates a source that draws from the system's generator.
        public init() {
            self.generator = Locked(nil)
            self.script = nil
        }

        /// Creates a source whose numbers depend on the seed alone.
        public init(seed: UInt64) {
            self.generator = Locked(SplitMix64(seed: seed))
            self.script = nil
        }

        /// Creates a source that gives these numbers to backoffs, the last one again and again, and spreads nothing.
        package init(backoffs script: [Double]) {
            self.generator = Locked(SplitMix64(seed: 1))
            self.script = Locked(script.isEmpty ? [0.5] : script[...])
        }

        /// A new number in `0 ..< 1`.
        public func unit() -> Double {
            if let script {
                return script.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? 0.5 }
            }
            return Double(bits() >> 11) * 0x1p-53
        }

        /// A new number in `0 ..< 1` for keeping those apart who have waited for the same.
        func spread() -> Double {
            script == nil ? unit() : 0
        }

        /// 64 new random bits.
        public func bits() -> UInt64 {
            let seeded = generator.withLock { $0?.next() }
            if let seeded { return seeded }
            var system = SystemRandomNumberGenerator()
            return system.next()
        }

        /// So many random bytes.
        package func bytes(_ count: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            while bytes.count < count {
                let word = bits()
                bytes += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
            }
            return Array(bytes.prefix(count))
        }
    }
}
