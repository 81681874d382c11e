import HTTPRecoveryTesting
import Testing

@testable import AuthRecovery

/// Every history of processes that share a refresh token, as far as a few faults allow.
@Suite struct RenewalExplorationTests {
    static let rotating = RefreshTokenGrant.Reuse.rotating(grace: .seconds(30))

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
        let exploration = await Exploration(from: FleetModel(FleetModel.Rules(reuse: reuse), faults))
        #expect(exploration.violations == [])
        #expect(exploration.count > 1000)
    }

    /// Two processes, of which each may be stopped until after the grace.
    @Test(.timeLimit(.minutes(30)), arguments: [rotating, .undeclared])
    func whoWasStoppedDoesNoHarm(reuse: RefreshTokenGrant.Reuse) async {
        let faults = FleetModel.Faults(ticks: 3)
        let exploration = await Exploration(from: FleetModel(FleetModel.Rules(reuse: reuse), faults, processes: 2))
        #expect(exploration.violations == [])
        #expect(exploration.count > 10_000)
    }

    /// A clock that is wrong by some seconds, of processes on machines of their own or on one, whose boot clock tells the
    /// time.
    struct Clock {
        var offset: Int64
        var isOneMachine = false
        var processes = 3
        var ticks = 1

        /// As much time passes at once as the grace lasts.
        func rules(_ reuse: RefreshTokenGrant.Reuse = RenewalExplorationTests.rotating) -> FleetModel.Rules {
            var rules = FleetModel.Rules(reuse: reuse, isOneMachine: isOneMachine)
            rules.tick = rules.grace
            return rules
        }
    }

    /// One process has taken a wrong time when it was started.
    ///
    /// Where that is further off than clocks may be, what was begun just now seems to lie ahead, or long ago: more cannot
    /// be told from it.
    @Test(
        .timeLimit(.minutes(30)),
        arguments: [
            Clock(offset: -2), Clock(offset: -20, isOneMachine: true), Clock(offset: -60, processes: 2),
            Clock(offset: 60, processes: 2),
        ]
    )
    func aClockThatIsWrongPresentsNothingTooLate(_ clock: Clock) async {
        let faults = FleetModel.Faults(ticks: clock.ticks)
        let model = FleetModel(clock.rules(), faults, processes: clock.processes, skew: clock.offset)
        let exploration = await Exploration(from: model)
        #expect(exploration.violations == [])
        #expect(exploration.count > 1000)
    }

    /// The clock of a process is set at any moment: it is started again with the wrong time or, by a little, goes on with it.
    ///
    /// Three processes, while no time passes but what a lease needs to run out, or two; with a `FUZZ_FACTOR` always three.
    @Test(
        .timeLimit(.minutes(30)),
        arguments: [
            Clock(offset: -2, ticks: 0), Clock(offset: -20, isOneMachine: true, ticks: 0),
            Clock(offset: -2, processes: 2),
        ]
    )
    func aClockThatIsSetPresentsNothingTooLate(_ clock: Clock) async {
        let faults = FleetModel.Faults(ticks: clock.ticks, steps: 1, offsets: [clock.offset])
        let processes = ByteMutator.rounds(1) > 1 ? 3 : clock.processes
        let exploration = await Exploration(from: FleetModel(clock.rules(), faults, processes: processes))
        #expect(exploration.violations == [])
        #expect(exploration.count > (clock.ticks == 0 ? 100 : 10_000))
    }

    /// Who takes the grace for longer than it is has no margin left, and a clock that is a little behind shows it.
    @Test(.timeLimit(.minutes(30)), arguments: [0, -2] as [Int64])
    func aMarginThatIsMissingIsFound(offset: Int64) async {
        let rules = Clock(offset: offset).rules(.rotating(grace: .seconds(33)))
        let model = FleetModel(rules, FleetModel.Faults(), processes: 2, skew: offset)
        let violations = await Exploration(from: model).violations
        #expect(violations.contains { $0.contains("was presented again after the grace") } == (offset < 0))
    }
}
