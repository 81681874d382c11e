import HTTPRecoveryTesting
import Testing

@testable import AuthRecovery

/// Every history of processes that share a refresh token, as far as a few faults allow.
@Suite struct RenewalExplorationTests {
    private static let rotating = RefreshTokenGrant.Reuse.rotating(grace: .seconds(30))

    /// No token is lost, none is presented twice where it must not be, and all come to an end.
    @Test(
        .timeLimit(.minutes(30)),
        arguments: [
            FleetModel.Faults(crashes: 1),
            FleetModel.Faults(losses: 1),
            FleetModel.Faults(oblivions: 1, expiries: 1),
        ],
        [rotating, .undeclared]
    )
    func threeProcessesLoseNothing(faults: FleetModel.Faults, reuse: RefreshTokenGrant.Reuse) async {
        let exploration = await FleetExploration(from: FleetModel(FleetModel.Rules(reuse: reuse), faults))
        #expect(exploration.violations == [])
        #expect(exploration.count > 1000)
    }

    /// Two processes, of which each may be stopped until after the grace.
    @Test(.timeLimit(.minutes(30)), arguments: [rotating, .undeclared])
    func whoWasStoppedDoesNoHarm(reuse: RefreshTokenGrant.Reuse) async {
        let faults = FleetModel.Faults(ticks: 3)
        let exploration = await FleetExploration(from: FleetModel(FleetModel.Rules(reuse: reuse), faults, processes: 2))
        #expect(exploration.violations == [])
        #expect(exploration.count > 10_000)
    }

    /// Clocks of several machines that are a little wrong, or far behind; of one machine, wrong by anything.
    @Test(.timeLimit(.minutes(30)), arguments: [(2, false), (60, false), (20, true)] as [(Int64, Bool)])
    func aClockThatIsSetPresentsNothingTooLate(seconds: Int64, isOneMachine: Bool) async {
        // A crash besides, with a `FUZZ_FACTOR`.
        let crashes = ByteMutator.rounds(1) > 1 ? 1 : 0
        let faults = FleetModel.Faults(crashes: crashes, ticks: 2, steps: [-seconds])
        let rules = FleetModel.Rules(reuse: Self.rotating, isOneMachine: isOneMachine)
        let exploration = await FleetExploration(from: FleetModel(rules, faults, processes: 2))
        #expect(exploration.violations == [])
        #expect(exploration.count > 1000)
    }
}
