import AuthRecovery
import HTTPRecovery

/// One answer of Okta's on its way to an outcome.
struct OktaInterpretation {
    let interpretation: ErrorInterpretation
    let endpoint: OktaEndpoint

    init(_ interpretation: ErrorInterpretation) {
        var interpretation = interpretation
        // Rate-limit fields stand on almost every answer; without a refusal for a limit only a field whose purpose it
        // is states a delay.
        if !interpretation.delay.isDelayStated { interpretation.delay.delay = nil }
        self.interpretation = interpretation
        let exchange = interpretation.exchange
        self.endpoint = OktaEndpoint(method: exchange.method, path: exchange.path, query: exchange.query)
    }

    var status: Int { interpretation.status }
    var presented: Outcome.CredentialKind? { interpretation.exchange.presented }

    /// What was presented as the one-time token of a session: good for one exchange, whatever it is called.
    var oneTimeToken: Outcome.CredentialKind? {
        guard presented == nil || presented == .session || presented == .code else { return nil }
        if endpoint.isOAuth("authorize") {
            return presented == .code || endpoint.hasSessionToken ? presented ?? .code : nil
        }
        return endpoint.makesSession ? presented ?? .code : presented == .code ? .code : nil
    }
    private var isSuccess: Bool { (200..<300).contains(status) }

    var outcome: Outcome {
        let body = interpretation.content.json
        let envelope = body.flatMap { OktaEnvelope($0) }
        if status == 429 { return throttled(envelope, body.flatMap { OktaMessages($0) }) }
        if let envelope, !isSuccess || envelope.code != nil { return outcome(of: envelope) }
        if let engine = body.flatMap({ OktaEngineInterpretation(self, $0) }) { return engine.outcome }
        if !isSuccess, let outcome = OktaDirectWords(self)?.outcome { return outcome }
        // A browser that was signed out may be sent elsewhere.
        let isSentOn = endpoint.isOAuth("logout") && (300..<400).contains(status)
        if isSuccess || isSentOn, !isRefusedByWord { return OktaSuccessInterpretation(self).outcome }
        // The Authentication API answers with a state; who is sent elsewhere has not reached it.
        if endpoint.isAuthentication, (300..<400).contains(status) { return failure(.unreadable) }
        return OktaWords(self).outcome
    }

    /// Whether a success holds the error word of an OAuth error.
    private var isRefusedByWord: Bool {
        guard !endpoint.isAuthentication, let body = interpretation.content.json else { return false }
        return OAuthError(body) != nil
    }

    // MARK: Limits

    /// A 429 is a throttle, whatever its body says.
    private func throttled(_ envelope: OktaEnvelope?, _ messages: OktaMessages?) -> Outcome {
        if let envelope, let meaning = OktaErrorRule.of(envelope, at: endpoint, presented: presented),
            meaning.kind == .rateLimited || meaning.kind == .quotaExhausted
        {
            return outcome(of: envelope)
        }
        let message = messages?.all.first
        if let message, let meaning = message.code.flatMap({ rule(for: $0, text: message.text) }),
            meaning.kind == .rateLimited || meaning.kind == .quotaExhausted
        {
            var outcome = limited(meaning)
            describe(&outcome, message)
            return outcome
        }
        var met = OktaErrorRule(.rateLimited, [.wait], scope: .origin)
        if endpoint.isIdentityEngine {
            // A person's, or a flow's own, which no field tells of; an answer that met it was not tried.
            if interpretation.fields.lines("x-rate-limit-limit").isEmpty { met.scope = .endpoint }
            if endpoint.isAnswer { met.remedies = [.wait, .askUser] }
        }
        var outcome = limited(met)
        if let envelope {
            describe(&outcome, envelope)
        } else if let message {
            describe(&outcome, message)
        } else if let error = interpretation.content.json.flatMap({ OAuthError($0) }) {
            outcome.code = error.word.rawValue
            outcome.message = error.detail
        }
        return outcome
    }

    /// The outcome of a refusal for a limit.
    func limited(_ meaning: OktaErrorRule) -> Outcome {
        var outcome = failure(meaning.kind, meaning.remedies)
        let limit = OktaRateLimit(interpretation)
        // The fields count the requests of the org: while something is left of them, a narrower limit was met (tries at
        // a factor, a person's name), which holds nobody else.
        outcome.scope = meaning.scope == .origin && limit.hasRest ? .endpoint : meaning.scope
        if status == 429 { outcome.processed = .no }
        if interpretation.delay.isDelayStated {
            outcome.retryAfter = interpretation.delay.delay
        } else if meaning.kind != .quotaExhausted {
            // The one reset beside a rest is that of the org's requests, which are not what has run out.
            let isOfAll = meaning.scope == .origin && limit.hasSeveralResets
            let isThatLimit = status == 429 && (isOfAll || !limit.hasRest)
            outcome.retryAfter = (isThatLimit ? limit.delay : nil) ?? meaning.delay
        }
        if let delay = outcome.retryAfter, delay >= Outcome.quotaSpan { outcome.kind = .quotaExhausted }
        return outcome
    }

    // MARK: Codes

    private func outcome(of envelope: OktaEnvelope) -> Outcome {
        guard let meaning = OktaErrorRule.of(envelope, at: endpoint, presented: presented) else {
            var outcome = isSuccess ? failure(.unknown) : byStatus
            describe(&outcome, envelope)
            return outcome
        }
        var outcome = self.outcome(of: meaning)
        describe(&outcome, envelope)
        outcome.parameter = outcome.parameter ?? meaning.parameter
        return outcome
    }

    /// What a code means that stands in a message in place of an error.
    func rule(for code: String, text: String?) -> OktaErrorRule? {
        OktaErrorRule.of(OktaEnvelope(code: code, summary: text), at: endpoint, presented: presented)
    }

    func outcome(of meaning: OktaErrorRule) -> Outcome {
        switch meaning.kind {
        case .rateLimited, .quotaExhausted:
            return limited(meaning)
        case .unavailable:
            var outcome = Outcome.unavailable(interpretation)
            outcome.remedies = meaning.remedies
            if outcome.retryAfter != nil, !outcome.remedies.contains(.resync) { outcome.remedies = [.wait] }
            return outcome
        default:
            var outcome = failure(meaning.kind, meaning.remedies)
            outcome.scope = meaning.scope
            outcome.credential = meaning.credential
            if outcome.kind == .accountLocked {
                // Okta never says for how long.
                outcome.lockout = .indefinite
            } else {
                outcome.retryAfter = interpretation.delay.delay
            }
            // No outage refuses anything.
            if let presented, status < 500, status != 408, meaning.clears.contains(presented) {
                outcome.tokenAction = .clear
            }
            return outcome
        }
    }

    private func describe(_ outcome: inout Outcome, _ envelope: OktaEnvelope) {
        outcome.code = envelope.code ?? outcome.code
        outcome.message = envelope.summary ?? envelope.causeText ?? outcome.message
        outcome.details = envelope.details
        switch outcome.kind {
        case .invalidRequest, .passwordRejected, .invalidCredentials, .challengeIncorrect, .conflict,
            .factorUnavailable:
            outcome.parameter = envelope.parameter
        default:
            break
        }
        outcome.userMessage = OktaText.userMessage(of: envelope, kind: outcome.kind)?.sentence
    }

    func describe(_ outcome: inout Outcome, _ message: OktaMessages.Message) {
        outcome.code = message.code ?? message.key
        outcome.message = message.text
        outcome.userMessage = message.text
        if outcome.isFailure { outcome.parameter = message.field ?? outcome.parameter }
    }

    // MARK: Statuses

    /// What the status says, if the body names no known code; an unknown code refuses no credential for good.
    var byStatus: Outcome {
        var outcome = OktaWords(self).byStatus
        outcome.tokenAction = .keep
        return outcome
    }

    func failure(_ kind: Outcome.Kind, _ remedies: [Outcome.Remedy] = []) -> Outcome {
        Outcome(kind, processed: interpretation.processed, remedies: remedies, status: status)
    }
}
