import AuthRecovery
import HTTPRecovery

/// Asks whether somebody has answered on another device, until they have; it never has anything sent.
///
/// Where a code is asked for meanwhile, that may be answered by a link that is opened elsewhere.
///
/// A poll is a question, but its answer may bring a new proof of the flow, without which the old one is of no use: after
/// one that was lost, where the flow stands is read.
struct OktaEnginePolling: RecoveryOperation.Plan {
    /// What is asked.
    struct Question: Sendable {
        var answer: OktaEngineAnswer
        /// Whether it is where the flow stands, and not whether somebody has answered.
        var isReading: Bool
    }

    /// How many failures in a row are survived.
    private static let maxFailures = 5
    /// The pause after a limit that states none: it is counted over five seconds.
    private static let limitSpan: Duration = .seconds(5)

    private(set) var answer: OktaEngineAnswer
    let factor: Factor
    /// The authenticator whose code is asked for meanwhile; nil if the person can only answer elsewhere.
    let beside: String?
    /// The pause for a server that asks for none.
    let interval: Duration
    private(set) var failures = 0
    private(set) var error: RecoveryError?
    private(set) var isReading = false
    /// How long was paused so far.
    private(set) var waited = Duration.zero

    init(_ answer: OktaEngineAnswer, factor: Factor, beside: String? = nil, interval: Duration) {
        self.answer = answer
        self.factor = factor
        self.beside = beside
        self.interval = interval
    }

    /// The form that asks on; nil if there is nothing to wait for.
    static func poll(_ answer: OktaEngineAnswer) -> OktaForm? {
        answer.forms.first {
            ["challenge-poll", "enroll-poll", "poll", "device-challenge-poll"].contains($0.name)
        }
    }

    /// What stands now, in place of what was polled with: an answer was refused, and the flow's proof is another.
    mutating func stand(at answer: OktaEngineAnswer) {
        self.answer = answer
    }

    /// What asks on; nil if there is nothing to wait for.
    private var poll: OktaForm? {
        guard let beside else { return Self.poll(answer) }
        return answer.asked == beside ? answer.current?.action("poll") : nil
    }

    /// What the person is shown while they answer elsewhere.
    var challenge: Challenge {
        let address = answer.deviceChallenge?.url
        let opened = address.map { _ in "Okta Verify has to confirm on the device that the address is opened on." }
        let sent = answer.current?.linkAddress.map {
            "A link was sent to \($0): open it on the device that is to have Okta Verify."
        }
        return Challenge(
            factor: factor,
            prompt: opened ?? sent,
            number: answer.current?.number,
            setup: answer.current?.setup,
            url: address
        )
    }

    mutating func next(
        after event: RecoveryOperation.Event<OktaEngineAnswer>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> RecoveryOperation.Action<Question, OktaEngineAnswer> {
        switch event {
        case .begun: return goOn()
        case .answered(let next):
            answer = next
            if !isReading { failures = 0 }
            (error, isReading) = (nil, false)
            return goOn()
        case .failed(let error): return survive(error)
        case .paused: return .perform(Question(answer: answer, isReading: isReading), repeating: error?.kind)
        case .notPaused(let error): return .fail(error)
        }
    }

    private mutating func goOn() -> RecoveryOperation.Action<Question, OktaEngineAnswer> {
        guard let poll, answer.interactionCode == nil else { return .finish(answer) }
        let pause = max(poll.refresh ?? interval, .milliseconds(500))
        if let left = answer.lifetime, left <= pause { return .fail(Self.expired) }
        waited += pause
        // Whoever is asked meanwhile ends it themselves.
        if beside == nil, waited > OktaPolling.longest { return .fail(Self.expired) }
        return .pause(pause, reason: .challengePending)
    }

    private mutating func survive(
        _ error: RecoveryError
    ) -> RecoveryOperation.Action<Question, OktaEngineAnswer> {
        let bounds: [History.StopReason] = [.deadlineWouldPass, .deadlinePassed, .waitExceedsLimit]
        let isPassing = [.transport, .timedOut, .unavailable, .rateLimited].contains(error.kind)
        guard isPassing, !bounds.contains(error.reason), failures < Self.maxFailures else { return .fail(error) }
        failures += 1
        self.error = error
        isReading = isReading || error.kind != .rateLimited
        let backoff = Duration.seconds(1 << min(failures - 1, 4))
        let stated = error.retryAfter ?? (error.kind == .rateLimited ? Self.limitSpan : .zero)
        return .pause(max(backoff, stated), reason: error.kind)
    }

    private static var expired: RecoveryError {
        let outcome = Outcome(.challengeExpired, processed: .yes, remedies: [.newChallenge, .restartFlow])
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }
}

extension OktaEnginePolling {
    /// What is written down of it; its answer is the machine's.
    struct Memory: RememberedFields {
        var factor = Factor(key: .push, providerName: "push")
        var beside: String?
        var failures = 0
        var error: RecoveryError?
        var isReading = false
        var waited = Duration.zero

        init() {}

        init(_ polling: OktaEnginePolling) {
            (factor, failures, error) = (polling.factor, polling.failures, polling.error)
            (isReading, beside, waited) = (polling.isReading, polling.beside, polling.waited)
        }

        static var fields: [RememberedField<Memory>] {
            [
                .init("factor", \.factor), .init("failures", \.failures), .init("error", \.error),
                .init("is_reading", \.isReading), .init("beside", \.beside), .init("waited", \.waited),
            ]
        }
    }

    /// Takes up again what was written down, at a pause.
    init(_ memory: Memory, at answer: OktaEngineAnswer, interval: Duration) {
        self.init(answer, factor: memory.factor, beside: memory.beside, interval: interval)
        (failures, error, isReading) = (memory.failures, memory.error, memory.isReading)
        waited = memory.waited
    }
}

extension OktaEngineMachine {
    /// Waits until somebody has answered on another device.
    mutating func awaitPush(_ answer: OktaEngineAnswer, _ form: OktaForm) async throws -> SignInStep<OktaSession> {
        let factor = answer.current.map { standing(.push, $0) } ?? Factor(key: .push, providerName: form.name)
        polling = OktaEnginePolling(answer, factor: factor, interval: api.configuration.pollInterval)
        return try await askAfter(.begun)
    }

    /// Asks for what was sent, and looks meanwhile whether its link was opened.
    mutating func ask(_ question: Challenge, _ answer: OktaEngineAnswer) async throws -> SignInStep<OktaSession> {
        guard answer.current?.action("poll") != nil, let beside = answer.asked else { return .ask(question) }
        polling = OktaEnginePolling(
            answer,
            factor: question.factor,
            beside: beside,
            interval: api.configuration.pollInterval
        )
        return try await askAfter(.begun)
    }

    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> SignInStep<OktaSession> {
        try await askAfter(bound.map { .notPaused($0) } ?? .paused)
    }

    /// Asks after it as the plan says, up to the next pause.
    private mutating func askAfter(
        _ event: RecoveryOperation.Event<OktaEngineAnswer>
    ) async throws -> SignInStep<OktaSession> {
        guard var plan = polling, let context else { return try await resync() }
        polling = nil
        let base = self
        do {
            let end = try await context.operation.advance(&plan, after: event) { question, operation in
                let (api, standing) = (base.api.within(operation), question.answer)
                if question.isReading, let interaction = base.interaction {
                    return try await api.introspect(interaction, standing.stateHandle).answer
                }
                let poll = OktaEnginePolling.poll(standing) ?? standing.current?.action("poll")
                guard let poll else { throw base.missing("poll") }
                return try await api.post(poll, poll.body(base.base(standing)), resend: .spending).answer
            }
            switch end {
            case .finished(let next): return try await follow(next)
            case .pausing(let duration, let reason):
                stand(at: plan.answer)
                polling = plan
                let pause = SignInContext.Pause(duration, reason: reason)
                if plan.beside != nil, let current = plan.answer.current {
                    var question = self.question(plan.factor.key, current)
                    question.poll = pause
                    return .ask(question)
                }
                return .pending(plan.challenge, pause)
            }
        } catch let error as RecoveryError {
            note(error)
            throw error
        }
    }
}
