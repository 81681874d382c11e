/// What every `RecoveryStore` has to do, as a list of checks.
///
/// A check throws ``ConformanceFailure``, so it fits any test framework:
///
/// ```swift
/// static let mine = StoreUnderTest(clock: .callers, closes: false) { namespace in TableStore(table: table(namespace))
/// }
///
/// @Test(arguments: RecoveryStoreConformance.checks(for: mine))
/// func conforms(_ check: RecoveryStoreConformance.Check) async throws {
///     try await check(Self.mine)
/// }
/// ```
///
/// One list serves stores that go by the time of their callers and stores whose back end has a clock. Which of the two
/// a store is decides one check each way: whether hosts whose clocks differ agree is asked when the back end keeps the
/// time (the hosts of a fleet); the processes of one machine share its clock, and there what takes hours is checked
/// instead.
public enum RecoveryStoreConformance {
    /// One thing that a store has to do.
    public struct Check: Sendable, CustomStringConvertible {
        /// What the store does, as a sentence.
        public let name: String
        /// What a store must be able to do for the check to apply; nil if it applies to every store.
        public let ability: StoreUnderTest.Ability?

        private let body: @Sendable (StoreBench) async throws -> Void

        init(
            _ name: String,
            needs ability: StoreUnderTest.Ability? = nil,
            _ body: @escaping @Sendable (StoreBench) async throws -> Void
        ) {
            self.name = name
            self.ability = ability
            self.body = body
        }

        /// The check's name.
        public var description: String { name }

        /// Checks the store.
        ///
        /// - Throws: ``ConformanceFailure`` when the store does something else, or when the check does not apply to it;
        ///   whatever the store throws.
        public func callAsFunction(_ subject: StoreUnderTest) async throws {
            if let ability, !subject.abilities.contains(ability) {
                throw ConformanceFailure("the check “\(name)” is for stores of which “\(ability)” is true")
            }
            let bench = StoreBench(subject)
            do {
                try await body(bench)
            } catch {
                await bench.shutdown()
                throw error
            }
            await bench.shutdown()
        }
    }

    /// All checks.
    public static let checks: [Check] =
        gateChecks + queueChecks + leaseChecks + budgetChecks + recordChecks + sharingChecks

    /// The checks that apply to a store.
    public static func checks(for subject: StoreUnderTest) -> [Check] {
        checks.filter { check in check.ability.map(subject.abilities.contains) ?? true }
    }
}
