extension RecoveringClient.Chaos {
    /// When something is done: by chance, or by the ordinal of an attempt.
    ///
    /// Attempts are counted from 1, those alone that it applies to and that come while chaos is enabled. A retry is an attempt
    /// of its own.
    public struct Occasion: Sendable, Hashable {
        private enum Rule: Hashable {
            case share(Double)
            case range(ClosedRange<Int>)
            case every(Int)
        }

        private let rule: Rule

        /// A share of the attempts, by the random numbers of the seed: 0 is none, 1 is all.
        public static func share(_ share: Double) -> Occasion { Occasion(rule: .share(share)) }

        /// Each attempt.
        public static let always = share(1)

        /// One attempt, counted from 1; never for less than 1.
        public static func number(_ ordinal: Int) -> Occasion { numbers(ordinal...ordinal) }

        /// The attempts of a range, counted from 1.
        public static func numbers(_ range: ClosedRange<Int>) -> Occasion { Occasion(rule: .range(range)) }

        /// The first attempts; never for less than 1.
        public static func first(_ count: Int) -> Occasion { numbers(min(1, count)...count) }

        /// All attempts but the first ones.
        public static func after(_ count: Int) -> Occasion { numbers(min(max(0, count), .max - 1) + 1 ... .max) }

        /// Each attempt whose ordinal is a multiple: for 5 the fifth, the tenth and so on; never for less than 1.
        public static func every(_ count: Int) -> Occasion { Occasion(rule: .every(count)) }

        func isDue(_ ordinal: Int, _ random: Runtime.RandomSource) -> Bool {
            switch rule {
            case .share(let share): random.unit() < share
            case .range(let range): range.contains(ordinal)
            case .every(let count): count > 0 && ordinal.isMultiple(of: count)
            }
        }
    }
}
