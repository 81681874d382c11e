import HTTPRecovery
import HTTPTypes

/// One simulation under way: the client, the server's script, and the report that becomes of them.
final class SimulationCourse: HTTPTransport {
    private struct State {
        var calls: [Simulation.Report.Call]
        /// How many answers each call has had.
        var used: [Int]
        /// Those attempts after which nothing has been decided yet.
        var open: [[Int]]
        /// How many of them, the first ones, are told by what stood when they had ended.
        var told: [Int]
        /// The calls that have others.
        var undecided: Set<Int> = []
        var total = 0
        var last = 0
    }

    private let simulation: Simulation
    private let loop: SimulationLoop
    private let admissions: RecoveringClient.Settings.Admissions
    private let recovery: Recovery
    private let state: Locked<State>

    private static let field = HTTPField.Name("Simulated-Call")

    init(_ simulation: Simulation, on loop: SimulationLoop) {
        self.simulation = simulation
        self.loop = loop
        admissions = simulation.settings.admissions()
        recovery = simulation.settings.recovery(admissions)
        let count = simulation.calls.count
        state = Locked(
            State(
                calls: Array(repeating: .init(), count: count),
                used: Array(repeating: 0, count: count),
                open: Array(repeating: [], count: count),
                told: Array(repeating: 0, count: count)
            )
        )
    }

    /// Whether there were more attempts than any sensible simulation has.
    var isEndless: Bool { state.withLock { $0.total > limit } }

    /// Many calls may well have more attempts than one.
    var limit: Int { max(simulation.mostAttempts, simulation.calls.count * 1000) }

    var report: Simulation.Report {
        let (calls, last) = state.withLock { ($0.calls, $0.last) }
        guard simulation.calls.indices.contains(last) else { return Simulation.Report(calls: calls) }
        let attempt = PlannedAttempt(request(of: last))
        return Simulation.Report(
            calls: calls,
            budgetLeft: budgetLeft(for: last),
            breaker: admissions.breaker?.state(for: attempt),
            rate: admissions.adaptive?.rate(for: attempt)
        )
    }

    func run() async {
        let source = TimeSource(clock: loop, wallTime: Timestamp(secondsSinceEpoch: 1_893_456_000))
        let client = RecoveringClient(
            transport: self,
            runtime: Runtime(
                time: source,
                random: Runtime.RandomSource(backoffs: simulation.random),
                classifier: simulation.classifier
            )
        ) { simulation.settings.layers(recovery) }
        // What a call stands in line with, or has hedges beside, is decided when there is nothing left to do.
        loop.onEndOfTime { [self] in for index in state.withLock({ $0.undecided }) { tell(index) } }
        defer { loop.onEndOfTime(nil) }
        await withDiscardingTaskGroup { group in
            for index in simulation.calls.indices {
                group.addTask { await self.live(index, client) }
            }
        }
    }

    /// Lives through one call.
    private func live(_ index: Int, _ client: RecoveringClient) async {
        let call = simulation.calls[index]
        let begin = TimeSource.Instant(sinceStart: call.start)
        do {
            if call.start > .zero { try await client.runtime.time.sleep(until: begin) }
            let response = try await withThrowingTaskGroup(of: RecoveredResponse.self) { group in
                group.addTask { try await client.send(self.request(of: index), options: self.options(of: index)) }
                if let end = call.cancellation {
                    group.addTask {
                        try await client.runtime.time.sleep(until: TimeSource.Instant(sinceStart: end))
                        throw CancellationError()
                    }
                }
                defer { group.cancelAll() }
                guard let response = try await group.next() else { throw CancellationError() }
                return response
            }
            end(index) { ($0.end, $0.kind, $0.status) = (.ok, response.outcome.kind, response.status.code) }
        } catch let error as RecoveryError {
            end(index) {
                ($0.end, $0.kind, $0.status) = (.failed, error.outcome.kind, error.outcome.status)
                $0.reason = error.reason
            }
        } catch {
            end(index) { $0.end = .cancelled }
        }
    }

    private func end(_ index: Int, _ body: (inout Simulation.Report.Call) -> Void) {
        // Those that were cut off stand as the call has left them.
        state.withLock { state in
            state.open[index] += state.calls[index].attempts.indices.filter { attempt in
                let attempt = state.calls[index].attempts[attempt]
                return attempt.status == nil && attempt.error == nil
            }
        }
        settle(index)
        let now = loop.now.offset
        state.withLock { state in
            body(&state.calls[index])
            state.calls[index].time = now
            state.last = index
        }
    }

    private func request(of index: Int) -> HTTPRequest {
        let call = simulation.calls[index]
        var request = HTTPRequest(method: call.method, scheme: "https", authority: call.origin, path: "/")
        request.headerFields[.idempotencyKey] = call.idempotencyKey
        if let field = Self.field { request.headerFields[field] = String(index) }
        return request
    }

    private func options(of index: Int) -> RequestOptions {
        let call = simulation.calls[index]
        return RequestOptions(
            resend: call.isReplayable ? .replayable : .byMethod,
            priority: call.priority,
            observer: { [self] event in observe(event, of: index) }
        )
    }

    private func observe(_ event: RecoveryEvent, of index: Int) {
        switch event.kind {
        case .wait(let reason, let duration, _):
            settle(index, isRetried: true)
            let wait = Simulation.Report.Wait(time: event.time.sinceStart, duration: duration, reason: reason)
            state.withLock { $0.calls[index].waits.append(wait) }
        case .retry, .givingUp, .done: settle(index)
        default: break
        }
    }

    /// Takes note of how things stand after the attempts that have ended.
    ///
    /// - Parameter isRetried: Whether they have led to a retry, which has been paid for: also by those that ended before.
    private func settle(_ index: Int, isRetried: Bool = false) {
        guard state.withLock({ !$0.open[index].isEmpty }) else { return }
        let (told, budget) = (state.withLock { $0.told[index] }, budgetLeft(for: index))
        tell(index)
        state.withLock { state in
            for attempt in state.open[index].prefix(isRetried ? told : 0) {
                state.calls[index].attempts[attempt].budgetLeft = budget
            }
            (state.open[index], state.told[index]) = ([], 0)
        }
    }

    /// Takes note of how things stand after the attempts that have ended since it was told last, whatever they lead to.
    private func tell(_ index: Int) {
        let (budget, breaker) = (budgetLeft(for: index), breakerState(for: index))
        state.withLock { state in
            for attempt in state.open[index].dropFirst(state.told[index]) {
                state.calls[index].attempts[attempt].budgetLeft = budget
                state.calls[index].attempts[attempt].breaker = breaker
            }
            state.told[index] = state.open[index].count
            state.undecided.remove(index)
        }
    }

    private func budgetLeft(for index: Int) -> Double? {
        let left = recovery.budgetLeft(for: request(of: index), at: TimeSource.Instant(sinceStart: loop.now.offset))
        return left.isFinite ? left : nil
    }

    private func breakerState(for index: Int) -> Recovery.CircuitBreaker.State? {
        admissions.breaker?.state(for: PlannedAttempt(request(of: index)))
    }

    // MARK: The transport

    var name: String { "simulated" }
    var enforcesTimeouts: Bool { true }
    var keepsSendLimits: Bool { true }

    func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse {
        guard let index = Self.field.flatMap({ request.headerFields[$0] }).flatMap({ Int($0) }) else {
            throw TransportError(.invalidRequest, .neverSent)
        }
        settle(index)
        let now = loop.now
        let (attempt, answer) = try state.withLock { state in
            state.total += 1
            if state.total > limit { throw TransportError(.misconfigured, .neverSent) }
            let answers = simulation.calls[index].answers
            state.used[index] += 1
            let arrival = Simulation.Arrival(call: index, attempt: state.used[index], time: now.offset)
            let scripted = answers.isEmpty ? .status(200) : answers[min(state.used[index], answers.count) - 1]
            let answer = simulation.server?(arrival) ?? scripted
            state.calls[index].attempts.append(.init(time: now.offset))
            return (state.calls[index].attempts.count - 1, answer)
        }
        let timeout = options.timeout ?? .longest
        if answer.delay > timeout {
            try await loop.sleep(until: Self.instant(timeout, after: now), for: .wait)
            ended(attempt, of: index) { $0.error = .unknown }
            throw TransportError(.timedOut, .unknown, message: "the simulated answer takes longer")
        }
        if answer.delay > .zero { try await loop.sleep(until: Self.instant(answer.delay, after: now), for: .wait) }
        switch answer.reply {
        case .response(let status, let fields, let body):
            ended(attempt, of: index) { $0.status = status }
            let head = HTTPResponse(status: .init(code: status), headerFields: fields)
            return TransportResponse(head: head, body: MessageBody(body))
        case .failure(let certainty):
            ended(attempt, of: index) { $0.error = certainty }
            throw TransportError(Self.code(of: certainty), certainty)
        }
    }

    private func ended(_ attempt: Int, of index: Int, _ body: (inout Simulation.Report.Attempt) -> Void) {
        let now = loop.now.offset
        state.withLock { state in
            body(&state.calls[index].attempts[attempt])
            state.calls[index].attempts[attempt].end = now
            state.open[index].append(attempt)
            state.undecided.insert(index)
        }
    }

    private static func instant(_ delay: Duration, after now: ManualClock.Instant) -> ManualClock.Instant {
        ManualClock.Instant(offset: now.offset.saturatingAdding(delay))
    }

    private static func code(of certainty: TransportError.Certainty) -> TransportError.Code {
        switch certainty {
        case .neverSent: .cannotConnect
        case .notProcessed: .streamRefused
        case .unknown: .connectionLost
        case .answered: .truncated
        }
    }
}
