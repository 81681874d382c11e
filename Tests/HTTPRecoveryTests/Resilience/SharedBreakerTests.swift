import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// Breakers of several processes over one store.
@Suite struct SharedBreakerTests {
    /// A process: its client, its breaker, its transport.
    private struct Process {
        let bench: Bench
        let breaker: Recovery.CircuitBreaker

        init(_ clock: ManualClock, _ store: any RecoveryStore, isShared: Bool = true) {
            let breaker = Recovery.CircuitBreaker(.consecutive(2, breakDuration: .seconds(10)), isShared: isShared)
            self.breaker = breaker
            bench = Bench(then: .status(503), clock: clock, store: store) {
                Recovery(maxAttempts: 1, admissions: [breaker])
            }
        }

        /// The word for what a call comes to.
        func call() async throws -> String {
            do {
                return "\(try await bench.client.send(Bench.get).status.code)"
            } catch let error as RecoveryError {
                let left = error.retryAfter.map { " \(Int($0.inSeconds))" } ?? ""
                return error.reason == .breakerOpen ? "breaker_open\(left)" : "\(error.outcome.status ?? 0)"
            }
        }
    }

    private let clock = ManualClock()
    private let store = InMemoryRecoveryStore()

    @Test func whatOneHasFoundBrokenAllLeaveAlone() async throws {
        let processes = [Process(clock, store), Process(clock, store), Process(clock, store, isShared: false)]
        #expect(try await [processes[0].call(), processes[0].call()] == ["503", "503"])
        clock.advance(by: .seconds(4))
        #expect(try await processes[0].call() == "breaker_open 6")
        #expect(try await processes[1].call() == "breaker_open 6")
        #expect(processes[1].bench.transport.received.isEmpty)
        // One that shares nothing finds out by itself.
        #expect(try await processes[2].call() == "503")
        // Another server is another matter.
        var request = Bench.get
        request.authority = "other.example.com"
        processes[1].bench.transport.append([.status(200)])
        #expect(try await processes[1].bench.client.send(request).status == .ok)
    }

    @Test func oneProbesAtATimeAndEachClosesByItsOwn() async throws {
        let (first, second) = (Process(clock, store), Process(clock, store))
        _ = try await [first.call(), first.call()]
        #expect(try await second.call() == "breaker_open 10")
        clock.advance(by: .seconds(10))
        // While one probes, the other does not.
        first.bench.transport.append([.hang])
        let probe = Task { try await first.bench.client.send(Bench.get) }
        await first.bench.transport.waitForRequests(3)
        #expect(try await second.call() == "breaker_open")
        probe.cancel()
        await #expect(throws: CancellationError.self) { try await probe.value }
        // The probe was given back: now the other one's turn has come.
        for process in [second, first] {
            process.bench.transport.append([.status(200)])
            #expect(try await process.call() == "200")
            #expect(process.breaker.state(for: PlannedAttempt(Bench.get)) == .closed)
        }
    }

    @Test func aProbeThatFailsOpensAllAgain() async throws {
        let (first, second) = (Process(clock, store), Process(clock, store))
        _ = try await [first.call(), first.call()]
        clock.advance(by: .seconds(10))
        #expect(try await first.call() == "503")
        #expect(try await [first.call(), second.call()] == ["breaker_open 10", "breaker_open 10"])
        #expect(second.bench.transport.received.isEmpty)
    }

    @Test func aProcessThatDiesWithAProbeBlocksNobodyForLong() async throws {
        let (first, second) = (Process(clock, store), Process(clock, store))
        _ = try await [first.call(), first.call()]
        _ = try await second.call()
        clock.advance(by: .seconds(10))
        first.bench.transport.append([.hang])
        let probe = Task { try await first.bench.client.send(Bench.get) }
        await first.bench.transport.waitForRequests(3)
        #expect(try await second.call() == "breaker_open")
        clock.advance(by: .seconds(10))
        second.bench.transport.append([.status(200)])
        #expect(try await second.call() == "200")
        probe.cancel()
        _ = try? await probe.value
    }

    @Test func whoIsCancelledBeforeItsProbeIsNotRefused() async throws {
        let unreliable = UnreliableStore(clock: clock)
        let process = Process(clock, unreliable)
        _ = try await [process.call(), process.call()]
        clock.advance(by: .seconds(10))
        unreliable.become(.hangs)
        let asked = unreliable.questions
        let task = Task { try await process.bench.client.send(Bench.get) }
        while unreliable.questions == asked { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        unreliable.become(.answers)
        unreliable.release()
        process.bench.transport.append([.status(200)])
        #expect(try await process.call() == "200")
    }

    @Test func aKeyOfOnesOwnStaysInTheProcess() async throws {
        let breaker = Recovery.CircuitBreaker(.consecutive(1), key: { _ in "hunter2" }, isShared: true)
        let bench = Bench(then: .status(503), clock: clock, store: store) {
            Recovery(maxAttempts: 1, admissions: [breaker])
        }
        _ = try? await bench.client.send(Bench.get)
        let names = bench.client.runtime.state.ownGates.map(\.key.name).filter { $0.hasPrefix("breaker ") }
        #expect(names.count == 1 && names.allSatisfy { !$0.contains("hunter2") })
        let refusal = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(refusal?.reason == .breakerOpen)
    }

    @Test func withoutItsStoreEachGoesByItself() async throws {
        let unreliable = UnreliableStore(clock: clock)
        let (first, second) = (Process(clock, unreliable), Process(clock, unreliable))
        unreliable.become(.throwsErrors)
        #expect(try await [first.call(), first.call(), first.call()] == ["503", "503", "breaker_open 10"])
        #expect(try await second.call() == "503")
        clock.advance(by: .seconds(10))
        first.bench.transport.append([.status(200)])
        #expect(try await first.call() == "200")
    }
}
