import HTTPRecovery

extension ManualClock {
    /// Does something while the clock jumps over whatever is waited for.
    ///
    /// To the end of a wait (`TimeSource.SleepPurpose.wait`) the clock jumps as soon as a fraction of a millisecond has passed
    /// since somebody began or ended a sleep, and each thread that runs tasks has then come to another job several times
    /// without anybody doing so: a machine that is busy elsewhere is waited for. What only
    /// guards the work, as a timeout or a lease's heartbeat does (`TimeSource.SleepPurpose.guard`), it leaves alone while the work
    /// is under way. The clock never passes a guard's end, however: if it is what comes next, the clock jumps there
    /// once the others have had hundreds of turns, and some ten milliseconds of the machine's time, without anybody
    /// beginning or ending a sleep. Then the guard is what the work waits for.
    ///
    /// Work that sleeps for ever ends with ``Endless``: it is cancelled, and whoever sleeps on the clock gets the error,
    /// now and later. Work that does not sleep is not found out; nor is work that heeds neither.
    ///
    /// - Parameters:
    ///   - limit: The longest time to jump over; nil, the default, is any.
    ///   - jumps: How many jumps are taken for an end that does not come, and sleeps of nothing with them; of jumps to
    ///     guards' ends with no wait between them, a hundredth, or ten. Default: 100,000.
    ///   - body: What is done, in a task of its own.
    /// - Returns: What the body returns.
    /// - Throws: ``Endless`` if the work has no end; whatever the body throws else.
    public func skippingWaits<Result: Sendable>(
        upTo limit: Duration? = nil,
        jumps: Int = 100_000,
        _ body: () async throws -> Result
    ) async throws -> Result {
        func lend(_ body: @escaping () async throws -> Result) async throws -> Result {
            try await run(Lent(body: body), Skipping(limit: limit, bound: jumps))
        }
        return try await withoutActuallyEscaping(body, do: lend)
    }

    private func run<Result: Sendable>(_ lent: Lent<Result>, _ skipping: Skipping) async throws -> Result {
        let work = Task { try await lent.body() }
        let skipper = Task { () -> Endless? in
            guard let end = await skip(skipping) else { return nil }
            work.cancel()
            giveUp(end)
            return end
        }
        let result = await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
        skipper.cancel()
        if let end = await skipper.value { throw end }
        return try result.get()
    }

    /// Moves the clock until the task is cancelled, or for as long as the work may go on.
    private func skip(_ skipping: Skipping) async -> Endless? {
        var skipping = skipping
        while !Task.isCancelled {
            var step = Skipping.Step.pause
            wake { state in
                step = skipping.step(on: state, at: .now)
                guard case .jump(let instant) = step else { return nil }
                return instant
            }
            switch step {
            case .jump, .yield: await Task.yield()
            case .turn: await Turn.pass()
            case .pause: try? await Task.sleep(for: .milliseconds(1))
            case .waitForChange(let seen): await wait { $0.changes != seen }
            case .end(let end): return end
            }
        }
        return nil
    }
}

/// What is done by another task while its own waits for that one.
///
/// Unchecked, because nobody else uses meanwhile what it captures.
private struct Lent<Result>: @unchecked Sendable {
    let body: () async throws -> Result
}

/// Where the clock goes next, by what it has looked like before.
struct Skipping {
    /// What is done after a look at the clock.
    enum Step {
        case jump(ManualClock.Instant)
        /// Others may go on.
        case yield
        /// All others have their turn, on whatever thread.
        case turn
        /// Others have some of the machine's time, on threads and sockets too.
        case pause
        /// Nothing is to be jumped to before somebody does something with the clock.
        case waitForChange(since: UInt64)
        case end(ManualClock.Endless)
    }

    /// The longest time to jump over.
    let limit: Duration?
    /// How many jumps are taken for an end that does not come.
    let bound: Int

    /// How often the others have gone on since the last jump.
    private var yields = 0
    /// How often the clock has looked the same, and after how many turns of all; which of its changes was the last, and
    /// when that was seen.
    private var quiet = (looks: 0, turns: 0, change: UInt64.max, since: ContinuousClock.now)
    private var jumps = 0
    /// How many of them led to guards' ends since the last that led to a wait's.
    private var guards = 0
    /// How many sleeps of nothing there were before.
    private var emptySleeps: Int?

    /// How often the others go on before a jump, how much time they have, as some of them may be on threads of their own,
    /// and how many turns then.
    private static let patience = (yields: 5, time: Duration.microseconds(250), turns: 2)
    /// How often they go on before a guard's end while nothing changes; and every how many times the machine has time.
    private static let longPatience = (looks: 240, pause: 6)

    init(limit: Duration?, bound: Int) {
        self.limit = limit
        self.bound = bound
    }

    mutating func step(on state: ManualClock.State, at now: ContinuousClock.Instant) -> Step {
        yields += 1
        if state.changes == quiet.change { quiet.looks += 1 } else { quiet = (0, 0, state.changes, now) }
        let empty = state.emptySleeps - (emptySleeps ?? state.emptySleeps)
        emptySleeps = emptySleeps ?? state.emptySleeps
        if jumps + empty > bound { return end(state, after: jumps + empty, .wait) }
        if guards > max(bound / 100, 10) { return end(state, after: guards, .guard) }
        guard let next = state.next, limit.map({ state.now.duration(to: next.deadline) <= $0 }) ?? true else {
            return .waitForChange(since: state.changes)
        }
        if yields <= Self.patience.yields || now - quiet.since < Self.patience.time { return .yield }
        if next.purpose == .guard, quiet.looks < Self.longPatience.looks {
            return quiet.looks % Self.longPatience.pause == 0 ? .pause : .yield
        }
        if quiet.turns < Self.patience.turns {
            quiet.turns += 1
            return .turn
        }
        guards = next.purpose == .guard ? guards + 1 : 0
        jumps += 1
        yields = 0
        return .jump(next.deadline)
    }

    private func end(_ state: ManualClock.State, after jumps: Int, _ purpose: TimeSource.SleepPurpose) -> Step {
        .end(ManualClock.Endless(jumps: jumps, lastDelay: state.lastDelay, purpose: purpose))
    }
}
