public import HTTPRecovery

extension Runtime {
    /// A runtime whose time is a manual clock's and whose randomness is the seed's: a test of it is the same each time,
    /// and on each machine.
    ///
    /// - Parameters:
    ///   - clock: The clock; without one, time stands still.
    ///   - seed: Where the random numbers begin; 1 unless it is given.
    public static func manual(_ clock: ManualClock = ManualClock(), seed: UInt64 = 1) -> Runtime {
        Runtime(time: clock.timeSource(), random: Runtime.RandomSource(seed: seed))
    }
}
