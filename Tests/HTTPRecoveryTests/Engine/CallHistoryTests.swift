import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// Random histories of calls: whatever happens in whatever order, the rules hold, and a replay decides the same.
@Suite(.timeLimit(.minutes(30))) struct CallHistoryTests {
    private struct Mends: RecoveryPolicy, FailureContext.Remediation {
        var name: String { "mend" }
        func decide(_ situation: FailureContext) -> FailureContext.Decision {
            situation.outcome.kind == .credentialRejected ? .repair(self) : .pass
        }
        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
            .repaired
        }
    }

    /// Waits for so long, whatever else is said.
    private struct Patient: RecoveryPolicy {
        static let delay = Duration.seconds(7)

        func decide(_ situation: FailureContext) -> FailureContext.Decision {
            situation.wasSent && situation.outcome.kind == .notFound ? .retry(after: Self.delay) : .pass
        }
    }

    /// What a call lives in: a server, admissions, a clock; all of it drawn from one seed.
    private struct World {
        let random: ByteMutator
        let rules: RecoveryRules
        var now = Duration.zero
        var deadline: Duration?
        /// What the budget holds; nothing is sent again without it.
        var balance: Int
        var isPaid = false
        /// When the gate opens.
        var opensAt = Duration.zero
        /// When the next attempt is due, by a policy whose delay is known.
        var dueAt = Duration.zero
        var attempts = 0
        var repairs = 0
        var entries: [CallRecording.Entry] = []

        static let policies: [any RecoveryPolicy] =
            [Patient(), RateLimitBackoff(), LockoutWait(atMost: .seconds(50)), Mends(), TransientRetry()]

        init(seed: UInt64) {
            random = ByteMutator(seed: seed)
            rules = RecoveryRules(
                policies: random.below(10) == 0 ? [] : Self.policies,
                maxAttempts: 1 + random.below(5),
                maxWait: .seconds(random.below(100))
            )
            balance = random.below(4)
            if random.below(2) == 0 { deadline = .milliseconds(random.below(100_000)) }
        }

        var remaining: Duration? { deadline.map { max(.zero, $0 - now) } }

        func unit() -> Double { Double(random.below(1 << 20)) / Double(1 << 20) }

        func outcome() -> Outcome {
            let kinds: [Outcome.Kind] = [
                .rateLimited, .unavailable, .transport, .accountLocked, .credentialRejected, .notFound,
            ]
            var outcome = Outcome(random.pick(kinds), processed: random.pick(Outcome.Processed.allCases))
            outcome.remedies = random.pick([[], [.wait], [.retry], [.retry, .wait], [.refreshCredential]])
            if random.below(2) == 0 { outcome.retryAfter = .milliseconds(random.below(60_000)) }
            if outcome.kind == .accountLocked {
                outcome.lockout = random.pick([nil, .indefinite, .remaining(.seconds(random.below(80)))])
            }
            outcome.status = random.pick([nil, 429, 503])
            return outcome
        }

        /// What the admissions say to an attempt.
        mutating func admit(_ cause: History.Cause, isDue: Bool) -> CallState.Event {
            switch cause {
            case .retry, .followUp, .hedge:
                if !isPaid {
                    guard balance > 0 else { return .refused(.budgetExhausted, because: nil) }
                    balance -= 1
                    isPaid = true
                }
            case .call, .repair: break
            }
            if isDue, random.below(12) == 0 { return .lined(because: Outcome(.unavailable, processed: .no)) }
            // Who has not heard of plans says something to one too.
            if !isDue, random.below(3) > 0 { return .admitted }
            if opensAt > now {
                let hold = Outcome(.rateLimited, processed: .no, retryAfter: opensAt - now, remedies: [.wait])
                return .held(because: hold, hasQueue: random.below(2) == 0)
            }
            if random.below(8) == 0 { return .delayed(.milliseconds(1 + random.below(50_000)), because: outcome()) }
            if random.below(40) == 0 { return .refused(.breakerOpen, because: outcome()) }
            return .admitted
        }

        /// What an attempt comes to.
        mutating func attempt(_ cause: History.Cause) -> CallState.Event {
            #expect(opensAt <= now, "nothing goes out before the gate opens")
            #expect(dueAt <= now, "nothing goes out before the decided delay is over")
            if attempts > 0, let remaining { #expect(remaining > .zero, "nothing is sent again past the deadline") }
            attempts += 1
            isPaid = false
            now += .milliseconds(random.below(3000))
            guard random.below(4) > 0 else { return .succeeded }
            let outcome = outcome()
            if outcome.remedies.contains(.wait), let wait = outcome.retryAfter { opensAt = max(opensAt, now + wait) }
            if outcome.kind == .notFound { dueAt = now + Patient.delay }
            let obstacle: History.StopReason? = random.below(6) == 0 ? .methodNotIdempotent : nil
            return .failed(outcome, obstacle: obstacle, hasQueue: random.below(2) == 0)
        }
    }

    /// Lives one history to its end.
    private func live(_ seed: UInt64) throws -> World {
        var world = World(seed: seed)
        var state = CallState(rules: world.rules, method: .get)
        let following = world.random.below(5) == 0 ? world.outcome() : nil
        let repeated: Outcome.Kind? = world.random.below(8) == 0 ? .unavailable : nil
        var event = CallState.Event.begun
        if following != nil || repeated != nil { event = .continued(following: following, repeating: repeated) }
        for _ in 0..<500 {
            var remaining: Duration??
            var drawn: [Double] = []
            func left() -> Duration? {
                remaining = .some(world.remaining)
                return world.remaining
            }
            func draw() -> Double {
                drawn.append(world.unit())
                return drawn[drawn.count - 1]
            }
            let action = state.next(after: event, remaining: left(), random: draw())
            world.entries.append(CallRecording.Entry(event, action: action, remaining: remaining, random: drawn))
            switch action {
            case .admit(let cause, let isDue, _): event = world.admit(cause, isDue: isDue)
            case .attempt(let cause): event = world.attempt(cause)
            case .queue: event = .queued(behind: world.random.below(2000))
            case .stand(let limit, let outcome):
                #expect(limit <= world.rules.maxWait, "nobody stands in line for longer than is allowed")
                if let remaining = world.remaining { #expect(limit <= remaining, "nor past the deadline") }
                let isOverdue = world.random.below(2) == 0
                world.now += isOverdue ? limit : limit.scaled(by: 0.5)
                event = isOverdue ? .overdue(because: outcome) : .waited
            case .wait(let delay, _):
                #expect(delay > .zero, "no wait is empty")
                #expect(delay <= world.rules.maxWait + .seconds(6), "no wait is longer than allowed and spread")
                if let remaining = world.remaining { #expect(delay < remaining, "no wait ends past the deadline") }
                world.now += delay
                event = .waited
            case .repair(let repair, let outcome):
                world.repairs += 1
                event =
                    world.random.below(3) == 0
                    ? .repairFailed(outcome, .repairFailed) : .repaired(name: repair.name)
            case .finish: return world
            case .fail(_, let reason, _):
                #expect(!reason.rawValue.isEmpty)
                return world
            }
            try #require(world.balance >= 0)
        }
        Issue.record("a call without an end: seed \(seed)")
        return world
    }

    @Test(arguments: 0..<4) func theRulesHoldInEveryHistory(part: UInt64) throws {
        for round in 0..<UInt64(ByteMutator.rounds(25_000)) {
            let seed = part << 32 | round
            let world = try live(seed)
            #expect(world.attempts <= world.rules.maxAttempts + world.repairs, "seed \(seed)")
            #expect(world.repairs <= 1, "each repair happens once")
            let recording = CallRecording(
                call: 1,
                method: "GET",
                maxAttempts: world.rules.maxAttempts,
                maxWait: world.rules.maxWait,
                entries: world.entries
            )
            let replay = Recovery.replay(recording, policies: world.rules.policies)
            #expect(replay.steps.count == world.entries.count && replay.difference == nil, "seed \(seed)")
            // Reading it back is slower: some of them.
            guard round % 20 == 0 else { continue }
            let read = try #require(CallRecording(JSONValue(parsing: recording.json.description)))
            #expect(read == recording, "seed \(seed)")
            #expect(Recovery.replay(read, policies: world.rules.policies) == replay)
        }
    }

    @Test func whatDiffersIsAnError() throws {
        // A retry of what has failed, which a single attempt does not allow.
        let seed = try #require(
            (0..<100).first { seed in
                try live(seed).entries.contains { $0.event["event"]?.string == "failed" && $0.action.hasPrefix("ask") }
            }
        )
        let world = try live(seed)
        let recording = CallRecording(
            call: 1,
            method: "GET",
            maxAttempts: 1,
            maxWait: world.rules.maxWait,
            entries: world.entries
        )
        let replay = Recovery.replay(recording, policies: world.rules.policies)
        #expect(throws: CallRecording.Difference.self) { try replay.verify() }
        #expect(replay.difference?.description.contains(" was ") == true)
    }

    @Test func aRecordingHoldsNoSecret() async throws {
        let kept = Locked<CallRecording?>(nil)
        let bench = Bench([.status(401, ["www-authenticate": "Bearer error=\"s3cret text\""], body: "s3cret")])
        var request = Bench.get
        request.headerFields[.authorization] = "Bearer s3cret"
        let options = RequestOptions(account: "s3cret", recorder: { recording in kept.withLock { $0 = recording } })
        await #expect(throws: RecoveryError.self) { try await bench.client.send(request, options: options) }
        let recording = try #require(kept.withLock { $0 })
        #expect(!recording.json.description.contains("s3cret") && !"\(recording)".contains("s3cret"))
        #expect(recording.entries.last?.action.hasPrefix("fail credential_rejected") == true)
    }

    @Test func aLiveCallIsReplayed() async throws {
        let kept = Locked<[CallRecording]>([])
        let bench = Bench([.status(503), .status(429, ["retry-after": "3"]), .status(200)])
        let options = RequestOptions(recorder: { recording in kept.withLock { $0.append(recording) } })
        _ = try await bench.sendSkippingWaits(options: options)
        let recording = try #require(kept.withLock { $0.first })
        #expect(kept.withLock { $0.count } == 1)
        let replay = Recovery.replay(recording, policies: Recovery.defaultPolicies)
        try replay.verify()
        #expect(
            replay.steps.map(\.decided).filter { $0.hasPrefix("attempt") } == [
                "attempt call", "attempt unavailable", "attempt rate_limited",
            ]
        )
        // Other policies decide otherwise.
        #expect(throws: CallRecording.Difference.self) { try Recovery.replay(recording, policies: []).verify() }
    }

    @Test func aCancelledCallIsRecordedAsFarAsItCame() async throws {
        let kept = Locked<CallRecording?>(nil)
        let bench = Bench([.hang])
        let options = RequestOptions(recorder: { recording in kept.withLock { $0 = recording } })
        let call = Task { try await bench.client.send(Bench.get, options: options) }
        while bench.transport.received.isEmpty { await Task.yield() }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(kept.withLock { $0 }?.entries.map(\.action) == ["ask call", "attempt call"])
    }

    /// Any bytes are a recording or none; one whose events make no sense is decided as something.
    @Test func damagedRecordingsTrapNobody() throws {
        let mutator = ByteMutator(seed: 7)
        for round in 0..<ByteMutator.rounds(3000) {
            let world = try live(UInt64(round))
            let recording = CallRecording(
                call: 1,
                method: "GET",
                maxAttempts: 3,
                maxWait: .seconds(10),
                entries: Array(world.entries.shuffled(by: mutator).prefix(20))
            )
            _ = Recovery.replay(recording, policies: World.policies)
            let bytes = mutator.mutate(Array(recording.json.description.utf8))
            guard let json = try? JSONValue(parsing: bytes), let read = CallRecording(json) else { continue }
            _ = Recovery.replay(read, policies: World.policies)
        }
    }

    @Test(arguments: [
        (Duration.zero, "0"), (.seconds(2), "2"), (.milliseconds(2500), "2.5"),
        (Duration(secondsComponent: 1, attosecondsComponent: 1), "1.000000000000000001"),
    ])
    func timesAreWrittenWithoutLoss(duration: Duration, text: String) {
        #expect(duration.exactText == text)
        #expect(Duration(exactText: text) == duration)
    }

    @Test(arguments: ["", ".", "1.", ".5", "-1", "1e5", "1.0000000000000000001", "99999999999999999999", "1.5.2", "١"])
    func otherTextsAreNoTimes(text: String) {
        #expect(Duration(exactText: text) == nil)
    }
}

extension Array {
    /// The elements in another order.
    fileprivate func shuffled(by mutator: ByteMutator) -> [Element] {
        var copy = self
        for index in copy.indices { copy.swapAt(index, mutator.below(copy.count)) }
        return copy
    }
}
