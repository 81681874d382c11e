import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension ForgeRockSignInMachine {
    /// More steps in a row than any journey has that wants nothing of anybody.
    private static let maximumUnattended = 32
    /// The shortest and the longest pause between two polls, and how long to poll without an end.
    private static let pollPause: (least: Duration, most: Duration) = (.milliseconds(250), .seconds(600))
    private static let maximumPolling: Duration = .seconds(900)

    /// Goes on until something is wanted of the person, or the journey is over.
    mutating func proceed() async throws -> SignInStep<ForgeRockSession> {
        pollingSince = nil
        return try await goOn()
    }

    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> SignInStep<ForgeRockSession> {
        if let bound { throw bound }
        // How long is asked again and again is bounded by itself.
        unattended = 0
        if isShowing {
            (isShowing, hasShown) = (false, true)
        } else if let session = try await send() {
            return .finished(session)
        }
        return try await goOn()
    }

    private mutating func goOn() async throws -> SignInStep<ForgeRockSession> {
        while true {
            try Task.checkCancellation()
            if step == nil { return try await begin() }
            if !isPrepared { try await prepare() }
            if let shown = showOnce() { return shown }
            if let wanted = nextQuestion() {
                if case .choose(let factors) = wanted { await showQuestion(of: factors) }
                return wanted
            }
            guard let current = step else { return try await begin() }
            if let wait = current.first(\.pollingWait) { return try pause(for: wait, in: current) }
            if let session = try await send() { return .finished(session) }
        }
    }

    /// Has the server asked again after the time that it wants.
    private mutating func pause(
        for wait: Duration,
        in current: JourneyStep
    ) throws -> SignInStep<ForgeRockSession> {
        let now = webAuthn.time.wallTime
        let since = pollingSince ?? now
        pollingSince = since
        guard now.elapsed(since: since) < Self.maximumPolling else { throw Self.refusal(.challengeExpired) }
        let pause = max(wait, Self.pollPause.least)
        guard pause <= Self.pollPause.most else {
            // Asking before the server wants to be asked would be no answer to that.
            var outcome = Outcome(.timedOut, processed: .yes)
            outcome.userMessage = SignInContext.tooLong
            throw RecoveryError(
                outcome: outcome,
                reason: .waitExceedsLimit,
                retryAfter: pause,
                retryAt: now.advanced(by: pause)
            )
        }
        let shown = ShownOnce(current)
        let factor = Factor(
            key: shown?.key ?? .push,
            providerName: shown?.name ?? "PollingWaitCallback",
            id: current.stage
        )
        let challenge = Challenge(
            factor: factor,
            prompt: current.pollingMessage ?? shown?.prompt,
            number: current.pushNumber,
            setup: shown?.setup
        )
        return .pending(challenge, SignInContext.Pause(pause))
    }

    /// Shows what the step shows once; nil if there is nothing, or the person has it.
    ///
    /// The step is not sent before they have: a server that is told to go on forgets it.
    private mutating func showOnce() -> SignInStep<ForgeRockSession>? {
        guard !hasShown, let current = step, current.first(\.pollingWait) == nil, let shown = ShownOnce(current) else {
            return nil
        }
        isShowing = true
        let texts = JourneyQuestions.shownTexts(current).joined(separator: "\n").nonEmpty
        let factor = Factor(key: shown.key, providerName: shown.name, id: current.stage)
        let challenge = Challenge(factor: factor, prompt: texts ?? shown.prompt, setup: shown.setup)
        return .pending(challenge, SignInContext.Pause(.zero))
    }

    /// Sends the step under way; the session if the journey is over with it.
    ///
    /// - Parameter returned: What a browser has brought along that was sent elsewhere by the step.
    mutating func send(with returned: FormFields = FormFields()) async throws -> ForgeRockSession? {
        guard let current = step else { return nil }
        unattended += 1
        if unattended > Self.maximumUnattended {
            throw RecoveryError(outcome: Outcome(.stateConflict), reason: .attemptsExhausted)
        }
        do {
            return try accept(try await journey.advance(current, with: returned))
        } catch let refusal as StepRefusal {
            throw refusal.error
        } catch let error as RecoveryError {
            throw ended(by: error)
        }
    }

    /// Takes what follows an answer.
    mutating func accept(_ answer: Journey.Answer) throws -> ForgeRockSession? {
        switch answer.result {
        case .success(let success):
            step = nil
            return ForgeRockSession(success: success)
        case .step(let next):
            let (before, former, done) = (asked, step, answered)
            step = next
            isPrepared = false
            (isShowing, hasShown) = (false, false)
            answered = []
            asked = JourneyQuestions.of(next)
            if let former, answer.refusal == nil, let type = next.unknown(leftOpenIn: former, except: done) {
                throw JourneyDefaults.unknown(type, in: next, isAskedAgain: true)
            }
            if var refusal = answer.refusal ?? refusal(in: next, of: before, answer.response) {
                answers.forget(before)
                // Which rules were broken is what the person has to know.
                let broken = next.callbacks.flatMap { $0.attribute?.failedPolicies.map(\.sentence) ?? [] }
                if !broken.isEmpty { refusal.outcome.userMessage = broken.joined(separator: " ").bounded(to: 4096) }
                throw StepRefusal(error: refusal)
            }
            return nil
        }
    }

    /// A refusal that leaves the journey where it is.
    struct StepRefusal: Error {
        var error: RecoveryError
    }

    /// Takes the end of a journey into account.
    mutating func ended(by error: RecoveryError) -> RecoveryError {
        step = nil
        if error.kind == .invalidCredentials || (!error.leavesAnswersUnread && asked.contains(where: \.isProof)) {
            // What was refused, and what may have been taken and counted, does not answer another journey by itself.
            answers.forget(asked)
        }
        needsPause = error.kind == .unavailable
        return error
    }

    /// A step that asks again for a proof that it was just given has refused it.
    private func refusal(
        in next: JourneyStep,
        of before: [JourneyQuestion],
        _ response: RecoveredResponse?
    ) -> RecoveryError? {
        let again = asked.first { question in
            question.isProof && before.contains { $0.name == question.name && $0.key == question.key }
        }
        guard let again else { return nil }
        let kind: Outcome.Kind =
            switch again.key {
            case .password: .invalidCredentials
            case .newPassword: .passwordRejected
            default: .challengeIncorrect
            }
        var error = Self.refusal(kind)
        error.outcome.statusType = next.stage?.bounded(to: 256)
        error.outcome.userMessage = JourneyQuestions.shownTexts(next).joined(separator: "\n").nonEmpty
        error.outcome.status = response?.status.code
        error.response = response
        error.history = response?.history ?? History()
        return error
    }

    static func refusal(_ kind: Outcome.Kind, parameter: String? = nil) -> RecoveryError {
        var outcome = Outcome(kind, processed: .yes, remedies: [.askUser])
        outcome.parameter = parameter
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }

    // MARK: Questions

    /// The next question that only the person can answer.
    private mutating func nextQuestion() -> SignInStep<ForgeRockSession>? {
        for question in asked where !answered.contains(question.place) {
            if let value = answers.take(for: question) {
                fill(question, value)
                continue
            }
            if !question.factors.isEmpty { return .choose(question.factors) }
            let callback = step?.callbacks[question.place.callback]
            return .ask(
                Challenge(
                    factor: question.factor,
                    hint: question.hint,
                    prompt: chosenQuestion(of: question) ?? question.prompt,
                    url: question.url,
                    form: question.key == .redirect ? callback?.redirectForm : nil
                )
            )
        }
        return nil
    }

    /// The security question that was chosen, for its answer.
    private func chosenQuestion(of question: JourneyQuestion) -> String? {
        guard question.key == .securityAnswer, let callback = step?.callbacks[question.place.callback],
            let index = callback.index(ofInput: "question"), index != question.place.input
        else { return nil }
        return callback.input(index)?.string?.nonEmpty?.bounded(to: 4096)
    }

    /// Sets the answer to a question.
    mutating func fill(_ question: JourneyQuestion, _ value: JSONValue) {
        guard step?.callbacks.indices.contains(question.place.callback) == true else { return }
        if value.isNull {
            asked = asked.map { $0.place == question.place ? $0.inOwnWords : $0 }
            return
        }
        if question.key == .captcha {
            step?.callbacks[question.place.callback].answerCaptcha(with: value)
        } else {
            step?.callbacks[question.place.callback].setInput(value, at: question.place.input)
        }
        answered.insert(question.place)
        if question.leadsElsewhere(by: value) { answered.formUnion(asked.map(\.place)) }
        answers.learn(value, to: question)
    }

    // MARK: What needs no person

    /// Does what can be done in a step before anyone is asked.
    private mutating func prepare() async throws {
        guard var current = step else { return }
        isPrepared = true
        var isAnswered: Set<Int> = []
        for index in current.callbacks.indices {
            // A copy: an element of an array that is lent across an await crashes the compiler of release builds.
            var callback = current.callbacks[index]
            let answersIt = try await callbacks.answer(&callback, in: current)
            current.callbacks[index] = callback
            if answersIt { isAnswered.insert(index) }
        }
        if let hidden = current.callbacks.firstIndex(where: \.isWebAuthnOutcome), !isAnswered.contains(hidden) {
            try await performWebAuthn(in: &current, at: hidden)
        }
        for index in current.callbacks.indices where !isAnswered.contains(index) {
            current.callbacks[index] = try await defaults.answered(current.callbacks[index], in: current)
        }
        step = current
        asked.removeAll { isAnswered.contains($0.place.callback) }
        answered.formUnion(isAnswered.map { JourneyQuestion.Place(callback: $0, input: 0) })
        try askForVisits(in: current, except: isAnswered)
        askForProofs(in: current, except: isAnswered)
        confirm(current, except: isAnswered)
        if asked.isEmpty, isAnswered.isEmpty, let unknown = current.unanswerable {
            // Sent back as it came, it would come again.
            throw JourneyDefaults.unknown(unknown, in: current)
        }
        if let fallback = fellBack, let question = asked.first {
            fellBack = nil
            context?.emit(.fallback(from: fallback.rawValue, to: question.key.rawValue))
        }
        if asked.isEmpty, ShownOnce(current) == nil { await showTexts(of: current) }
    }

    private mutating func performWebAuthn(in current: inout JourneyStep, at index: Int) async throws {
        if webAuthn.authenticator == nil, webAuthn.isAsked {
            let options = webAuthn.ceremony(in: current).options?.description
            asked.append(.ceremony(at: index, in: current, options: options))
            return
        }
        context?.emit(.challenge(kind: Factor.Key.webauthn.rawValue, destination: nil))
        guard let result = try await webAuthn.outcome(for: current) else { return }
        current.callbacks[index].setInput(.string(result.outcome))
        guard let error = result.error else { return }
        offerWaysOut(of: current, after: error)
        fellBack = .webauthn
        var notice = Outcome(error.isRefusal ? .declined : .factorUnavailable, remedies: [.switchFactor])
        notice.factorResult = error.name
        await context?.notice(notice)
    }

    /// Offers the buttons beside a ceremony that has failed here: each wins over the outcome.
    ///
    /// Where there can be no ceremony at all, the journey knows best what stands in for it.
    private mutating func offerWaysOut(of current: JourneyStep, after error: WebAuthn.Failure) {
        if case .unsupported = error { return }
        for var question in JourneyQuestions.confirmations(of: current) {
            guard case .options(let options, _) = question.form,
                let preset = current.callbacks[question.place.callback].input(question.place.input)?.number,
                !options.contains(where: { $0.value.number == preset })
            else { continue }
            let goesOn = (label: "Go on without", value: JSONValue.number(preset))
            question.form = .options(options + [goesOn], defaultIndex: options.count)
            asked.append(question)
        }
    }

    /// The value of an answer; a credential in JSON is told as the step under way wants it.
    func value(of answer: Secret, to question: JourneyQuestion) -> JSONValue? {
        guard case .ceremony = question.form, let step, let json = try? JSONValue(parsing: answer.reveal()),
            let success = WebAuthnSuccess(credential: json, deviceName: webAuthn.deviceName)
        else { return question.value(of: answer) }
        return .string(success.outcome(for: step))
    }

    /// Answers the confirmations, or asks for them if nothing else is asked.
    private mutating func confirm(_ current: JourneyStep, except isAnswered: Set<Int>) {
        let isWaiting = current.callbacks.contains { $0.pollingWait != nil || $0.isWebAuthnOutcome }
        let hasQuestions = !asked.isEmpty
        for question in JourneyQuestions.confirmations(of: current)
        where !isAnswered.contains(question.place.callback) {
            guard case .options(let options, let defaultIndex) = question.form else { continue }
            // Beside a wait the options are ways out of it, which only the person can want.
            if isWaiting { continue }
            if hasQuestions || options.count == 1 {
                let value = options[defaultIndex ?? 0].value
                step?.callbacks[question.place.callback].setInput(value, at: question.place.input)
            } else {
                asked.append(question)
            }
        }
    }

    /// Shows what a choice is about, which its options alone do not tell.
    private func showQuestion(of factors: [Factor]) async {
        guard let question = asked.first(where: { $0.factors == factors }) else { return }
        let lines = [question.hint, question.prompt].compactMap { $0?.nonEmpty }
        guard !lines.isEmpty else { return }
        var notice = Outcome(.continue, processed: .yes)
        notice.userMessage = lines.joined(separator: "\n")
        notice.statusType = step?.stage?.bounded(to: 256)
        await context?.notice(notice)
    }

    /// Shows the texts of a step in which nothing is asked.
    private func showTexts(of step: JourneyStep) async {
        let texts = JourneyQuestions.shownTexts(step) + [step.pollingMessage].compactMap(\.self)
        guard !texts.isEmpty else { return }
        var notice = Outcome(.continue, processed: .yes)
        notice.userMessage = texts.joined(separator: "\n")
        notice.statusType = step.stage?.bounded(to: 256)
        await context?.notice(notice)
    }
}

extension JourneyStep {
    /// What the step says while it waits.
    fileprivate var pollingMessage: String? {
        first { callback in
            if case .pollingWait(_, let message?) = callback.content { message.bounded(to: 1024) } else { nil }
        }
    }
}

extension RecoveryError {
    /// Whether an end of the journey says that nobody has looked at the answers: it was too old for them, by the server's
    /// own word and no mere status, which anything on the way may have sent; or they were not let in, or not sent.
    var leavesAnswersUnread: Bool {
        switch kind {
        case .flowExpired: outcome.code != nil && oauth == nil
        case .rateLimited, .accountLocked: true
        default: outcome.status == nil && outcome.processed == .no
        }
    }
}

extension WebAuthn.Failure {
    /// Whether the person has said no.
    fileprivate var isRefusal: Bool {
        switch self {
        case .cancelled, .notAllowed: true
        default: false
        }
    }
}
