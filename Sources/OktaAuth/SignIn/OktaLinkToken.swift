public import AuthRecovery
package import HTTPRecovery
import HTTPTypes

/// The one-time token of a link that somebody was sent, which a sign-in begins with in place of a password.
@nonexhaustive public enum OktaLinkToken: Sendable, Hashable {
    /// Of a link to recover a password, or to unlock an account.
    case recovery(Secret)
    /// Of a link to activate an account.
    case activation(Secret)
}

extension OktaLinkToken {
    /// Whether it activates an account.
    var isOfActivation: Bool { if case .activation = self { true } else { false } }
}

extension OktaLinkToken: Remembered {
    package var memory: JSONValue {
        switch self {
        case .recovery(let token): ["recovery": .string(token.reveal())]
        case .activation(let token): ["activation": .string(token.reveal())]
        }
    }

    package init?(memory: JSONValue) {
        if let token = memory["recovery"]?.string {
            self = .recovery(Secret(token))
        } else if let token = memory["activation"]?.string {
            self = .activation(Secret(token))
        } else {
            return nil
        }
    }
}

extension FormFields {
    mutating func add(_ token: OktaLinkToken?) {
        switch token {
        case .recovery(let token): add("recovery_token", secret: token)
        case .activation(let token): add("activation_token", secret: token)
        case nil: break
        }
    }
}

extension OktaLinkToken {
    /// Judges the answers of an interaction that begins with a token: the engine has one word for everything that is wrong
    /// with a request, and it is the token that others bring.
    static let interaction = AdjustedClassifier(OktaClassifier()) { outcome, _ in
        guard outcome.kind == .invalidRequest, outcome.code == OAuthError.Word.invalidRequest.rawValue else { return }
        if outcome.message?.lowercased().holds("token") ?? true { explainRefusal(&outcome) }
    }

    /// Makes of a refusal that a token was not taken, be it unknown, too old or used up: nothing but another link helps,
    /// which nobody can be asked for here.
    static func explainRefusal(_ outcome: inout Outcome) {
        (outcome.kind, outcome.remedies) = (.challengeExpired, [.newChallenge])
        outcome.userMessage =
            "This link cannot be used: it is too old, was used before, or is not complete. Please ask for a new one."
    }
}

extension OktaAPI {
    /// Begins a transaction with the token of a link, which is presented once.
    func redeem(_ token: OktaLinkToken) async throws -> OktaTransaction? {
        let (path, body): (String, JSONValue) =
            switch token {
            case .recovery(let token):
                ("/api/v1/authn/recovery/token", ["recoveryToken": .string(token.reveal())])
            case .activation(let token): ("/api/v1/authn", ["token": .string(token.reveal())])
            }
        let request = org.request(.post, path: path)
        return try await step(Call(request: request, body: body, presents: .code, purpose: .redemption))
    }
}

extension Okta {
    /// A sign-in that begins with the token of a link, to be stepped: nothing is sent before its first step.
    ///
    /// The token proves the person; what else the org wants, such as a new password, is asked for. An org on the
    /// identity engine is told of it as the flow begins, also where the configured way is Direct Authentication, which
    /// knows no such token; at the Authentication API it is used up with the first step.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - identifier: The person's name, if it is known.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The sign-in; it fails with `challenge_expired` if the token is unknown, too old or used up: the person has
    ///   to ask for another link.
    public func signInFlow(
        redeeming token: OktaLinkToken,
        identifier: String? = nil,
        options: SignInOptions = .okta
    ) -> SignInFlow<OktaSession> {
        flow(.redeem(token), identifier ?? "", nil, options)
    }
}
