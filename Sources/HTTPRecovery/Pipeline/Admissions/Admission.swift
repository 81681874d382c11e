/// Holds attempts back: asked before each one, and told how each ended that it let go.
///
/// Rates, concurrency limits, breakers and budgets are admissions. The engine asks them in one order: the retry budget,
/// those of the call (``RequestOptions/admissions``), those of ``Recovery``, and last the gates, which know what the
/// server has said. It asks when an attempt is planned that has to wait first, and again when the attempt is due; who has
/// given a permit is not asked a second time for the same attempt. What they decide is bounded by the caller's deadline
/// and the engine's longest wait, as everything is.
///
/// An admission keeps its own state, must not block, and never sleeps: it answers how long to wait.
public protocol Admission: Sendable {
    /// Whether it could have anything to say now to an attempt that is made for the reason; one that could not is not
    /// asked. Default: it could.
    func mayHold(_ cause: AttemptCause, context: CallContext) -> Bool

    /// Tells whether the attempt may go out.
    ///
    /// - Parameters:
    ///   - attempt: The attempt; one that is not ``PlannedAttempt/isDue`` is asked about before its wait.
    ///   - context: The call, with clock, shared state and options.
    /// - Throws: `CancellationError` when the task is cancelled; nothing may be taken then. Any other error ends the
    ///   call with it as its cause.
    func admit(_ attempt: PlannedAttempt, context: CallContext) async throws -> AdmissionAnswer

    /// Whether an end is anything to an admission that has given no permit; it is not told of one that is not. Default:
    /// it is.
    func isConcerned(by end: AttemptEnd) -> Bool

    /// Takes note of how an attempt ended that was let go, and takes back what was given for it.
    ///
    /// It is called exactly once for each permit, in a cancelled task too; without a permit once for each attempt that
    /// was sent, unless it is not ``isConcerned(by:)`` it.
    ///
    /// - Returns: The gate that was closed by it, before which callers queue; nil, as by default, where none was.
    @discardableResult
    func conclude(
        _ attempt: PlannedAttempt,
        _ end: AttemptEnd,
        permit: AdmissionPermit?,
        context: CallContext
    ) async -> Gate.Key?
}

extension Admission {
    /// It is asked about each attempt.
    public func mayHold(_ cause: AttemptCause, context: CallContext) -> Bool { true }

    /// It is told of every end.
    public func isConcerned(by end: AttemptEnd) -> Bool { true }

    /// Nothing is kept, and nothing given back.
    @discardableResult
    public func conclude(
        _ attempt: PlannedAttempt,
        _ end: AttemptEnd,
        permit: AdmissionPermit?,
        context: CallContext
    ) async -> Gate.Key? { nil }
}
