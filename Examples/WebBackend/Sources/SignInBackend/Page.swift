import AuthRecovery
import ClerkAuth
import HTTPRecovery
import Hummingbird

/// What a browser is answered: what to ask its user next.
struct Page: Codable, Sendable, ResponseEncodable {
    /// A question to the user.
    struct Question: Codable, Sendable {
        /// What is asked for, such as `email_code`.
        var key: String
        /// Where a code was sent to.
        var destination: String?
        /// The question in the provider's words.
        var prompt: String?
        /// What the answer has to be like.
        var hint: String?
        /// How many more answers are taken.
        var attemptsLeft: Int?
    }

    /// A way to prove oneself.
    struct Way: Codable, Sendable {
        var key: String
        var name: String
        var id: String?
        var destination: String?

        init(_ factor: Factor) {
            (key, name, id, destination) = (factor.key.rawValue, factor.providerName, factor.id, factor.destination)
        }

        /// The factor, to be compared with those that were offered.
        var factor: Factor? {
            Factor.Key(rawValue: key).map { Factor(key: $0, providerName: name, id: id) }
        }
    }

    /// What to tell the user first.
    var notices: [String] = []
    var ask: Question?
    var choose: [Way]?
    /// After how many seconds to ask again, while the user answers elsewhere.
    var pollAfter: Double?
    /// The id of the session; the sign-in is over.
    var signedIn: String?

    init(_ turn: SignInTurn<ClerkSession>) {
        notices = turn.notices.compactMap(\.userMessage)
        switch turn.step {
        case .ask(let challenge): ask = Question(challenge)
        case .choose(let factors): choose = factors.map(Way.init)
        case .pending(let challenge, let pause):
            ask = Question(challenge)
            pollAfter = pause.duration / .seconds(1)
        case .finished(let session): signedIn = session.id
        @unknown default: break
        }
    }
}

extension Page.Question {
    init(_ challenge: Challenge) {
        key = challenge.key.rawValue
        destination = challenge.factor.destination
        prompt = challenge.prompt
        hint = challenge.hint
        attemptsLeft = challenge.attemptsLeft
    }
}

/// What a browser sends to begin.
struct Beginning: Decodable, Sendable {
    var identifier: String
    var password: String?
}

/// What a browser sends to go on: one of these.
struct Reply: Decodable, Sendable {
    var answer: String?
    var choose: Page.Way?
    /// The code once more.
    var resend: Bool?
    /// Another way.
    var another: Bool?

    /// What the sign-in is stepped with; a reply without any of them asks whether the user has answered elsewhere.
    var input: SignInInput {
        if let answer { return .answer(.text(Secret(answer))) }
        if let choose { return .choose(choose.factor) }
        if resend == true { return .answer(.resend) }
        if another == true { return .answer(.useAnotherFactor) }
        return .poll
    }
}

/// What a browser is told that cannot go on.
struct Refusal: Codable, Sendable, ResponseEncodable {
    var error: String
    var message: String
}
