extension RecoveryOperation {
    /// What a ``RecoveryOperation`` does, and when: a value that decides, without clock, lock or input and output.
    public protocol Plan: Sendable {
        /// What can be done, mostly a call.
        associatedtype Step: Sendable
        /// What a step brings.
        associatedtype Answer: Sendable
        /// What the plan comes to.
        associatedtype Result: Sendable

        /// Takes note of what has happened, and says what comes next.
        ///
        /// - Parameters:
        ///   - event: What has happened.
        ///   - now: The present.
        ///   - random: A number in `0 ..< 1`, another one each time.
        mutating func next(
            after event: RecoveryOperation.Event<Answer>,
            at now: TimeSource.Instant,
            random: () -> Double
        ) -> RecoveryOperation.Action<Step, Result>
    }
}

extension RecoveryOperation {
    /// What has happened in an operation.
    @nonexhaustive public enum Event<Answer: Sendable>: Sendable {
        /// It begins.
        case begun
        /// The step was answered.
        case answered(Answer)
        /// The step failed.
        case failed(RecoveryError)
        /// The pause is over.
        case paused
        /// The pause was not begun, since it would not end within the bounds.
        case notPaused(RecoveryError)
    }
}

extension RecoveryOperation {
    /// What an operation does next.
    public enum Action<Step: Sendable, Result: Sendable>: Sendable {
        /// Perform a step.
        ///
        /// - Parameters:
        ///   - step: Which.
        ///   - repeating: What the same failed with before; its calls are paid for from the retry budget then. Nil if
        ///     nothing is repeated, as by a poll that was answered.
        case perform(_ step: Step, repeating: Outcome.Kind? = nil)
        /// Wait.
        case pause(Duration, reason: Outcome.Kind)
        /// End well.
        case finish(Result)
        /// End with an error.
        case fail(RecoveryError)
    }
}
