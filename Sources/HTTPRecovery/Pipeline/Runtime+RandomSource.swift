extension Runtime {
    /// Where the library takes randomness from; seeded, it repeats itself.
    public final class RandomSource: Sendable {
        private let state: Locked<UInt64?>

        /// Creates a source that draws from the system's generator.
        public init() {
            self.state = Locked(nil)
        }

        /// Creates a source whose numbers depend on the seed alone.
        public init(seed: UInt64) {
            self.state = Locked(seed)
        }

        /// A new number in `0 ..< 1`.
        public func unit() -> Double {
            Double(bits() >> 11) * 0x1p-53
        }

        /// 64 new random bits.
        public func bits() -> UInt64 {
            let seeded: UInt64? = state.withLock { state in
                guard let seed = state else { return nil }
                // SplitMix64 (Steele, Lea, Flood 2014): one addition and a mix per number.
                let next = seed &+ 0x9e37_79b9_7f4a_7c15
                state = next
                var mixed = next
                mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
                mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
                return mixed ^ (mixed >> 31)
            }
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
