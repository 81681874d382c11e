import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// A store that goes and comes back: what callers notice.
@Suite(.timeLimit(.minutes(30))) struct SharedStateOutageTests {
    enum Call: String, CaseIterable {
        case closedGate, close, open, joinQueue, acquireLease, extendLease, releaseLease, settle, record, replaceRecord

        func perform(on bench: SharedStateBench) async {
            let state = bench.state
            switch self {
            case .closedGate: _ = await state.closedGate(among: [bench.key()])
            case .close: await state.close(bench.gate())
            case .open: await state.open(bench.key())
            case .joinQueue: _ = await state.joinQueue(at: bench.key())
            case .acquireLease: _ = await state.acquireLease("a", for: .seconds(30))
            case .extendLease: _ = await state.extendLease(SharedState.Lease(name: "a", fence: 1), for: .seconds(30))
            case .releaseLease: await state.releaseLease(SharedState.Lease(name: "a", fence: 1))
            case .settle: _ = await state.settle(SharedState.BudgetEntry(key: "a", limit: 1, initial: 1))
            case .record: _ = try? await state.record("a")
            case .replaceRecord: _ = try? await state.replaceRecord("a", version: nil, with: [1])
            }
        }
    }

    @Test(arguments: Call.allCases)
    func noCallWaitsLongerThanTheTimeout(_ call: Call) async {
        let bench = SharedStateBench()
        bench.store.become(.hangs)
        async let first: Void = call.perform(on: bench)
        await bench.clock.waitForSleepers(1)
        // The caller has patience before its question is asked, which is another task's.
        while bench.store.questions == 0 { await Task.yield() }
        bench.clock.advance(by: SharedStateBench.timeout)
        await first
        #expect(bench.words == ["degraded"])
        // The next ones do not wait at all: nobody moves the clock.
        for next in Call.allCases { await next.perform(on: bench) }
        #expect(bench.store.questions == 1)
        bench.store.release()
    }

    @Test(arguments: Call.allCases)
    func aCallThatFindsTheStoreBackWaitsNoLongerEither(_ call: Call) async {
        let bench = SharedStateBench()
        await bench.takeDown()
        for index in 0..<50 { await bench.state.close(bench.gate("\(index)")) }
        // Fifty gates to write, 100 ms each.
        bench.store.become(.slow(.milliseconds(100)))
        bench.clock.advance(by: .seconds(1))
        let caller = Task { await call.perform(on: bench) }
        // The caller's patience, the question's, and the store.
        await bench.clock.waitForSleepers(3)
        bench.clock.advance(by: SharedStateBench.timeout / 2)
        // The clock stands still, and the store has 50 gates before it.
        await caller.value
        #expect(bench.state.health != .available)
        // Writing goes on in the background.
        bench.store.become(.answers)
        await bench.state.recover(on: bench.clock)
        for index in 0..<50 {
            #expect(await bench.store.contents.closedGate(among: [bench.key("\(index)")], at: bench.now) != nil)
        }
        #expect(bench.words == ["degraded", "available"])
    }

    @Test func aStoreThatIsSlowButInTimeIsWaitedFor() async {
        let bench = SharedStateBench()
        await bench.store.contents.close(bench.gate(), at: bench.now)
        bench.store.become(.slow(.milliseconds(200)))
        async let gate = bench.state.closedGate(among: [bench.key()])
        // The caller's timer and the store.
        await bench.clock.waitForSleepers(2)
        bench.clock.advance(by: .milliseconds(200))
        #expect(await gate?.key == bench.key())
        #expect(bench.words.isEmpty)
    }

    @Test(arguments: [UnreliableStore.Mode.throwsErrors, .hangs, .slow(.seconds(5))])
    func twoHundredCallersWhileItDiesAreWarnedOnce(_ mode: UnreliableStore.Mode) async throws {
        let clock = ManualClock()
        let store = UnreliableStore(clock: clock)
        let events = RecoveryEvent.Hub()
        let recorder = EventRecorder(events)
        let runtime = Runtime(time: clock.timeSource(), store: store, events: events)
        let key = SharedState.Gate.Key(scope: .app, origin: Origin(scheme: "https", authority: "a.example"))
        store.become(mode)
        let driver = Task {
            while !Task.isCancelled { await clock.advanceToNextDeadline() }
        }
        await withTaskGroup { group in
            for index in 0..<200 {
                group.addTask {
                    _ = await runtime.state.closedGate(among: [key])
                    _ = await runtime.state.acquireLease("\(index)", for: .seconds(30))
                    _ = try? await runtime.state.record("\(index)")
                }
            }
        }
        driver.cancel()
        await driver.value
        store.release()
        #expect(recorder.words.first == "store degraded unreliable")
        if case .throwsErrors = mode { #expect(recorder.words.count == 1) }
        store.become(.answers)
        await runtime.state.recover(on: clock)
        #expect(recorder.words.last == "store available")
        #expect(recorder.words.count == 2)
        #expect(recorder.events.allSatisfy { $0.call == 0 })
    }

    @Test func aStoreThatStaysAwayIsTriedOnceASecondAndNotTalkedAbout() async {
        let bench = SharedStateBench()
        await bench.takeDown()
        let before = bench.store.questions
        for _ in 0..<10 {
            for _ in 0..<20 { _ = await bench.state.closedGate(among: [bench.key()]) }
            bench.clock.advance(by: .milliseconds(500))
        }
        #expect(bench.store.questions - before == 4)
        #expect(bench.words == ["degraded"])
    }

    @Test func whatAnErrorOfTheBackEndSaysIsNotRepeated() async {
        let bench = SharedStateBench()
        await bench.takeDown()
        #expect(bench.health == [.degraded(store: "unreliable", reason: "SecretError")])
        do {
            _ = try await bench.state.record("never read")
            Issue.record("expected an error")
        } catch {
            #expect("\(error)".contains("unreliable"))
            #expect(!"\(error)".contains("hunter2"))
        }
    }

    // MARK: What works meanwhile

    @Test func whatAStoreKnowsIsOpenIsNotAskedFor() async {
        let bench = SharedStateBench()
        let before = bench.store.questions
        #expect(await bench.state.closedGate(among: [bench.key("a")]) == nil)
        #expect(bench.store.questions == before + 1, "a store that knows nothing is asked")
        bench.store.inform()
        #expect(await bench.state.closedGate(among: [bench.key("a")]) == nil)
        #expect(bench.store.questions == before + 1)
        // What this process has closed, and another opened, is asked for as long as it remembers it.
        await bench.state.close(bench.gate("a", opensIn: .seconds(60)))
        #expect(await bench.state.closedGate(among: [bench.key("a")]) != nil)
        await bench.store.contents.open(bench.key("a"))
        #expect(await bench.state.closedGate(among: [bench.key("a")]) == nil)
        let asked = bench.store.questions
        #expect(await bench.state.closedGate(among: [bench.key("a")]) == nil)
        #expect(bench.store.questions == asked)
    }

    @Test func gatesHoldWithinTheProcess() async {
        let bench = SharedStateBench()
        await bench.takeDown()
        await bench.state.close(bench.gate("a", opensIn: .seconds(60)))
        await bench.state.close(bench.gate("b", opensIn: .seconds(90)))
        #expect(await bench.state.closedGate(among: [bench.key("a"), bench.key("b")])?.key.name == "b")
        #expect(await bench.state.joinQueue(at: bench.key("b")) == 0)
        #expect(await bench.state.joinQueue(at: bench.key("b")) == 1)
        await bench.state.open(bench.key("b"))
        #expect(await bench.state.closedGate(among: [bench.key("a"), bench.key("b")])?.key.name == "a")
        #expect(bench.state.mayHoldGates)
    }

    @Test func leasesHoldWithinTheProcess() async throws {
        let bench = SharedStateBench()
        let before = try #require(await bench.state.acquireLease("before", for: .seconds(30)))
        await bench.takeDown()
        #expect(await bench.state.acquireLease("before", for: .seconds(30)) == nil, "held since before the outage")
        #expect(await bench.state.extendLease(before, for: .seconds(30)))
        let lease = try #require(await bench.state.acquireLease("a", for: .seconds(30)))
        #expect(lease.fence > before.fence)
        #expect(await bench.state.acquireLease("a", for: .seconds(30)) == nil)
        #expect(await bench.state.extendLease(lease, for: .seconds(10)))
        await bench.state.releaseLease(lease)
        #expect(await !bench.state.extendLease(lease, for: .seconds(10)))
        #expect(await bench.state.acquireLease("a", for: .seconds(10)) != nil)
    }

    @Test func aLeaseRunsOutDuringAnOutageToo() async throws {
        let bench = SharedStateBench()
        let lease = try #require(await bench.state.acquireLease("a", for: .seconds(30)))
        await bench.takeDown()
        bench.clock.advance(by: .seconds(31))
        bench.store.become(.throwsErrors)
        #expect(await !bench.state.extendLease(lease, for: .seconds(30)))
        #expect(await bench.state.acquireLease("a", for: .seconds(30)) != nil)
    }

    @Test func aBudgetGoesOnFromWhereItStood() async {
        let bench = SharedStateBench()
        func entry(withdrawal: Int) -> SharedState.BudgetEntry {
            SharedState.BudgetEntry(key: "a", withdrawal: withdrawal, limit: 10_000, initial: 10_000)
        }
        #expect(await bench.state.settle(entry(withdrawal: 9500)).isGranted)
        await bench.takeDown()
        #expect(await !bench.state.settle(entry(withdrawal: 1000)).isGranted, "no new burst because of an outage")
        #expect(
            await bench.state.settle(entry(withdrawal: 500)) == SharedState.BudgetBalance(isGranted: true, balance: 0)
        )
    }

    @Test func recordsAreThoseThatWereReadLast() async throws {
        let bench = SharedStateBench()
        let created = try #require(try await bench.state.replaceRecord("a", version: nil, with: [1]))
        #expect(try await bench.state.record("none") == nil)
        await bench.takeDown()
        #expect(try await bench.state.record("a") == created)
        #expect(try await bench.state.record("none") == nil)
        await #expect(throws: SharedState.StoreError.self) { try await bench.state.record("unknown") }
        await #expect(throws: SharedState.StoreError.self) {
            try await bench.state.replaceRecord("unknown", version: nil, with: [])
        }
        #expect(try await bench.state.replaceRecord("a", version: nil, with: [2]) == nil)
        let changed = try #require(try await bench.state.replaceRecord("a", version: created.version, with: [2]))
        #expect(changed.version > created.version)
        #expect(try await bench.state.record("a") == changed)
        #expect(try await bench.state.replaceRecord("a", version: created.version, with: [3]) == nil)
        let new = try #require(try await bench.state.replaceRecord("none", version: nil, with: [9]))
        #expect(try await bench.state.record("none") == new)
    }

    @Test func aLockoutThatWasKnownBeforeHolds() async {
        let bench = SharedStateBench()
        // Closed by another host, seen once.
        await bench.store.contents.close(bench.gate("seen"), at: bench.now)
        _ = await bench.state.closedGate(among: [bench.key("seen")])
        // Closed by this one, beside a gate that opens later.
        await bench.state.close(bench.gate("own", opensIn: .seconds(30)))
        await bench.state.close(bench.gate("later", opensIn: .seconds(90)))
        #expect(await bench.state.closedGate(among: [bench.key("own"), bench.key("later")])?.key.name == "later")
        // Opened elsewhere, and seen.
        await bench.state.close(bench.gate("opened"))
        await bench.store.contents.open(bench.key("opened"))
        _ = await bench.state.closedGate(among: [bench.key("opened")])
        await bench.takeDown()
        for name in ["seen", "own", "later"] {
            #expect(await bench.state.closedGate(among: [bench.key(name)]) != nil, "\(name)")
        }
        #expect(await bench.state.closedGate(among: [bench.key("opened")]) == nil)
    }

    // MARK: Cancellation

    @Test(arguments: Call.allCases)
    func whoeverIsCancelledSaysNothingAboutTheStore(_ call: Call) async {
        let bench = SharedStateBench()
        bench.store.become(.hangs)
        let caller = Task { await call.perform(on: bench) }
        await bench.clock.waitForSleepers(1)
        caller.cancel()
        // At once: nobody moves the clock.
        await caller.value
        bench.store.become(.answers)
        bench.store.release()
        while bench.clock.sleepers > 0 { await Task.yield() }
        #expect(bench.words.isEmpty)
        #expect(bench.state.health == .available)
    }

    @Test func aRecordIsStoredThoughItsCallerIsCancelled() async throws {
        for mode in [UnreliableStore.Mode.hangs, .throwsErrors] {
            let bench = SharedStateBench()
            let first = try await bench.state.replaceRecord("a", version: nil, with: [1])
            bench.store.become(mode)
            let caller = Task { try await bench.state.replaceRecord("a", version: first?.version, with: [2]) }
            caller.cancel()
            await #expect(throws: CancellationError.self) { try await caller.value }
            if case .hangs = mode {
                await bench.clock.waitForSleepers(1)
                bench.store.become(.answers)
                bench.store.release()
            } else {
                while bench.words.isEmpty { await Task.yield() }
                while try await bench.state.record("a")?.bytes != [2] { await Task.yield() }
                await bench.bringUp()
            }
            while await bench.store.contents.record("a")?.bytes != [2] { await Task.yield() }
        }
    }

    @Test func aLeaseThatIsGrantedTooLateIsGivenBack() async throws {
        for isCancelled in [true, false] {
            let bench = SharedStateBench()
            bench.store.become(.hangs)
            let caller = Task { await bench.state.acquireLease("a", for: .seconds(30)) }
            await bench.clock.waitForSleepers(1)
            if isCancelled { caller.cancel() } else { bench.clock.advance(by: SharedStateBench.timeout) }
            let lease = await caller.value
            #expect((lease == nil) == isCancelled, "a store that hangs is done without")
            bench.store.become(.answers)
            bench.store.release()
            // Another host gets it, long before the lease would run out.
            while true {
                let other = await bench.store.contents.acquireLease("a", for: .seconds(1), at: bench.now)
                if other != nil { break }
                await Task.yield()
            }
        }
    }
}
