import HTTPRecoveryTesting
import Testing

/// Every history of processes that share a gate or a lease, however long it is and whoever does what in it, as far as a few
/// faults allow.
///
/// The states are values, and each is visited once. Three processes; where that takes long, two without a `FUZZ_FACTOR`.
@Suite struct SharingExplorationTests {
    typealias Faults = SharingModel.Faults

    static let isThorough = ByteMutator.rounds(1) > 1

    /// One fault of each kind; processes are killed any number of times.
    static let faults = [
        Faults(crashes: .max), Faults(losses: 1), Faults(oblivions: 1), Faults(stops: 1), Faults(steps: 1),
    ]

    /// Faults that come together.
    static let meetings = [
        Faults(crashes: 1, losses: 1), Faults(crashes: 1, stops: 1), Faults(losses: 1, oblivions: 1),
        Faults(losses: 1, steps: 1), Faults(oblivions: 1, steps: 1), Faults(losses: 2),
    ]

    /// No two hold a lease of the store at once, none is given a fence twice or takes what another holds, and none is held
    /// for longer than its time.
    @Test(.timeLimit(.minutes(60)), arguments: faults + meetings)
    func noLeaseIsHeldByTwo(faults: Faults) async {
        await explore(.leases, faults, processes: Self.faults.contains(faults) || Self.isThorough ? 3 : 2)
    }

    /// Nobody goes through a gate that is closed, as far as anybody can know, and none stays closed for longer than its time.
    @Test(.timeLimit(.minutes(60)), arguments: faults + meetings)
    func noGateIsPassedEarly(faults: Faults) async {
        let processes = Self.faults.contains(faults) || Self.isThorough ? 3 : 2
        await explore(.gates(areOpened: false), faults, processes: processes)
    }

    /// The same while anybody opens it; what is closed after that stays closed.
    @Test(.timeLimit(.minutes(60)), arguments: faults)
    func whatIsClosedAfterAnOpeningStaysClosed(faults: Faults) async {
        let processes = faults.crashes > 0 || faults.losses > 0 || Self.isThorough ? 3 : 2
        await explore(.gates(areOpened: true), faults, processes: processes)
    }

    private func explore(_ topic: SharingModel.Topic, _ faults: Faults, processes: Int) async {
        let exploration = await Exploration(from: SharingModel(topic, faults, processes: processes))
        #expect(exploration.violations == [])
        #expect(exploration.count > 500)
    }
}
