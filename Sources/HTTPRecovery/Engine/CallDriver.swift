import HTTPTypes

/// Performs what ``CallState`` wants done and tells it what came of it: the one place that waits and sends again.
///
/// What needs no waiting is not asynchronous, and all is mutating: a waiting call holds the frames of all others, and a
/// copy of the driver for each that is not. Request and body stay the caller's for as long as the call lasts.
struct CallDriver {
    private(set) var state: CallState
    var event: CallState.Event
    var round: AdmissionRound
    var context: CallContext
    private let tape: CallTape?
    /// What the first attempt has come to, if that was made before there was a driver.
    var firstResult: Result<RecoveredResponse, any Error>?
    /// What a repair has made of the request; nil if it is the caller's.
    private(set) var amended: HTTPRequest?
    /// What the last attempt came to.
    var outcome = Outcome(.unknown)
    /// The last response; nil if the last attempt had none.
    var response: RecoveredResponse?
    /// What a repair has failed with.
    private(set) var repairError: (any Error)?
    var hedging = Hedging()

    init(rules: RecoveryRules, admissions: [any Admission], _ request: HTTPRequest, _ context: CallContext) {
        self.state = CallState(rules: rules, method: request.method)
        let (cause, repeated) = (context.followUp, context.repetition)
        self.event = cause == nil && repeated == nil ? .begun : .continued(following: cause, repeating: repeated)
        self.round = AdmissionRound(admissions)
        self.context = context
        (self.context.longestWait, self.context.isStraight) = (rules.maxWait, false)
        self.tape = context.options.isRecorded ? CallTape.make(rules, request, context) : nil
    }

    mutating func callAsFunction(_ request: HTTPRequest, body: MessageBody?, next: Next) async throws
        -> RecoveredResponse
    {
        defer { tape?.finish() }
        do {
            while true {
                switch decide() {
                case .admit(let cause, let isDue, let delay):
                    if try plan(cause, isDue: isDue, after: delay, request) { try await ask() }
                case .attempt(let cause):
                    begin(cause)
                    do {
                        if let firstResult = firstResult.take() {
                            take(try firstResult.get())
                        } else if isHedged(request, body) {
                            take(try await race(request, body, next))
                        } else {
                            take(try await next(amended ?? request, body: body, context: context))
                        }
                    } catch { try take(error, request) }
                    if let left = conclude(end, request) {
                        if let gate = await Self.carryOut(left) { round.hold(at: gate) }
                    }
                    ended(request, body)
                case .finish: return try accepted()
                case let action: event = try await perform(action, request)
                }
            }
        } catch {
            if let left = abandon(request) { _ = await Self.carryOut(left) }
            throw error
        }
    }

    @inline(never)
    private mutating func decide() -> CallState.Action {
        state.next(after: event, in: context, writing: tape)
    }

    /// Does what a call that succeeds at once does not need.
    @inline(never)
    private mutating func perform(_ action: CallState.Action, _ request: HTTPRequest) async throws -> CallState.Event {
        switch action {
        case .queue: return .queued(behind: await joinQueue())
        case .stand(let limit, let outcome): return try await stand(atMost: limit, because: outcome)
        case .wait(let delay, let reason):
            try await context.wait(delay, reason: reason, cause: state.waitCause)
            return .waited
        case .repair(let repair, let outcome):
            switch try await repair.result(after: outcome, response: response, context: context) {
            case .repaired: break
            case .amended(let amend):
                var changed = amended ?? request
                amend(&changed)
                amended = changed
            case .failed(let conclusion, let reason, let error):
                repairError = error
                return .repairFailed(conclusion, reason)
            }
            return .repaired(name: repair.name)
        case .fail(let outcome, let reason, let needed): throw self.error(outcome, reason, needed: needed)
        case .admit, .attempt, .finish: return event
        }
    }
}
