import AuthRecovery
import HTTPRecovery

/// A transaction that is answered on another device, or by what was sent to one.
struct OktaOutOfBand: RememberedFields {
    var code = Secret("")
    /// How it is answered: `none`, `transfer` with a number to show, or `prompt`.
    var binding = "none"
    var number: String?
    var interval = Duration.seconds(5)
    var lifetime = Duration.seconds(300)
    var endsAt = Timestamp(secondsSinceEpoch: 0)
    var factor = Factor(key: .push, providerName: "push")

    init() {}

    /// Reads an answer; nil without the handle.
    init?(_ json: JSONValue) {
        guard let code = json["oob_code"]?.string?.nonEmpty else { return nil }
        self.code = Secret(code)
        binding = json["binding_method"]?.string?.bounded(to: 64) ?? binding
        number = json["binding_code"]?.codeText?.bounded(to: 16)
        interval = json["interval"]?.lenientNumber.map { max(.seconds(1), min($0.seconds, .seconds(600))) } ?? interval
        lifetime = json["expires_in"]?.lenientNumber.map { max(.zero, min($0.seconds, .seconds(86_400))) } ?? lifetime
    }

    var isAnsweredElsewhere: Bool { binding != "prompt" }

    static var fields: [RememberedField<OktaOutOfBand>] {
        [
            .init("code", \.code), .init("binding", \.binding), .init("number", \.number),
            .init("interval", \.interval), .init("lifetime", \.lifetime), .init("ends_at", \.endsAt),
            .init("factor", \.factor),
        ]
    }
}

/// Asks whether somebody has answered on another device, until they have.
///
/// "Not yet" and "too fast" are no failures; the latter makes the interval longer for good. A poll whose answer was lost
/// is followed by another one; if that one was the yes, the next is refused, and the person begins anew.
struct OktaDirectPolling: RecoveryOperation.Plan {
    private static let slowing: Duration = .seconds(5)
    private static let maxFailures = 5

    private(set) var transaction: OktaOutOfBand
    /// What is left of its time.
    private(set) var left: Duration
    private(set) var failures = 0
    private(set) var error: RecoveryError?

    init(_ transaction: OktaOutOfBand) {
        self.transaction = transaction
        left = transaction.lifetime
    }

    /// What the person is shown while they answer elsewhere.
    var challenge: Challenge {
        Challenge(factor: transaction.factor, number: transaction.binding == "transfer" ? transaction.number : nil)
    }

    mutating func next(
        after event: RecoveryOperation.Event<OktaDirectMachine.Polled>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> RecoveryOperation.Action<Secret, OktaDirectMachine.Polled> {
        switch event {
        case .begun: return pause(transaction.interval, .challengePending)
        case .paused: return .perform(transaction.code, repeating: error?.kind)
        case .notPaused(let bound): return .fail(bound)
        case .answered(let polled): return .finish(polled)
        case .failed(let error) where error.kind == .challengePending:
            if error.outcome.code == "slow_down" { transaction.interval += Self.slowing }
            (failures, self.error) = (0, nil)
            return pause(transaction.interval, .challengePending)
        case .failed(let error):
            let bounds: [History.StopReason] = [.deadlineWouldPass, .deadlinePassed, .waitExceedsLimit]
            let isPassing = [.transport, .timedOut, .unavailable, .rateLimited].contains(error.kind)
            guard isPassing, !bounds.contains(error.reason), failures < Self.maxFailures else { return .fail(error) }
            failures += 1
            self.error = error
            return pause(max(transaction.interval, error.retryAfter ?? .zero), error.kind)
        }
    }

    private mutating func pause(
        _ delay: Duration,
        _ reason: Outcome.Kind
    ) -> RecoveryOperation.Action<Secret, OktaDirectMachine.Polled> {
        guard left > delay else {
            let expired = Outcome(.challengeExpired, processed: .yes, remedies: [.newChallenge, .switchFactor])
            return .fail(RecoveryError(outcome: expired, reason: .notRecoverable))
        }
        left -= delay
        return .pause(delay, reason: reason)
    }
}

extension OktaDirectPolling {
    /// What is written down at a pause.
    struct Memory: RememberedFields {
        var transaction = OktaOutOfBand()
        var left = Duration.zero
        var failures = 0
        var error: RecoveryError?

        init() {}

        init(_ polling: OktaDirectPolling) {
            (transaction, left) = (polling.transaction, polling.left)
            (failures, error) = (polling.failures, polling.error)
        }

        static var fields: [RememberedField<Memory>] {
            [
                .init("transaction", \.transaction), .init("left", \.left), .init("failures", \.failures),
                .init("error", \.error),
            ]
        }
    }

    /// Takes up again what was written down.
    init(_ memory: Memory) {
        self.init(memory.transaction)
        (left, failures, error) = (memory.left, memory.failures, memory.error)
    }
}
