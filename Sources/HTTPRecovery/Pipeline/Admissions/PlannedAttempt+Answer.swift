extension PlannedAttempt {
    /// What an ``Admission`` says to an attempt.
    @nonexhaustive public enum Answer: Sendable {
        /// The attempt may go out.
        ///
        /// - Parameter permit: What is taken for it; nil if nothing is.
        case go(PlannedAttempt.Permit? = nil)

        /// It may go out after the time, whatever the policies say; within the deadline and the longest wait.
        ///
        /// - Parameters:
        ///   - duration: How long to wait; zero is none.
        ///   - because: What the call waits for, and comes to if it cannot.
        ///   - permit: The place that is taken already; without one, the question comes again behind the wait.
        case wait(_ duration: Duration, because: Outcome, permit: PlannedAttempt.Permit? = nil)

        /// It may go out when its turn comes, which nobody knows yet; within the deadline and the longest wait.
        ///
        /// - Parameters:
        ///   - turn: What the call waits for.
        ///   - because: What it comes to if that takes too long.
        ///   - permit: The place in the line, and what comes of it.
        case line(PlannedAttempt.Turn, because: Outcome, permit: PlannedAttempt.Permit)

        /// It must not go out now: the policies decide as about a refusal by the server, which was not sent.
        ///
        /// - Parameters:
        ///   - because: What stands in the way, with the time it takes if that is known.
        ///   - queue: The gate before which callers queue; nil if there is none.
        case hold(because: Outcome, queue: SharedState.Gate.Key? = nil)

        /// It must not go out: the call ends.
        ///
        /// - Parameters:
        ///   - reason: The word for it.
        ///   - because: What the call comes to; nil is what it came to before.
        case refuse(History.StopReason, because: Outcome? = nil)
    }
}
