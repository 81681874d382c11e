public import HTTPRecovery

/// Answers what a sign-in asks for: a prompt on a terminal, a form, a mailbox that a test reads.
public protocol ChallengeResponder: Sendable {
    /// Answers a question.
    ///
    /// The task is cancelled if the sign-in goes on without the answer: the question was answered elsewhere
    /// (``Challenge/poll``), or nobody wants it any more. It should return soon then; what it returns is not sent.
    ///
    /// - Throws: ``Challenge/NoAnswer`` when there is none to give; the sign-in then ends. Any other error ends it too.
    func answer(_ challenge: Challenge) async throws -> Challenge.Answer

    /// Chooses among several factors that the server offers; nil, or one that is not among them, leaves it to the
    /// preference of the sign-in.
    ///
    /// A flow that has to begin again keeps to what was chosen, and does not ask again while that is offered.
    func choose(among factors: [Factor]) async throws -> Factor?

    /// Shows something that is answered elsewhere: a confirmation that was sent to another device, with the number to
    /// choose there, or what is needed to set a factor up.
    ///
    /// It should return at once: the sign-in goes on behind it.
    func show(_ challenge: Challenge) async

    /// Shows a wait, from its beginning; a countdown may run here.
    ///
    /// The wait does not depend on it. Its task is cancelled when the wait is over, and the next wait is shown after
    /// this function has returned, so it should return soon then.
    func waiting(for reason: Outcome.Kind, duration: Duration, until: Timestamp) async

    /// Told something that the person should know: why an answer was refused, why something is asked for (as
    /// ``Challenge/occasion`` says), a warning that few attempts are left.
    func notice(_ outcome: Outcome) async
}

extension ChallengeResponder {
    /// By default the preference of the sign-in decides.
    public func choose(among factors: [Factor]) async throws -> Factor? { nil }
    /// By default nothing is shown.
    public func show(_ challenge: Challenge) async {}
    /// By default waits are not shown.
    public func waiting(for reason: Outcome.Kind, duration: Duration, until: Timestamp) async {}
    /// By default nothing is shown.
    public func notice(_ outcome: Outcome) async {}
}

extension Challenge {
    /// A responder has no answer to give: nobody is there, or the answers that were prepared are used up.
    public struct NoAnswer: Error, Sendable, Hashable, CustomStringConvertible {
        /// What was asked for.
        public let key: Factor.Key
        /// What is left to be done before the session that there is can be used, in the provider's word, such as
        /// `reset-password`; nil if nobody is signed in yet, or it can be used.
        public let task: String?
        /// What the question is owed to, such as a password that was refused since it was leaked; nil if nothing has gone wrong.
        public let cause: Outcome?

        /// Creates the error; a sign-in that ends with it adds the task and the cause.
        public init(_ key: Factor.Key, task: String? = nil, cause: Outcome? = nil) {
            self.key = key
            self.task = task
            self.cause = cause
        }

        /// What was asked for, and for which task.
        public var description: String {
            "there is no answer for \(key.rawValue)" + (task.map { ", which the session's task \($0) wants" } ?? "")
        }
    }
}
