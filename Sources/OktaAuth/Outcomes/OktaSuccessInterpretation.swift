import AuthRecovery
import HTTPRecovery

/// Where a transaction or a session stands, as a success tells it.
struct OktaSuccessInterpretation {
    private let okta: OktaInterpretation
    private var endpoint: OktaEndpoint { okta.endpoint }
    private var presented: Outcome.CredentialKind? { okta.presented }

    init(_ okta: OktaInterpretation) {
        self.okta = okta
    }

    var outcome: Outcome {
        guard let body = okta.interpretation.content.json else { return withoutJSON }
        if endpoint.isDirectChallenge { return directChallenge(body) }
        if endpoint.isOAuth("interact") { return next([], unless: body["interaction_handle"]?.string?.nonEmpty == nil) }
        // It answers with a flow, or with the end of one.
        if endpoint.isIdentityEngine { return endpoint.endsFlow ? ended : okta.failure(.unreadable) }
        let status = body["status"]?.string?.nonEmpty
        let result = factorResult(in: body)
        var outcome: Outcome
        if endpoint.isAuthentication {
            outcome = status.map { transaction(body, status: $0, result: result) } ?? withoutStatus(body, result)
        } else if body["factorResult"] != nil {
            outcome = self.outcome(ofResult: result, in: body) ?? ok
        } else {
            outcome = resource(body)
        }
        outcome.statusType = status?.bounded(to: 256)
        outcome.factorResult = result?.bounded(to: 256)
        return outcome
    }

    private var ok: Outcome { okta.failure(.ok) }

    private func next(_ remedies: [Outcome.Remedy]) -> Outcome { okta.failure(.continue, remedies) }

    /// The result of the factor that is under way: the transaction's own, or that of an activation.
    private func factorResult(in body: JSONValue) -> String? {
        let activation = body["_embedded"]?["factor"]?["_embedded"]?["activation"]
        return body["factorResult"]?.string?.nonEmpty ?? activation?["factorResult"]?.string?.nonEmpty
    }

    // MARK: Without a transaction

    /// A success whose body is no JSON: not the API's answer, unless there is nothing to say.
    private var withoutJSON: Outcome {
        switch okta.interpretation.content {
        // A step leads to a state, unless it has ended the transaction or had something sent again.
        case .empty where endpoint.isAuthentication && !endpoint.isCancel && !endpoint.isSending,
            .empty where endpoint.isIdentityEngine && !endpoint.endsFlow:
            okta.failure(.unreadable)
        case .empty: withWordOfOAuth(ended)
        // A page where a redirect was asked for: the session token was wrong or used up.
        case .markup where endpoint.isOAuth("authorize") && okta.oneTimeToken != nil:
            okta.outcome(of: .refused(okta.oneTimeToken ?? .code))
        // What a browser would show.
        case _ where endpoint.isOAuth("logout"): ended
        // Whatever its length, an answer in which no state can be read is not taken for a step that went well.
        case _ where endpoint.isAuthentication || endpoint.isIdentityEngine: okta.failure(.unreadable)
        default: okta.interpretation.isCut ? ok : okta.failure(.unreadable)
        }
    }

    /// A success that ends what was presented, if the request asked for that.
    private var ended: Outcome {
        var outcome = ok
        let isEnded: Bool =
            switch presented {
            case .state: endpoint.isCancel || endpoint.endsFlow
            case .session: endpoint.endsSession
            case .access, .refresh: endpoint.isOAuth("revoke") || endpoint.isOAuth("logout")
            case .id: endpoint.isOAuth("logout")
            default: false
            }
        if isEnded { outcome.tokenAction = .clear }
        return outcome
    }

    /// A success of the Authentication API that names no status: normal if a transaction was ended or a code sent.
    private func withoutStatus(_ body: JSONValue, _ result: String?) -> Outcome {
        if let outcome = outcome(ofResult: result, in: body) { return outcome }
        if endpoint.isCancel { return ended }
        // The questions to choose from are a list.
        if body.array != nil { return endpoint.isQuestions ? ok : okta.failure(.unreadable) }
        if endpoint.isSending || body["stateToken"] != nil || body["_links"] != nil { return next([.askUser]) }
        return okta.failure(.unreadable)
    }

    private func resource(_ body: JSONValue) -> Outcome {
        if endpoint.isOAuth("introspect"), body["active"]?.bool == false, let presented, presented != .client {
            // A 200 that says that the token is dead.
            return okta.outcome(of: .refused(presented))
        }
        if endpoint.isOAuth("token"), body["access_token"]?.string?.nonEmpty == nil { return okta.failure(.unreadable) }
        var outcome = ended
        if presented != nil, presented == okta.oneTimeToken, endpoint.makesSession { outcome.tokenAction = .clear }
        return withWordOfOAuth(outcome)
    }

    /// The outcome, unless the endpoint is one of an authorization server's, which says more.
    private func withWordOfOAuth(_ outcome: Outcome) -> Outcome {
        let exchange = okta.interpretation.exchange
        guard
            let oauth = OAuthSuccessInterpretation(exchange, status: okta.status, body: okta.interpretation.body)?
                .outcome
        else {
            return outcome
        }
        if oauth.kind != .ok { return oauth }
        var outcome = outcome
        if oauth.tokenAction != .keep { outcome.tokenAction = oauth.tokenAction }
        return outcome
    }

    // MARK: Transactions

    private func transaction(_ body: JSONValue, status: String, result: String?) -> Outcome {
        switch status {
        case "SUCCESS":
            var outcome = ok
            // A step-up that is still to be redirected keeps its token.
            if presented == .state, body["stateToken"]?.string?.nonEmpty == nil { outcome.tokenAction = .clear }
            return outcome
        case "LOCKED_OUT":
            let canUnlock = body["_links"]?["next"] != nil || body["_links"]?["unlock"] != nil
            return okta.outcome(
                of: OktaErrorRule(
                    .accountLocked,
                    canUnlock ? [.unlock, .contactAdmin] : [.contactAdmin],
                    scope: .account,
                    clears: [.state]
                )
            )
        case "PASSWORD_EXPIRED":
            return okta.failure(.passwordExpired, [.changePassword])
        case "PASSWORD_WARN", "PASSWORD_RESET":
            return next([.changePassword])
        case "RECOVERY_CHALLENGE" where body["stateToken"] == nil && body["_links"]?["next"] == nil:
            // The person follows the mail; nothing more happens here.
            return next([.visitProvider])
        case "POLL":
            var outcome = next([.poll])
            outcome.retryAfter = body["_embedded"]?["transaction"]?["profile"]?["refresh"]?.number.map {
                max(.zero, $0.seconds / 1000)
            }
            return outcome
        case "ADMIN_CONSENT_REQUIRED":
            return next([.contactAdmin])
        default:
            if let outcome = outcome(ofResult: result, in: body) { return outcome }
            return next(wanted(status, body))
        }
    }

    /// What a transaction wants that no result of a factor tells of.
    private func wanted(_ status: String, _ body: JSONValue) -> [Outcome.Remedy] {
        switch status {
        case "MFA_REQUIRED", "FACTOR_REQUIRED":
            let types = (body["_embedded"]?["factors"]?.array ?? []).prefix(64).map { $0["factorType"]?.string ?? "" }
            let isDirect = types.isEmpty || types.contains { $0.hasPrefix("token") || $0 == "question" }
            return isDirect ? [.askUser] : [.newChallenge, .askUser]
        case "MFA_CHALLENGE", "FACTOR_CHALLENGE", "MFA_ENROLL_ACTIVATE", "FACTOR_ENROLL_ACTIVATE":
            return body["_links"]?["next"]?["name"]?.string == "poll" ? [.poll] : [.askUser]
        case "UNAUTHENTICATED", "RECOVERY", "RECOVERY_CHALLENGE", "MFA_ENROLL", "FACTOR_ENROLL", "PROFILE_REQUIRED",
            "CONSENT_REQUIRED", "DEVICE_ACTIVATE":
            return [.askUser]
        default:
            // A status of a newer version: the flow is alive, what it wants is not known.
            return []
        }
    }

    /// What the result of a factor says; nil if it says nothing about failure or waiting.
    private func outcome(ofResult result: String?, in body: JSONValue) -> Outcome? {
        switch result {
        case nil, "SUCCESS", "ACTIVE", "PENDING_ACTIVATION": return nil
        case "WAITING": return next([.poll])
        case "CHALLENGE": return next([.askUser])
        // Posting the next link would send another push.
        case "REJECTED", "CANCELLED": return okta.failure(.declined)
        case "TIMEOUT": return okta.failure(.challengeExpired, [.newChallenge, .switchFactor])
        case "ERROR": return okta.failure(.unavailable, [.newChallenge, .switchFactor])
        case "FAILED": return okta.failure(.challengeIncorrect, [.newChallenge, .switchFactor])
        case "PASSCODE_REPLAYED", "TIME_WINDOW_EXCEEDED": return okta.failure(.challengeIncorrect, [.askUser])
        // A result of a newer version: whoever polls stops.
        default: return next([])
        }
    }

    // MARK: Direct Authentication

    /// A challenge: to be waited for, or to be answered.
    private func directChallenge(_ body: JSONValue) -> Outcome {
        if body["publicKey"] != nil || body["challenge_type"]?.string?.hasSuffix("mfa-otp") == true {
            return next([.askUser])
        }
        let isLost = body["oob_code"]?.string?.nonEmpty == nil
        switch body["binding_method"]?.string {
        case "prompt": return next([.askUser], unless: isLost)
        // Whom no number is shown cannot choose it on the phone.
        case "transfer" where body["binding_code"]?.codeText == nil: return okta.failure(.unreadable)
        default:
            var outcome = next([.poll], unless: isLost)
            outcome.retryAfter = body["interval"]?.lenientNumber.map { max(.zero, $0.seconds) }
            return outcome
        }
    }

    private func next(_ remedies: [Outcome.Remedy], unless isLost: Bool) -> Outcome {
        isLost ? okta.failure(.unreadable) : next(remedies)
    }
}
