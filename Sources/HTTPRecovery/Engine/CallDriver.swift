import HTTPTypes

/// Performs what ``CallState`` wants done and tells it what came of it: the one place that waits and sends again.
///
/// What needs no waiting stands in functions that are not asynchronous, and all of them are mutating: a waiting call
/// holds the frames of all others, and a copy of the driver for each that is not.
struct CallDriver {
    private(set) var state: CallState
    var event: CallState.Event
    var round: AdmissionRound
    private(set) var request: HTTPRequest
    let body: HTTPBody?
    var context: CallContext
    private let next: Next
    private let tape: CallTape?
    /// What the last attempt came to.
    var outcome = Outcome(.unknown)
    /// The last response; nil where the last attempt had none.
    var response: Response?
    /// What a repair has failed with.
    private(set) var repairError: (any Error)?

    private static let begun = CallState.Event.begun()

    init(
        rules: RecoveryRules,
        admissions: [any Admission],
        request: HTTPRequest,
        body: HTTPBody?,
        context: CallContext,
        next: Next
    ) {
        self.state = CallState(rules: rules, method: request.method)
        let (cause, repeated) = (context.followUp, context.repetition)
        self.event = cause == nil && repeated == nil ? Self.begun : .begun(following: cause, repeating: repeated)
        self.round = AdmissionRound(admissions)
        self.request = request
        self.body = body
        self.context = context
        self.next = next
        self.tape = CallTape.make(rules, request, context)
    }

    mutating func callAsFunction() async throws -> Response {
        defer { tape?.finish() }
        do {
            while true {
                switch decide() {
                case .admit(let cause, let isDue): if try plan(cause, isDue: isDue) { try await ask() }
                case .attempt(let cause):
                    begin(cause)
                    do { take(try await next(request, body: body, context: context)) } catch { try take(error) }
                    ended(hasQueue: await conclude(.ended(outcome, by: response?.origin)))
                case .finish: return try accepted()
                case let action: event = try await perform(action)
                }
            }
        } catch {
            await abandon()
            throw error
        }
    }

    @inline(never)
    private mutating func decide() -> CallState.Action {
        state.next(after: event, in: context, writing: tape)
    }

    /// Does what a call that succeeds at once does not need.
    @inline(never)
    private mutating func perform(_ action: CallState.Action) async throws -> CallState.Event {
        switch action {
        case .queue: return .queued(behind: await joinQueue())
        case .wait(let delay, let reason):
            try await context.wait(delay, reason: reason)
            return .waited
        case .repair(let repair, let outcome):
            switch try await repair.result(after: outcome, response: response, context: context) {
            case .repaired: break
            case .amended(let amend): amend(&request)
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
