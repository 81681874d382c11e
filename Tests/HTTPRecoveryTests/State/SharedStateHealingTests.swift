import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// What a store gets when it is back.
@Suite(.timeLimit(.minutes(30))) struct SharedStateHealingTests {
    @Test func gatesThatWereClosedAndOpenedMeanwhileAreWritten() async {
        let bench = SharedStateBench()
        await bench.state.close(bench.gate("opened"))
        await bench.state.close(bench.gate("reopened", opensIn: .seconds(600)))
        await bench.takeDown()
        await bench.state.close(bench.gate("closed"))
        await bench.state.close(bench.gate("over", opensIn: .milliseconds(500)))
        await bench.state.open(bench.key("opened"))
        await bench.state.open(bench.key("reopened"))
        let shorter = bench.gate("reopened", opensIn: .seconds(20))
        await bench.state.close(shorter)
        await bench.bringUp()
        let contents = bench.store.contents
        #expect(await contents.closedGate(among: [bench.key("closed")], at: bench.now) != nil)
        #expect(await contents.closedGate(among: [bench.key("over")], at: bench.now) == nil)
        #expect(await contents.closedGate(among: [bench.key("opened")], at: bench.now) == nil)
        let reopened = await contents.closedGate(among: [bench.key("reopened")], at: bench.now)
        #expect(reopened?.opensAt == shorter.opensAt)
        #expect(bench.words == ["degraded", "available"])
    }

    /// The store had been told before it went.
    @Test func aStoreThatCameBackEmptyIsToldOfTheGatesAgain() async {
        let bench = SharedStateBench()
        await bench.state.close(bench.gate())
        await bench.takeDown()
        bench.store.lose()
        await bench.bringUp()
        #expect(await bench.store.contents.closedGate(among: [bench.key()], at: bench.now) != nil)
        #expect(await bench.state.closedGate(among: [bench.key()]) != nil)
    }

    @Test func aGateThatIsClosedWhileTheStoreHealsIsNotLost() async {
        let bench = SharedStateBench()
        await bench.takeDown()
        await bench.state.close(bench.gate("before"))
        bench.store.become(.hangs)
        bench.clock.advance(by: .seconds(1))
        let caller = Task { await bench.state.closedGate(among: [bench.key("before")]) }
        await bench.clock.waitForSleepers(2)
        // The store is asked whether it is back; meanwhile somebody is locked out.
        await bench.state.close(bench.gate("meanwhile"))
        bench.store.become(.answers)
        bench.store.release()
        #expect(await caller.value?.key.name == "before")
        while bench.state.health != .available { await Task.yield() }
        for name in ["before", "meanwhile"] {
            #expect(await bench.store.contents.closedGate(among: [bench.key(name)], at: bench.now) != nil, "\(name)")
        }
    }

    @Test func recordsThatWereChangedMeanwhileAreWritten() async throws {
        let bench = SharedStateBench()
        let first = try #require(try await bench.state.replaceRecord("a", version: nil, with: [1]))
        #expect(try await bench.state.record("new") == nil)
        await bench.takeDown()
        let second = try #require(try await bench.state.replaceRecord("a", version: first.version, with: [2]))
        let third = try #require(try await bench.state.replaceRecord("a", version: second.version, with: [3]))
        _ = try #require(try await bench.state.replaceRecord("new", version: nil, with: [9]))
        await bench.bringUp()
        #expect(await bench.store.contents.record("a")?.bytes == [3])
        #expect(await bench.store.contents.record("new")?.bytes == [9])
        // The version is the store's again; one that was given without it is no longer known.
        #expect(try await bench.state.replaceRecord("a", version: third.version, with: [4]) == nil)
        let present = try #require(try await bench.state.record("a"))
        #expect(try await bench.state.replaceRecord("a", version: present.version, with: [4]) != nil)
        #expect(await bench.store.contents.record("a")?.bytes == [4])
    }

    @Test func whereSomebodyElseChangedARecordTheirsCounts() async throws {
        let bench = SharedStateBench()
        let first = try #require(try await bench.state.replaceRecord("a", version: nil, with: [1]))
        #expect(try await bench.state.record("new") == nil)
        await bench.takeDown()
        let own = try #require(try await bench.state.replaceRecord("a", version: first.version, with: [2]))
        _ = try await bench.state.replaceRecord("new", version: nil, with: [2])
        let theirs = try #require(await bench.store.contents.replaceRecord("a", version: first.version, with: [7]))
        _ = await bench.store.contents.replaceRecord("new", version: nil, with: [7])
        await bench.bringUp()
        for key in ["a", "new"] {
            #expect(await bench.store.contents.record(key)?.bytes == [7])
            #expect(try await bench.state.record(key)?.bytes == [7])
        }
        // Even where their version would be the one that was given here.
        #expect(own.version != theirs.version)
        #expect(try await bench.state.replaceRecord("a", version: own.version, with: [3]) == nil)
        #expect(await bench.store.contents.record("a")?.bytes == [7])
    }

    @Test func aStoreThatCameBackEmptyGetsTheRecordsAgain() async throws {
        let bench = SharedStateBench()
        for index in 0..<10 { _ = try await bench.state.replaceRecord("\(index)", version: nil, with: [UInt8(index)]) }
        let changed = try #require(try await bench.state.record("3"))
        await bench.takeDown()
        _ = try await bench.state.replaceRecord("3", version: changed.version, with: [33])
        bench.store.lose()
        await bench.bringUp()
        for index in 0..<10 {
            let expected: [UInt8] = [index == 3 ? 33 : UInt8(index)]
            #expect(await bench.store.contents.record("\(index)")?.bytes == expected)
            let known = try #require(try await bench.state.record("\(index)"))
            #expect(try await bench.state.replaceRecord("\(index)", version: known.version, with: [0]) != nil)
        }
    }

    @Test func aStoreThatCameBackEmptyIsNotGivenWhatOthersHadReplaced() async throws {
        let bench = SharedStateBench()
        // Another process signs in; this one reads that, and has no question for a while.
        let first = try #require(await bench.store.contents.replaceRecord("a", version: nil, with: [1]))
        #expect(try await bench.state.record("a") == first)
        // The other one signs out, and the store loses everything.
        _ = try #require(await bench.store.contents.replaceRecord("a", version: first.version, with: [2]))
        await bench.takeDown()
        bench.store.lose()
        await bench.bringUp()
        #expect(await bench.store.contents.record("a") == nil)
        #expect(try await bench.state.record("a") == nil)
    }

    @Test func aStoreThatCameBackEmptyIsNotGivenWhatWasStoredLongAgo() async throws {
        let bench = SharedStateBench()
        let first = try #require(try await bench.state.replaceRecord("a", version: nil, with: [1]))
        // Unseen by this process, another one replaces it.
        _ = try #require(await bench.store.contents.replaceRecord("a", version: first.version, with: [2]))
        bench.clock.advance(by: .seconds(3600))
        await bench.takeDown()
        bench.store.lose()
        await bench.bringUp()
        #expect(await bench.store.contents.record("a") == nil)
    }

    @Test func whatWasRenewedMeanwhileIsNotTakenBackByWhoeverRestoresTheOld() async throws {
        let bench = SharedStateBench()
        let first = try #require(try await bench.state.replaceRecord("a", version: nil, with: [1]))
        await bench.takeDown()
        _ = try #require(try await bench.state.replaceRecord("a", version: first.version, with: [2]))
        // The store comes back empty, and another process is the first to give it what it knows: the old record.
        bench.store.lose()
        var other = try #require(await bench.store.contents.replaceRecord("a", version: nil, with: [1]))
        other = try #require(await bench.store.contents.replaceRecord("a", version: other.version, with: [1]))
        await bench.bringUp()
        #expect(await bench.store.contents.record("a")?.bytes == [2])
    }

    @Test func aWriteThatWasGivenUpAndCameThroughIsNoStrangers() async throws {
        let bench = SharedStateBench()
        let first = try #require(try await bench.state.replaceRecord("a", version: nil, with: [1]))
        // The store takes the record, but its answer is lost.
        bench.store.become(.swallowsAnswers)
        async let unanswered = bench.state.replaceRecord("a", version: first.version, with: [2])
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: SharedStateBench.timeout)
        let second = try #require(try await unanswered)
        #expect(await bench.store.contents.record("a")?.bytes == [2])
        let third = try #require(try await bench.state.replaceRecord("a", version: second.version, with: [3]))
        #expect(try await bench.state.record("a") == third)
        bench.store.release()
        await bench.bringUp()
        #expect(await bench.store.contents.record("a")?.bytes == [3])
    }

    @Test func anAnswerThatComesLateDoesNotReplaceANewerOne() async throws {
        let bench = SharedStateBench()
        let first = try #require(try await bench.state.replaceRecord("a", version: nil, with: [1]))
        // A read that the store answers with what it held before: its answer is on the way.
        bench.store.become(.answersLate)
        let questions = bench.store.questions
        let held = Task { try await bench.state.record("a") }
        while bench.store.questions == questions { await Task.yield() }
        bench.store.become(.answers)
        let second = try #require(try await bench.state.replaceRecord("a", version: first.version, with: [2]))
        bench.store.release()
        _ = try await held.value
        await bench.takeDown()
        #expect(try await bench.state.record("a") == second)
    }

    @Test func aLeaseOfTheOutageHasNoPowerOverTheStores() async throws {
        let bench = SharedStateBench()
        await bench.takeDown()
        let own = try #require(await bench.state.acquireLease("a", for: .seconds(30)))
        await bench.bringUp()
        #expect(await bench.state.acquireLease("a", for: .seconds(30)) == nil, "one holder within the process")
        #expect(await bench.state.extendLease(own, for: .seconds(30)))
        let theirs = try #require(await bench.store.contents.acquireLease("a", for: .seconds(30), at: bench.now))
        await bench.state.releaseLease(own)
        #expect(await bench.store.contents.extendLease(theirs, for: .seconds(30), at: bench.now))
        #expect(await bench.state.acquireLease("a", for: .seconds(30)) == nil)
        await bench.store.contents.releaseLease(theirs)
        #expect(await bench.state.acquireLease("a", for: .seconds(30)) != nil)
    }

    @Test func theEndWritesWhatIsNotWrittenYet() async throws {
        let bench = SharedStateBench()
        let first = try #require(try await bench.state.replaceRecord("a", version: nil, with: [1]))
        await bench.takeDown()
        _ = try await bench.state.replaceRecord("a", version: first.version, with: [2])
        await bench.state.close(bench.gate())
        bench.store.become(.answers)
        await bench.state.shutdown()
        #expect(bench.store.isClosed)
        #expect(await bench.store.contents.record("a")?.bytes == [2])
        #expect(await bench.store.contents.closedGate(among: [bench.key()], at: bench.now) != nil)
        // Nothing more is asked, and nobody is warned.
        let questions = bench.store.questions
        #expect(await bench.state.closedGate(among: [bench.key()]) != nil)
        await bench.state.close(bench.gate("b"))
        #expect(try await bench.state.record("a")?.bytes == [2])
        await #expect(throws: SharedState.StoreError.self) { try await bench.state.record("unknown") }
        #expect(bench.store.questions == questions)
        #expect(bench.words == ["degraded", "available"])
    }

    @Test func theEndIsNotHeldUpByAStoreThatHangs() async throws {
        let bench = SharedStateBench()
        await bench.takeDown()
        bench.store.become(.hangs)
        async let end: Void = bench.state.shutdown()
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: SharedStateBench.timeout)
        await end
        bench.store.release()
    }

    @Test func whatIsRememberedIsBounded() async throws {
        let bench = SharedStateBench()
        for index in 0..<5000 { _ = try await bench.state.replaceRecord("\(index)", version: nil, with: [1]) }
        await bench.takeDown()
        await #expect(throws: SharedState.StoreError.self) { try await bench.state.record("0") }
        #expect(try await bench.state.record("4999") != nil)
    }
}
