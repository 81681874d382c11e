import CommandLineSupport
import HTTPRecovery
import Testing

/// The test library has a type of the same name.
typealias Status = CommandLineSupport.ExitStatus

@Suite("Exit status")
struct ExitStatusTests {
    @Test(arguments: [
        (TransportError.Code.cannotResolve, TransportError.Certainty.neverSent, Status.cannotConnect),
        (.cannotConnect, .neverSent, .cannotConnect), (.tlsFailed, .neverSent, .cannotConnect),
        (.certificateRejected, .neverSent, .cannotConnect), (.connectionLost, .neverSent, .cannotConnect),
        (.connectionLost, .unknown, .transferFailed), (.streamRefused, .notProcessed, .transferFailed),
        (.truncated, .answered, .transferFailed), (.notHTTP, .answered, .transferFailed),
        (.bodyTooLarge, .answered, .transferFailed), (.outputFailed, .answered, .transferFailed),
        (.requestBodyFailed, .neverSent, .transferFailed), (.outOfResources, .neverSent, .transferFailed),
        (.timedOut, .neverSent, .timedOut), (.timedOut, .unknown, .timedOut), (.timedOut, .answered, .timedOut),
        (.invalidRequest, .neverSent, .usage), (.misconfigured, .neverSent, .usage),
    ])
    func ofATransportError(code: TransportError.Code, certainty: TransportError.Certainty, status: Status) {
        let failure = TransportError(code, certainty)
        var outcome = Outcome(code == .timedOut ? .timedOut : .transport)
        outcome.transportError = failure
        #expect(Status.ofRequest(RecoveryError(outcome: outcome, reason: .attemptsExhausted)) == status)
        // An empty budget or an open breaker has the status of the failure behind it.
        #expect(Status.ofRequest(RecoveryError(outcome: outcome, reason: .budgetExhausted)) == status)
        #expect(Status.ofRequest(RecoveryError(outcome: outcome, reason: .breakerOpen)) == status)
    }

    @Test(arguments: Outcome.Kind.allCases.filter { $0.isFailure && $0 != .transport && $0 != .timedOut })
    func ofAnHTTPError(kind: Outcome.Kind) {
        #expect(Status.ofRequest(RecoveryError(outcome: Outcome(kind), reason: .notRecoverable)) == .httpError)
        #expect(Status.ofRequest(RecoveryError(outcome: Outcome(kind), reason: .deadlineWouldPass)) == .timedOut)
        #expect(Status.ofRequest(RecoveryError(outcome: Outcome(kind), reason: .deadlinePassed)) == .timedOut)
        #expect(Status.ofRequest(RecoveryError(outcome: Outcome(kind), reason: .waitExceedsLimit)) == .httpError)
    }

    @Test(arguments: [(200, Status.success), (204, .success), (304, .success), (399, .success), (400, .httpError)])
    func ofAnAnswer(code: Int, status: Status) {
        #expect(Status.ofRequest(Outcome(.ok, status: code)) == status)
    }

    @Test func ofSeveralCallsTheGravestCounts() {
        let order: [Status] = [.success, .httpError, .transferFailed, .cannotConnect, .timedOut, .interrupted]
        #expect(order.map(\.rawValue) == [0, 22, 56, 7, 28, 130])
        for (index, status) in order.enumerated() {
            #expect(Status.ofAll(order[...index].shuffled()) == status)
        }
        #expect(Status.ofAll([Status]()) == .success)
    }
}
