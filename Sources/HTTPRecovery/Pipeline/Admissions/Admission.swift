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
    func mayHold(_ cause: History.Cause, context: CallContext) -> Bool

    /// Why it cannot work as it was made, as a sentence; a client refuses it when it is built. Default: nil, it can.
    var problem: String? { get }

    /// Tells whether the attempt may go out.
    ///
    /// - Parameters:
    ///   - attempt: The attempt; one that is not ``PlannedAttempt/isDue`` is asked about before its wait.
    ///   - context: The call, with clock, shared state and options.
    /// - Throws: `CancellationError` when the task is cancelled; nothing may be taken then. Any other error ends the
    ///   call with it as its cause.
    func admit(_ attempt: PlannedAttempt, context: CallContext) async throws -> PlannedAttempt.Answer

    /// Takes back what was given for an attempt, which has ended or is not made; called exactly once for each permit, in
    /// a cancelled task too.
    ///
    /// - Returns: What is left to be done that has to be waited for; nil, as by default and mostly, if nothing is.
    @discardableResult
    func conclude(
        _ attempt: PlannedAttempt,
        _ end: PlannedAttempt.End,
        permit: PlannedAttempt.Permit,
        context: CallContext
    ) -> Remainder?

    /// Takes note of how an attempt has ended that was begun and for which nothing was given; called once for each.
    ///
    /// - Returns: What is left to be done that has to be waited for; nil, as by default and mostly, if nothing is.
    @discardableResult
    func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder?

    /// What it knows that another process could go on with, without secrets, and with times as seconds from now; nil, as by
    /// default, if it knows nothing (``RecoveringClient/liveState()``).
    func knowledge(at now: TimeSource.Instant) -> JSONValue?

    /// Goes on with what another process has known.
    ///
    /// - Parameters:
    ///   - knowledge: What ``knowledge(at:)`` has told, or anything that somebody has made of it.
    ///   - moment: When it told so, by this process's clock; it may lie before its start.
    /// - Returns: Whether all of it could be read; by default nothing can.
    func learn(_ knowledge: JSONValue, from moment: TimeSource.Instant) -> Bool
}

extension Admission {
    /// It is asked about each attempt.
    public func mayHold(_ cause: History.Cause, context: CallContext) -> Bool { true }

    /// By default nothing stands against it.
    public var problem: String? { nil }

    /// What is done about an end that has to be waited for, such as telling a store.
    ///
    /// It is carried out before the call goes on or ends, in a cancelled task too. It returns the gate that was closed by
    /// it, before which callers queue; nil if none was.
    public typealias Remainder = @Sendable () async -> SharedState.Gate.Key?

    /// Nothing is kept, and nothing taken back.
    @discardableResult
    public func conclude(
        _ attempt: PlannedAttempt,
        _ end: PlannedAttempt.End,
        permit: PlannedAttempt.Permit,
        context: CallContext
    ) -> Remainder? { nil }

    /// It knows nothing.
    public func knowledge(at now: TimeSource.Instant) -> JSONValue? { nil }

    /// It takes nothing over.
    public func learn(_ knowledge: JSONValue, from moment: TimeSource.Instant) -> Bool { false }

    /// Ends are nothing to it.
    @discardableResult
    public func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
        nil
    }
}
