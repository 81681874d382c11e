import AuthRecovery
import HTTPRecovery

/// What is known of the answers to a journey's questions: so that a journey which has to be begun again is not asked
/// through once more, and nothing that was refused, or is good only once, goes out a second time.
struct JourneyAnswers {
    private(set) var identifier: String?
    private var password: Secret?
    private var others: [JourneyQuestion.Name: JSONValue] = [:]
    /// The questions that were answered from here since the journey began.
    private var used: Set<JourneyQuestion.Name> = []
    private var hasUsed: (identifier: Bool, password: Bool) = (false, false)

    init(identifier: String?, password: Secret?) {
        self.identifier = identifier
        self.password = password
    }

    /// Whether a password is at hand.
    var holdsPassword: Bool { password != nil }

    /// A journey begins.
    mutating func begin() {
        used = []
        hasUsed = (false, false)
    }

    /// The answer to a question, if one is at hand that was not used in this journey.
    mutating func take(for question: JourneyQuestion) -> JSONValue? {
        switch question.given {
        case .identifier? where !hasUsed.identifier && identifier != nil:
            hasUsed.identifier = true
            used.insert(question.name)
            return identifier.map { .string($0) }
        case .password? where !hasUsed.password && password != nil:
            hasUsed.password = true
            used.insert(question.name)
            return password.map { .string($0.reveal()) }
        default:
            guard used.insert(question.name).inserted else { return nil }
            return others[question.name]
        }
    }

    /// The name and the password if both are at hand, to be presented before the journey has asked.
    ///
    /// The password is used with that: a journey that asks for it all the same may have refused it, and counted it.
    mutating func takeLogin() -> ZeroPageLogin? {
        guard let identifier, let password else { return nil }
        hasUsed.password = true
        return ZeroPageLogin(name: identifier, password: password)
    }

    /// Forgets the password that was refused.
    mutating func forgetPassword() {
        password = nil
    }

    /// Remembers an answer of the person.
    mutating func learn(_ value: JSONValue, to question: JourneyQuestion) {
        used.insert(question.name)
        guard question.isReplayable else { return }
        switch (question.given, value) {
        case (.identifier?, .string(let text)):
            identifier = text
            hasUsed.identifier = true
        case (.password?, .string(let text)): learn(password: Secret(text))
        default: others[question.name] = value
        }
    }

    /// Remembers a password for the journey under way.
    mutating func learn(password: Secret) {
        self.password = password
        hasUsed.password = true
    }

    /// Remembers a password for the journey that is about to begin.
    mutating func prepare(password: Secret) {
        self.password = password
    }

    /// Forgets the answers that were refused: the proofs among them, or all if there was none.
    mutating func forget(_ refused: [JourneyQuestion]) {
        let proofs = refused.filter(\.isProof)
        for question in proofs.isEmpty ? refused : proofs {
            others[question.name] = nil
            if question.given == .password { password = nil }
        }
        // The questions come again, and what was not refused may answer them again.
        for question in refused {
            used.remove(question.name)
            if question.given == .identifier { hasUsed.identifier = false }
            if question.given == .password { hasUsed.password = false }
        }
    }
}

extension JourneyAnswers: RememberedFields {
    init() { self.init(identifier: nil, password: nil) }

    static var fields: [RememberedField<JourneyAnswers>] {
        [
            .init("identifier", \.identifier), .init("password", \.password), .init("others", \.others),
            .init("used", \.used), .init("has_used_identifier", \.hasUsed.identifier),
            .init("has_used_password", \.hasUsed.password),
        ]
    }
}
