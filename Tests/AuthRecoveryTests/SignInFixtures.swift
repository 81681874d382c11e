import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting

extension Factor {
    static let password = Factor(key: .password, providerName: "password")
    static let email = Factor(key: .emailCode, providerName: "email_code", destination: "a•••@example.com", id: "e1")
    static let phone = Factor(key: .phoneCode, providerName: "phone_code", id: "p1")
    static let totp = Factor(key: .totp, providerName: "totp")
}

extension RecoveryError {
    static func refused(_ kind: Outcome.Kind, _ remedies: Outcome.Remedy...) -> RecoveryError {
        RecoveryError(outcome: Outcome(kind, remedies: remedies), reason: .notRecoverable)
    }
}

/// A sign-in at a server that answers from a script, and remembers what it was asked.
struct ScriptedMachine: SignInMachine {
    typealias Answer = Result<SignInStep<String>, RecoveryError>

    var openingFactor: Factor?
    var answers: [Answer]
    var calls: [String] = []

    init(opening: Factor? = nil, _ answers: Answer...) {
        self.init(opening: opening, answers)
    }

    init(opening: Factor? = nil, _ answers: [Answer]) {
        openingFactor = opening
        self.answers = answers
    }

    mutating func enter(_ context: SignInContext) {}

    var memory: JSONValue { .null }

    mutating func poll(unlessBoundBy bound: RecoveryError?) throws -> SignInStep<String> {
        if let bound { throw bound }
        return try next("poll")
    }

    private mutating func next(_ call: String) throws -> SignInStep<String> {
        calls.append(call)
        guard !answers.isEmpty else { return .finished("session") }
        return try answers.removeFirst().get()
    }

    mutating func begin() throws -> SignInStep<String> {
        defer { openingFactor = nil }
        return try next("begin")
    }

    mutating func resync() throws -> SignInStep<String> { try next("resync") }

    mutating func choose(_ factor: Factor) throws -> SignInStep<String> { try next("choose \(factor.providerName)") }

    mutating func submit(_ answer: Secret, to challenge: Challenge) throws -> SignInStep<String> {
        try next("submit \(challenge.factor.providerName) \(answer.reveal())")
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) throws -> SignInStep<String> {
        try next("resend \(factor.providerName)")
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) throws -> SignInStep<String> {
        try next("replace \(factor.providerName)\(refusal.map { " \($0.kind.rawValue)" } ?? "")")
    }
}

extension SignInMachine {
    /// Signs in with a responder; the machine is left as the flow leaves it.
    mutating func signIn(
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions(),
        because cause: Outcome = Outcome(.challengeRequired),
        emit: @escaping @Sendable (RecoveryEvent.Kind) -> Void = { _ in }
    ) async throws -> Session {
        let bench = Bench([])
        bench.client.runtime.events.observe { emit($0.kind) }
        var flow = SignInFlow(self, client: bench.client, options: options, because: cause)
        defer { self = flow.machine as? Self ?? self }
        return try await flow.run(answering: responder)
    }
}

/// A person who answers from a list, and remembers what they saw.
final class ScriptedPerson: ChallengeResponder {
    struct Seen {
        var questions: [Challenge] = []
        var choices: [[Factor]] = []
        var notices: [Outcome.Kind] = []
        var told: [String] = []
    }

    private let answers: Locked<[Result<Challenge.Answer, any Error>]>
    private let seen = Locked(Seen())
    /// What is chosen.
    enum Choice {
        case always(Factor?)
        /// In order, and nothing after that.
        case inOrder([Factor])

        static func once(_ factors: Factor...) -> Choice { .inOrder(factors) }
    }

    private let choice: Locked<Choice>

    init(_ answers: [Result<Challenge.Answer, any Error>] = [], choosing choice: Choice) {
        self.answers = Locked(answers)
        self.choice = Locked(choice)
    }

    convenience init(_ answers: [Result<Challenge.Answer, any Error>] = [], choosing choice: Factor? = nil) {
        self.init(answers, choosing: .always(choice))
    }

    convenience init(_ answers: Challenge.Answer..., choosing choice: Factor? = nil) {
        self.init(answers.map { .success($0) }, choosing: choice)
    }

    var questions: [Challenge] { seen.withLock { $0.questions } }
    var choices: [[Factor]] { seen.withLock { $0.choices } }
    var notices: [Outcome.Kind] { seen.withLock { $0.notices } }
    /// What was asked and noticed, in order.
    var told: [String] { seen.withLock { $0.told } }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        seen.withLock { seen in
            seen.questions.append(challenge)
            seen.told.append("ask \(challenge.key.rawValue)")
        }
        let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let answer else { throw Challenge.NoAnswer(challenge.key) }
        return try answer.get()
    }

    func choose(among factors: [Factor]) async throws -> Factor? {
        seen.withLock { $0.choices.append(factors) }
        return choice.withLock { choice in
            switch choice {
            case .always(let factor): return factor
            case .inOrder(var factors):
                let next = factors.isEmpty ? nil : factors.removeFirst()
                choice = .inOrder(factors)
                return next
            }
        }
    }

    func notice(_ outcome: Outcome) async {
        seen.withLock { seen in
            seen.notices.append(outcome.kind)
            seen.told.append("notice \(outcome.kind.rawValue)")
        }
    }
}

/// The events of a flow, as words.
final class EventLog: Sendable {
    private let log = Locked<[String]>([])

    var words: [String] { log.withLock { $0 } }

    func add(_ kind: RecoveryEvent.Kind) {
        let word: String? =
            switch kind {
            case .challenge(let key, let destination): "challenge \(key)\(destination.map { " \($0)" } ?? "")"
            case .fallback(let from, let to): "fallback \(from) \(to)"
            default: nil
            }
        if let word { log.withLock { $0.append(word) } }
    }
}
