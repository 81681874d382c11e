extension Runtime {
    /// Where the library takes randomness from; seeded, it repeats itself.
    public final class RandomSource: Sendable {
        private let generator: Locked<SplitMix64?>

        /// Creates a source that draws from the system's generator.
        public init() {
            self.generator = Locked(nil)
        }

        /// Creates a source whose numbers depend on the seed alone.
        public init(seed: UInt64) {
            self.generator = Locked(SplitMix64(seed: seed))
        }

        /// A new number in `0 ..< 1`.
        public func unit() -> Double {
            Double(bits() >> 11) * 0x1p-53
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
