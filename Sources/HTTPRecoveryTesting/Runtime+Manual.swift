public import HTTPRecovery

extension Runtime {
    /// A runtime whose time is a manual clock's and whose randomness is the seed's: a test of it is the same each time,
    /// and on each machine.
    ///
    /// - Parameters:
    ///   - clock: The clock; without one, time stands still.
    ///   - seed: Where the random numbers begin; 1 unless it is given.
    ///   - store: What clients share; memory of its own unless it is given.
    ///   - classifier: What answers mean; what HTTP says unless it is given.
    public static func manual(
        _ clock: ManualClock = ManualClock(),
        seed: UInt64 = 1,
        store: any RecoveryStore = InMemoryRecoveryStore(),
        classifier: any OutcomeClassifier = HTTPClassifier()
    ) -> Runtime {
        Runtime(
            time: clock.timeSource(),
            random: Runtime.RandomSource(seed: seed),
            store: store,
            classifier: classifier
        )
    }
}
