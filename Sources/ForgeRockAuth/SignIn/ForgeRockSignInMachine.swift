import AuthRecovery
import HTTPRecovery

/// A journey as a machine: its steps, and what leads from one to the next.
struct ForgeRockSignInMachine: SignInMachine {
    let callbacks: any JourneyCallbackResponder
    let webAuthn: WebAuthnResponder
    let defaults: JourneyDefaults
    /// The authorization endpoints of identity providers, by their names.
    let identityProviders: [String: String]
    private(set) var context: SignInContext?
    /// What the journey is begun anew with; differs if it was resumed.
    var restart: JourneyStart
    var journey: Journey
    var answers: JourneyAnswers
    var hasBegun = false
    /// Whether the server needs a moment before the journey is begun anew.
    var needsPause = false

    /// The step under way; nil before the first and after the journey's end.
    var step: JourneyStep?
    /// The inputs of it that are answered.
    var answered: Set<JourneyQuestion.Place> = []
    /// The questions of the step that was sent last, or of the one under way.
    var asked: [JourneyQuestion] = []
    /// Whether what needs no person is done in the step.
    var isPrepared = false
    /// Whether what the step shows once is on its way to the person, who goes on when they have it.
    var isShowing = false
    /// Whether the person has it.
    var hasShown = false
    /// The factor that failed and that another step stands in for.
    var fellBack: Factor.Key?
    /// Since when the server has been asked again and again; nil while it is not.
    var pollingSince: Timestamp?
    /// How many steps in a row were sent that nobody has typed anything for.
    var unattended = 0

    init(
        journey: Journey,
        restart: JourneyStart,
        identifier: String?,
        password: Secret?,
        callbacks: any JourneyCallbackResponder,
        webAuthn: WebAuthnResponder,
        defaults: JourneyDefaults,
        identityProviders: [String: String]
    ) {
        self.journey = journey
        self.restart = restart
        self.answers = JourneyAnswers(identifier: identifier, password: password)
        self.callbacks = callbacks
        self.webAuthn = webAuthn
        self.defaults = defaults
        self.identityProviders = identityProviders
    }

    mutating func enter(_ context: SignInContext) {
        self.context = context
        journey = journey.within(context.operation)
    }

    var openingFactor: Factor? {
        answers.holdsPassword ? Factor(key: .password, providerName: "PasswordCallback") : nil
    }

    // MARK: What the flow asks for

    mutating func begin() async throws -> SignInStep<ForgeRockSession> {
        if hasBegun { journey.replace(restart) }
        hasBegun = true
        if needsPause {
            needsPause = false
            try await context?.wait(.seconds(1), reason: .unavailable)
        }
        answers.begin()
        step = nil
        asked = []
        let login = journey.options.presentsLoginAtOnce ? answers.takeLogin() : nil
        do {
            if let session = try accept(try await journey.opened(presenting: login)) { return .finished(session) }
        } catch let refusal as StepRefusal {
            throw refusal.error
        } catch let error as RecoveryError {
            if login != nil, !error.leavesAnswersUnread { answers.forgetPassword() }
            throw ended(by: error)
        }
        return try await proceed()
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<ForgeRockSession> {
        guard let question = asked.first(where: { $0.value(of: factor) != nil }), step != nil,
            let value = question.value(of: factor)
        else { return try await begin() }
        fill(question, value)
        if question.name.type == "ConfirmationCallback" {
            // It says what is to happen now, whatever else the step has asked.
            asked = []
            if let session = try await send() { return .finished(session) }
        }
        return try await proceed()
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<ForgeRockSession> {
        guard step != nil else {
            // The journey has ended with the refusal: another one begins, with this answer in it.
            if challenge.key == .password {
                answers.prepare(password: answer)
            } else if let question = asked.first(where: { $0.id == challenge.factor.id }),
                let value = question.value(of: answer)
            {
                answers.learn(value, to: question)
            }
            return try await begin()
        }
        unattended = 0
        let same = asked.first { $0.id == challenge.factor.id }
        guard let question = same ?? asked.first(where: { $0.key == challenge.key }) else { return try await proceed() }
        if case .redirect = question.form { return try await comeBack(with: answer, to: question) }
        guard let value = value(of: answer, to: question) else {
            throw Self.refusal(.invalidRequest, parameter: question.prompt)
        }
        if question.given == .identifier { journey.account = LockoutLedger.account(for: answer.reveal()) }
        fill(question, value)
        return try await proceed()
    }

    mutating func resend(
        _ factor: Factor,
        waitingAtMost limit: Duration?
    ) async throws -> SignInStep<ForgeRockSession> {
        journey.patience = limit
        defer { journey.patience = nil }
        guard step != nil else { return try await begin() }
        let offered = step.map { JourneyQuestions.confirmations(of: $0) + asked } ?? []
        let again = offered.lazy.compactMap { question in
            question.factors.first { factor in
                ["resend", "again", "new code"].contains(where: factor.providerName.lowercased().holds)
            }.flatMap { question.value(of: $0) }.map { (place: question.place, value: $0) }
        }.first
        guard let again else { return try await proceed() }
        step?.callbacks[again.place.callback].setInput(again.value, at: again.place.input)
        asked = []
        if let session = try await send() { return .finished(session) }
        return try await proceed()
    }

    mutating func replace(
        _ factor: Factor,
        after refusal: RecoveryError?
    ) async throws -> SignInStep<ForgeRockSession> {
        // What the step offers beside its question, such as another method or a recovery code.
        let questions = step.map { JourneyQuestions.confirmations(of: $0) } ?? []
        if factor.key == .webauthn, questions.isEmpty, let question = asked.first(where: { $0.id == factor.id }) {
            // The journey has a way for those who have no authenticator, or says that it has none.
            fill(question, .string(WebAuthn.Failure.unsupported().webAuthnOutcome))
            return try await proceed()
        }
        asked += questions.filter { question in !asked.contains { $0.place == question.place } }
        let goesOn = ["submit", "resend", "again", "ok", "next", "continue"]
        return .choose(
            questions.flatMap(\.factors).filter { factor in
                !goesOn.contains(where: factor.providerName.lowercased().holds)
            }
        )
    }
}
