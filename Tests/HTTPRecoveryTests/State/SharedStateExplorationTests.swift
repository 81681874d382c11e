import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// Every order of what three processes may ask of one store while it answers, loses answers, forgets and is found again.
@Suite struct SharedStateExplorationTests {
    /// Nobody goes through a gate that is closed, as far as anybody can know, and none stays closed for longer than its
    /// time.
    @Test(.timeLimit(.minutes(30)), arguments: [(3, 1), (2, 2)])
    func noGateIsPassedEarly(depth: Int, faults: Int) async {
        await explore(depth: depth, faults: faults) { fleet in
            switch fleet.choices.choose(of: 8) {
            case let p where p < 3: await fleet.attempt(p)
            case let p where p < 5: await fleet.close(p - 3)
            case 5: fleet.pass(.seconds(6))
            case 6: fleet.crash(0)
            default: fleet.restartStoreEmpty()
            }
        }
    }

    /// No two hold a lease of the store at once, and none is held for longer than its time.
    @Test(.timeLimit(.minutes(30)), arguments: [(3, 1), (2, 2)])
    func noLeaseIsHeldByTwo(depth: Int, faults: Int) async {
        await explore(depth: depth, faults: faults) { fleet in
            switch fleet.choices.choose(of: 6) {
            case 0: await fleet.acquire(fleet.choices.choose(of: 3))
            case 1: await fleet.extend(fleet.choices.choose(of: 2))
            case 2: await fleet.release(fleet.choices.choose(of: 2))
            case 3: fleet.pass(.seconds(6))
            case 4: fleet.crash(0)
            default: fleet.pass(.seconds(1))
            }
        }
    }

    private func explore(depth: Int, faults: Int, _ step: (ExploredFleet) async -> Void) async {
        let choices = Choices()
        var histories = 0
        repeat {
            let fleet = ExploredFleet(choices, faults: faults)
            for _ in 0..<depth { await step(fleet) }
            await fleet.settle()
            #expect(fleet.violations == [], "\(fleet.log.joined(separator: ", "))")
            if !fleet.violations.isEmpty { return }
            histories += 1
        } while choices.advance()
        #expect(histories > 100)
    }
}
