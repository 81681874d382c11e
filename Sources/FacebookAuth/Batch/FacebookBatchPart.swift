import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// One batch of those that many requests go out in, with its answers, as far as there are any.
struct FacebookBatchPart {
    private let requests: [FacebookBatchRequest]
    private let graph: FacebookBatchGraph
    private(set) var answers: [FacebookBatchAnswer] = []

    init(_ requests: [FacebookBatchRequest]) {
        self.requests = requests
        graph = FacebookBatchGraph(requests)
    }

    /// Sends all requests.
    mutating func send(_ body: ([FacebookBatchRequest]) async throws -> [FacebookBatchAnswer]) async throws {
        answers = try await body(requests)
    }

    /// That the token of the batch was definitely refused, as the first answer says that does; nil if none does.
    var refusal: RecoveryError? {
        refused.min().map { index in
            var outcome = answers[index].outcome
            (outcome.kind, outcome.remedies) = (.reauthenticationRequired, [.reauthenticate])
            return RecoveryError(outcome: outcome, reason: .repairFailed)
        }
    }

    /// The requests that were refused for the token of the batch.
    private var refused: Set<Int> {
        Set(requests.indices.filter { requests[$0].token == nil && answers[$0].outcome.isDefiniteRefusal })
    }

    /// What is sent once more: what was refused and, where it was not done, what needs that; with all that these need, if
    /// doing that again does no harm.
    private var toRepeat: [Int] {
        var open = refused
        for index in refused {
            open.formUnion(
                graph.descendants(of: index).filter { answers[$0].outcome.isFailure && answers[$0].head == nil }
            )
        }
        var result: Set<Int> = []
        for index in open {
            let needed = graph.ancestors(of: index).subtracting(open)
            let isPossible = needed.allSatisfy { !answers[$0].outcome.isFailure && requests[$0].mayBeSentTwice }
            if isPossible { result.formUnion(needed.union([index])) }
        }
        return result.sorted()
    }

    /// Whether all that is sent once more only reads.
    var repeatsReadsAlone: Bool { toRepeat.allSatisfy { requests[$0].isRead } }

    /// Sends once more what was refused.
    mutating func sendAgain(_ body: ([FacebookBatchRequest]) async throws -> [FacebookBatchAnswer]) async throws {
        let indices = toRepeat
        let fresh: [FacebookBatchAnswer]
        do {
            fresh = try await body(indices.map { requests[$0] })
        } catch let error as RecoveryError {
            // Of what was sent, nobody knows more than this failure says.
            fresh = indices.map { _ in FacebookBatchPlan.answer(for: error) }
        }
        for (index, answer) in zip(indices, fresh) {
            let attempts = answers[index].attempts + answer.attempts
            // A success is never lost again.
            if answers[index].outcome.isFailure || !answer.outcome.isFailure { answers[index] = answer }
            answers[index].attempts = attempts
        }
    }

    /// Tells with what was refused why it is not sent once more, though somebody has signed in.
    mutating func leave(because error: RecoveryError) {
        for index in refused {
            var outcome = answers[index].outcome
            (outcome.kind, outcome.remedies) = (error.kind, error.remedies)
            (outcome.tokenAction, outcome.credential) = (.keep, nil)
            outcome.userMessage = error.outcome.userMessage
            answers[index].outcome = outcome
        }
    }
}

extension FacebookBatchRequest {
    /// Whether it only reads.
    var isRead: Bool { method == .get || method == .head }
}
