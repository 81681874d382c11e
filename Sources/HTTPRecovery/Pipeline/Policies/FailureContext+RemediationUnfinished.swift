extension FailureContext {
    /// The time of a call ran out, or would have, before something was repaired for it, such as its token renewed.
    ///
    /// It is the ``RecoveryError/cause`` of such a call. What was under way may end well all the same, for calls that come
    /// later: nothing is known against the session.
    public struct RemediationUnfinished: Error, Sendable, Hashable, CustomStringConvertible {
        /// The name of the repair in the history, such as `refresh_credential`.
        public let repair: String

        /// Creates the error.
        public init(repair: String) {
            self.repair = repair
        }

        /// What happened, for logs.
        public var description: String { "the deadline passed during \(repair)" }

        /// The call's error.
        ///
        /// - Parameters:
        ///   - outcome: What the call came to before; by default that its time ran out before it was sent.
        ///   - context: The call.
        package func error(
            after outcome: Outcome = Outcome(.timedOut, processed: .no, remedies: [.retry]),
            response: RecoveredResponse? = nil,
            context: CallContext
        ) -> RecoveryError {
            RecoveryError(
                outcome: outcome,
                reason: .deadlinePassed,
                response: response,
                history: context.record.history,
                cause: self
            )
        }
    }
}
