import AuthRecovery
import HTTPRecovery

/// The rounds of a batch: what is sent, what is sent again, and what each request has come to.
struct FacebookBatchPlan: RecoveryOperation.Plan {
    enum Step: Sendable {
        /// Look which of the requests a closed gate holds.
        case check([Int])
        /// Send requests.
        case send([Int])
    }

    enum Answer: Sendable {
        /// What holds requests back.
        case held([Int: Outcome])
        /// The answers, those among them that are no words of the server's, and what was presented.
        case sent([Int: FacebookBatchAnswer], unanswered: [Int], FacebookAuthorization.Presented?)
    }

    /// What each request has come to, and what was presented if the token of the batch was refused.
    struct Result: Sendable {
        var answers: [FacebookBatchAnswer?]
        /// With the number of the request whose answer says so.
        var refusal: (presented: FacebookAuthorization.Presented, index: Int)?
    }

    /// The longest that is waited for a stated time; a longer one is told, not slept.
    private static let longestWait: Duration = .seconds(30)

    private let requests: [FacebookBatchRequest]
    private let graph: FacebookBatchGraph
    /// The most attempts of a request.
    private let maxAttempts: Int
    private var result: Result
    private var round = 0
    private var pending: [Int]
    /// What was sent in the round.
    private var open: [Int] = []

    init(_ requests: [FacebookBatchRequest], maxAttempts: Int) {
        self.requests = requests
        self.maxAttempts = max(1, maxAttempts)
        graph = FacebookBatchGraph(requests)
        result = Result(answers: requests.map { _ in nil })
        pending = Array(requests.indices)
    }

    mutating func next(
        after event: RecoveryOperation.Event<Answer>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> RecoveryOperation.Action<Step, Result> {
        switch event {
        case .begun, .paused:
            guard !pending.isEmpty else { return .finish(result) }
            round += 1
            open = []
            return .perform(.check(pending))
        case .answered(.held(let held)):
            open = holdBack(held)
            return open.isEmpty ? goOn(random) : .perform(.send(open), repeating: repetition)
        case .answered(.sent(let answers, let unanswered, let presented)):
            take(answers, unanswered, presented)
            return goOn(random)
        case .failed(let error):
            guard round > 1 else { return .fail(error) }
            // What was not paid for was not sent: the answers of before stand.
            if error.reason == .budgetExhausted { return .finish(result) }
            // What came before counts. Of what was sent this time nobody knows more than this failure says.
            for index in open { keep(Self.answer(for: error), for: index) }
            return .finish(result)
        case .notPaused: return .finish(result)
        }
    }

    /// What the first of those failed with that are sent again; nil in the first round.
    private var repetition: Outcome.Kind? {
        guard round > 1 else { return nil }
        return open.lazy.compactMap { result.answers[$0]?.outcome }.first(where: \.isFailure)?.kind ?? .unavailable
    }

    /// What the failure of a whole batch means for each of its requests.
    static func answer(for error: any Error) -> FacebookBatchAnswer {
        let outcome: Outcome
        var wasSent = true
        switch error {
        case let error as RecoveryError:
            outcome = error.outcome
            wasSent = !error.history.attempts.isEmpty || error.response != nil
        case let error as TransportError: outcome = .transport(error)
        default: outcome = Outcome(.unavailable, processed: .unknown)
        }
        return FacebookBatchAnswer(outcome: outcome, head: nil, body: .empty, attempts: wasSent ? 1 : 0)
    }

    // MARK: A round

    /// Gives those that a closed gate holds, and those that need one of them, its outcome.
    ///
    /// - Returns: Those that are sent.
    private mutating func holdBack(_ gates: [Int: Outcome]) -> [Int] {
        guard !gates.isEmpty else { return pending }
        var held = gates
        for (index, outcome) in gates.sorted(by: { $0.key < $1.key }) {
            for child in graph.descendants(of: index) where held[child] == nil { held[child] = outcome }
        }
        for index in pending {
            guard let outcome = held[index] else { continue }
            // What the server has answered before stands, with the time that is left now.
            if result.answers[index]?.head != nil {
                if !isDone(index) { result.answers[index]?.outcome.retryAfter = outcome.retryAfter }
                continue
            }
            keep(FacebookBatchAnswer(outcome: outcome, head: nil, body: .empty, attempts: 0), for: index)
        }
        let open = pending.filter { held[$0] == nil }
        // What is done already goes along only with those that need it again.
        return open.filter { index in
            !isDone(index) || open.contains { !isDone($0) && graph.ancestors(of: $0).contains(index) }
        }
    }

    private mutating func take(
        _ answers: [Int: FacebookBatchAnswer],
        _ unanswered: [Int],
        _ presented: FacebookAuthorization.Presented?
    ) {
        var fresh = answers
        judgeUndone(unanswered, &fresh)
        for index in open {
            guard let answer = fresh[index] else { continue }
            keep(answer, for: index)
            if let presented { note(answer.outcome, of: index, presented) }
        }
    }

    /// Keeps an answer, with the times that the request was sent before; a success is never lost again.
    private mutating func keep(_ answer: FacebookBatchAnswer, for index: Int) {
        let attempts = (result.answers[index]?.attempts ?? 0) + answer.attempts
        if !isDone(index) || !answer.outcome.isFailure { result.answers[index] = answer }
        result.answers[index]?.attempts = attempts
    }

    /// Tells those that were not done, because one that they need has failed, from those that were not finished in time.
    private func judgeUndone(_ indices: [Int], _ answers: inout [Int: FacebookBatchAnswer]) {
        var open = indices
        var failed = Set(answers.keys.filter { answers[$0]?.head != nil && answers[$0]?.outcome.isFailure == true })
        while let index = open.first(where: { !graph.parents(of: $0).isDisjoint(with: failed) }) {
            open.removeAll { $0 == index }
            guard let parent = graph.parents(of: index).filter(failed.contains).min().flatMap({ answers[$0] }) else {
                continue
            }
            // It fares as that one does, and nothing of its own was done.
            var outcome = Outcome(parent.outcome.kind, processed: .no, remedies: parent.outcome.remedies)
            outcome.retryAfter = parent.outcome.retryAfter
            answers[index] = FacebookBatchAnswer(outcome: outcome, head: nil, body: .empty, attempts: 1)
            failed.insert(index)
        }
    }

    /// Remembers that the token of the batch was refused, by the surest of the answers that say so.
    private mutating func note(
        _ outcome: Outcome,
        of index: Int,
        _ presented: FacebookAuthorization.Presented
    ) {
        guard requests[index].token == nil, outcome.isDefiniteRefusal, presented.version != nil else { return }
        let isSurer = result.refusal.flatMap { result.answers[$0.index]?.outcome.isAmbiguousRefusal } ?? true
        if result.refusal == nil || (isSurer && !outcome.isAmbiguousRefusal) { result.refusal = (presented, index) }
    }

    // MARK: Again

    private func isDone(_ index: Int) -> Bool {
        result.answers[index].map { !$0.outcome.isFailure } ?? false
    }

    /// Whether a request failed in a way that passes, and may be sent again: it was not done, or doing it twice does no
    /// harm.
    private func mayRepeat(_ index: Int) -> Bool {
        guard let outcome = result.answers[index]?.outcome, outcome.isFailure else { return false }
        guard outcome.remedies.contains(.retry) || outcome.remedies.contains(.wait) else { return false }
        return outcome.processed == .no || requests[index].mayBeSentTwice
    }

    /// What is sent in the next round: what failed in a way that passes, with all that it needs; nothing if one of
    /// those must not be sent again.
    private func toRepeat() -> [Int] {
        var result: Set<Int> = []
        for index in requests.indices where mayRepeat(index) {
            let needed = graph.ancestors(of: index)
            let isPossible = needed.allSatisfy { mayRepeat($0) || (isDone($0) && requests[$0].mayBeSentTwice) }
            if isPossible { result.formUnion(needed.union([index])) }
        }
        return result.sorted()
    }

    /// Waits before the next round, if nothing states a time; stated ones are kept by the gates.
    private mutating func goOn(_ random: () -> Double) -> RecoveryOperation.Action<Step, Result> {
        guard round < maxAttempts else { return .finish(result) }
        pending = toRepeat()
        guard !pending.isEmpty else { return .finish(result) }
        let failed = pending.filter { !isDone($0) }
        let stated = failed.compactMap { result.answers[$0]?.outcome.retryAfter }
        let hasUnstated = stated.count < failed.count
        let backoff = Backoff.exponential(base: .milliseconds(500), jitter: .equal)
        let delay = backoff.delay(retry: round - 1, random: random())
        // A long wait is told, not slept: those that have to wait keep their outcome.
        guard hasUnstated || stated.min().map({ $0 <= Self.longestWait }) ?? false else { return .finish(result) }
        let wait = hasUnstated ? delay : max(stated.min() ?? delay, delay)
        return .pause(wait, reason: hasUnstated ? .unavailable : .rateLimited)
    }
}
