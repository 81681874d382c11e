import AuthRecovery
import HTTPRecovery

/// An answer without an error code of Okta's: the words of OAuth 2, challenges, redirects, and the bare status.
struct OktaWords {
    private let okta: OktaInterpretation

    init(_ okta: OktaInterpretation) {
        self.okta = okta
    }

    private var interpretation: ErrorInterpretation { okta.interpretation }
    private var status: Int { okta.status }
    private var presented: Outcome.CredentialKind? { okta.presented }

    var outcome: Outcome {
        if let outcome = OktaDirectWords(okta)?.outcome { return outcome }
        if let error = interpretation.content.json.flatMap({ OAuthError($0) }) {
            // No outage says anything about what was presented, whatever word comes with it.
            if interpretation.isOutage {
                var outcome = Outcome.unavailable(interpretation)
                (outcome.code, outcome.message) = (error.word.rawValue, error.detail)
                return outcome
            }
            if let outcome = outcome(of: error) { return outcome }
        }
        if (300..<400).contains(status), let outcome = redirected { return outcome }
        return byStatus
    }

    // MARK: Words

    /// What a word means if Okta means something else by it than the specification; nil otherwise.
    private func outcome(of error: OAuthError) -> Outcome? {
        guard error.word == .invalidGrant, status < 500 else { return nil }
        let text = error.detail?.lowercased() ?? ""
        var meaning: OktaErrorRule
        if text.holds("exceeded rate limit") || text.holds("api call exceeded") {
            meaning = OktaErrorRule(.rateLimited, [.wait], scope: .origin)
        } else if presented == nil || presented == .client {
            // Nothing tells what was presented but the text.
            if text.holds("credentials provided") {
                meaning = OktaErrorRule(.invalidCredentials, [.askUser])
            } else if text.holds("authorization code") || text.holds("pkce") {
                meaning = .refused(.code)
            } else {
                meaning = .refused(.refresh)
            }
        } else if presented == .refresh, !text.isEmpty, !text.holds("invalid or expired") {
            // The same word stands for a key or a client that do not fit, which is no fault of the token's.
            meaning = .refused(.refresh)
        } else {
            return nil
        }
        meaning.clears = []
        var outcome = okta.outcome(of: meaning)
        outcome.code = error.word.rawValue
        outcome.message = error.detail
        return outcome
    }

    /// A redirect of the authorization endpoint: its code, or that the one-time session token was not accepted.
    ///
    /// Another page that has not proved enough sends the person back to the app as well.
    private var redirected: Outcome? {
        guard let location = interpretation.fields.singleLine("location") else { return nil }
        let redirect = OAuthClient.AuthorizationRedirect(url: location)
        guard okta.endpoint.isOAuth("authorize") else {
            return redirect.error?.word == .interactionRequired ? goingOn(redirect.error) : nil
        }
        if redirect.code != nil, redirect.error == nil {
            var outcome = okta.failure(.ok)
            // The session token has done its duty.
            if presented != nil, presented == okta.oneTimeToken { outcome.tokenAction = .clear }
            return outcome
        }
        guard redirect.error == nil || redirect.error?.word == .loginRequired else { return nil }
        let token = okta.oneTimeToken
        let meaning: OktaErrorRule
        if redirect.error?.detail.map({ $0.lowercased().holds("re-authentication or mfa") }) ?? false {
            // Whom it stands for is known, and the app's policy wants more of them: the same once more would be refused
            // alike. A one-time token is used up all the same.
            meaning = OktaErrorRule(.stepUpRequired, [.stepUp], clears: token.map { [$0] } ?? [])
        } else if let token {
            // To sign in first, or somewhere else than to the app: the session token was wrong or used up.
            meaning = .refused(token)
        } else {
            return nil
        }
        var outcome = okta.outcome(of: meaning)
        outcome.code = redirect.error?.word.rawValue
        outcome.message = redirect.error?.detail
        return outcome
    }

    /// The flow goes on: what else it wants is read with the handle that is held.
    private func goingOn(_ error: OAuthError?) -> Outcome {
        var outcome = okta.failure(.userActionRequired, [.resync])
        outcome.code = error?.word.rawValue
        outcome.message = error?.detail
        return outcome
    }

    // MARK: Statuses

    /// What the status says, with the words and challenges that refine it.
    var byStatus: Outcome {
        if isForeign, !isRefusedByChallenge, ![408, 421, 425, 429].contains(status), status < 500 {
            return okta.failure(.unreadable)
        }
        var outcome = OAuthClassifier().classify(interpretation.exchange)
        outcome.userMessage = nil
        // A session is not renewed, it is made anew.
        if outcome.credential == .session { outcome.remedies.removeAll { $0 == .refreshCredential } }
        // Rate-limit fields stand on almost every answer.
        if outcome.isFailure, outcome.kind != .rateLimited, outcome.kind != .quotaExhausted {
            outcome.retryAfter = interpretation.delay.delay
        } else if outcome.isFailure {
            let (code, message) = (outcome.code, outcome.message)
            outcome = okta.limited(OktaErrorRule(.rateLimited, [.wait], scope: .origin))
            (outcome.code, outcome.message) = (code, message)
        }
        if status == 401, okta.endpoint.isAuthentication, presented == nil, outcome.kind == .credentialRejected {
            // Nothing but name and password was presented at the first step, and a state token at the others.
            let isFirst = okta.endpoint.isPrimary
            outcome =
                isFirst
                ? okta.failure(.invalidCredentials, [.askUser]) : okta.failure(.flowExpired, [.restartFlow])
        }
        return outcome
    }

    /// Whether a challenge names an error of the token, which counts more than a text beside it.
    private var isRefusedByChallenge: Bool {
        interpretation.content == .other
            && interpretation.challenges.contains { challenge in
                guard challenge.isAboutTokens, let word = challenge.error else { return false }
                return OAuthError(word: OAuthError.Word(rawValue: word)).outcome(presented: nil) != nil
            }
    }

    /// Whether something else than Okta's API has answered, as far as the body shows.
    private var isForeign: Bool {
        guard status >= 400 else { return false }
        return interpretation.content == .markup || interpretation.content == .other
    }
}
