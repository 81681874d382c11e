import HTTPTypes

/// An attempt that is made more than once at the same time: the first, and hedges beside it.
///
/// Each hedge has a context and a record of its own, so that nothing of one answer is mixed with another's.
struct HedgeRace {
    /// What the race has come to.
    struct Finish {
        /// What counts.
        var result: Result<RecoveredResponse, any Error>
        /// The gate that was closed last; nil if none was.
        var gate: SharedState.Gate.Key?
        /// How many hedges were sent.
        var hedges = 0
    }

    /// An attempt that is under way.
    struct Entrant {
        var context: CallContext
        var attempt: PlannedAttempt
        var round: AdmissionRound
    }

    private enum Event: Sendable {
        /// A timer has run out; all but the latest mean nothing any more.
        case due(timer: Int)
        /// What one of the attempts has come to.
        case ended(index: Int, Result<RecoveredResponse, any Error>)
    }

    let request: HTTPRequest
    let body: MessageBody?
    /// The first attempt.
    let first: Entrant
    let next: Next
    let hedging: Recovery.Hedging
    let latencies: HedgeLatencies
    /// The most attempts in all, the first among them.
    let maxAttempts: Int
    /// Whether what an attempt has come to counts for nothing, and is made again at once.
    let isTransparent: @Sendable (Outcome) -> Bool

    /// Runs until an attempt is good or none is left.
    ///
    /// - Throws: `CancellationError` in a cancelled task; what a layer throws.
    func run() async throws -> Finish {
        let (request, body, next) = (request, body, next)
        let (time, delay) = (first.context.runtime.time, delay)
        return try await withThrowingTaskGroup(of: Event.self) { group in
            var plan = HedgePlan(maxAttempts: maxAttempts)
            var entrants = [0: first]
            var finish: Finish?
            var best: Outcome?
            var sent = 0
            var left: [Admission.Remainder] = []
            var gate: SharedState.Gate.Key?
            var timer = 0
            func startTimer(_ delay: Duration) {
                timer += 1
                group.addTask { [timer] in
                    try await time.sleep(for: delay, purpose: .guard)
                    return .due(timer: timer)
                }
            }
            func send(_ index: Int, _ context: CallContext) {
                group.addTask {
                    do {
                        let response = try await next(request, body: body, context: context)
                        return .ended(index: index, .success(response))
                    } catch {
                        return .ended(index: index, .failure(error))
                    }
                }
                if plan.isOpen { startTimer(delay) }
            }
            func abandon() {
                group.cancelAll()
                for index in entrants.keys.sorted() {
                    guard var entrant = entrants[index] else { continue }
                    left += entrant.round.conclude(entrant.attempt, .abandoned, entrant.context) ?? []
                }
            }
            do {
                send(0, first.context)
                race: while let event = try await group.next() {
                    var action = HedgePlan.Action.wait
                    switch event {
                    case .due(timer): action = plan.next(after: .due)
                    case .due: break
                    case .ended(let index, var result):
                        guard var entrant = entrants[index] else { continue }
                        if index > 0, isLayersOwn(result) {
                            entrants[index] = nil
                            left += entrant.round.conclude(entrant.attempt, .abandoned, entrant.context) ?? []
                            action = plan.next(after: .lost)
                            break
                        }
                        // A hedge's own record holds none of the others.
                        if index > 0, case .success(var response) = result {
                            response.outcome.keepOnce(after: first.context.record.history)
                            result = .success(response)
                        }
                        let outcome = try outcome(of: result)
                        entrants[index] = nil
                        note(outcome, entrant.context)
                        if index > 0 { first.context.record.add(entrant.context.record) }
                        let origin = try? result.get().origin
                        let isFree = sent == 0 && isTransparent(outcome)
                        let end = isFree ? .abandoned : PlannedAttempt.End.ended(outcome, by: origin)
                        left += entrant.round.conclude(entrant.attempt, end, entrant.context) ?? []
                        if HedgePlan.isTold(outcome, insteadOf: best) {
                            best = outcome
                            finish = Finish(result: result)
                        }
                        // What is made again for nothing is no hedge: the engine does it.
                        action = isFree ? .finish : plan.next(after: .ended(outcome))
                    }
                    if case .postpone(let time) = action { startTimer(time) }
                    // What is left to be done may close a gate or tell a store, which others and a hedge have to hear of.
                    if !left.isEmpty {
                        gate = await CallDriver.carryOut(left) ?? gate
                        left = []
                    }
                    if action == .ask {
                        let hedge = try await admit(&left)
                        action = plan.next(after: .admitted(hedge != nil))
                        if let hedge {
                            sent += 1
                            entrants[sent] = hedge
                            send(sent, hedge.context)
                        }
                    }
                    if action == .finish { break race }
                }
            } catch {
                abandon()
                _ = await CallDriver.carryOut(left)
                throw error
            }
            abandon()
            gate = await CallDriver.carryOut(left) ?? gate
            guard var finish else { throw CancellationError() }
            (finish.gate, finish.hedges) = (gate, sent)
            return finish
        }
    }

    private var delay: Duration {
        hedging.quantile.flatMap { latencies.quantile($0) } ?? hedging.delay
    }

    private func note(_ outcome: Outcome, _ context: CallContext) {
        if !outcome.isFailure { latencies.note(context.record.lastAttempt.elapsed) }
    }

    /// Asks the admissions about a hedge; one that may not go out at once does not go out.
    private func admit(_ left: inout [Admission.Remainder]) async throws -> Entrant? {
        var context = first.context.beside()
        context.cause = .hedge
        let attempt = PlannedAttempt(request, cause: .hedge, longestWait: .zero)
        var round = first.round.another()
        round.plan(attempt)
        var next = 0
        do {
            while let index = round.open(from: next, .hedge, context) {
                next = index + 1
                let answer = try await round[index].admit(attempt, context: context)
                if round.take(answer, of: index) != nil {
                    left += round.giveBackAll(context) ?? []
                    return nil
                }
            }
        } catch {
            left += round.giveBackAll(context) ?? []
            throw error
        }
        round.begin()
        return Entrant(context: context, attempt: attempt, round: round)
    }

    /// Whether an attempt has failed in a layer, and not at the server or by cancellation.
    private func isLayersOwn(_ result: Result<RecoveredResponse, any Error>) -> Bool {
        guard case .failure(let error) = result else { return false }
        return !(error is TransportError) && !(error is CancellationError)
    }

    private func outcome(of result: Result<RecoveredResponse, any Error>) throws -> Outcome {
        switch result {
        case .success(let response): return response.outcome
        case .failure(let error as TransportError): return first.context.outcome(of: error, for: request)
        case .failure(let error): throw error
        }
    }
}

extension CallDriver {
    /// What a driver knows of hedges.
    struct Hedging {
        /// How the engine hedges; nil if it does not.
        var memory: HedgeMemory?
        /// How many hedges there were beside the last attempt.
        var count = 0
        /// Whether the last attempt was one of several, whose ends were told already.
        var hasRaced = false
    }

    /// Whether the attempt is made more than once at the same time.
    func isHedged(_ request: HTTPRequest, _ body: MessageBody?) -> Bool {
        guard let memory = hedging.memory, firstResult == nil, hedgeLimit(memory) > 1, body?.replayability != .once,
            context.options.attemptLayers.allSatisfy(\.bearsHedges)
        else {
            return false
        }
        switch context.options.resend.grant {
        case .never: return false
        case .callerVouches: return true
        case .byMethod: return (amended ?? request).method.isIdempotent
        }
    }

    /// How many attempts there may be at the same time, the first among them, within those of the call.
    private func hedgeLimit(_ memory: HedgeMemory) -> Int {
        min(
            memory.policy.maxAttempts,
            state.rules.maxAttempts.saturatingSubtracting(state.attempts).saturatingAdding(1)
        )
    }

    /// Makes the attempt with hedges beside it; all admissions are told of the ends of all of them.
    mutating func race(_ request: HTTPRequest, _ body: MessageBody?, _ next: Next) async throws -> RecoveredResponse {
        guard let memory = hedging.memory else { throw CancellationError() }
        let race = HedgeRace(
            request: amended ?? request,
            body: body,
            first: .init(context: context, attempt: planned(request), round: round),
            next: next,
            hedging: memory.policy,
            latencies: memory.latencies[request],
            maxAttempts: hedgeLimit(memory),
            isTransparent: { [state] in state.isTransparent($0) }
        )
        // From here on the race has what was given for the attempt.
        round = round.another()
        hedging.hasRaced = true
        let finish = try await race.run()
        hedging.count = finish.hedges
        if let gate = finish.gate { round.hold(at: gate) }
        return try finish.result.get()
    }
}

/// How an engine hedges, and what it has learned for it.
final class HedgeMemory: Sendable {
    let policy: Recovery.Hedging
    let latencies = OriginTable { _ in HedgeLatencies() }

    init(_ policy: Recovery.Hedging) {
        self.policy = policy
    }
}
