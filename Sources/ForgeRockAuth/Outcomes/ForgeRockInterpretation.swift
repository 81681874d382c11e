import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// One answer on its way to an outcome.
struct ForgeRockInterpretation {
    let interpretation: ErrorInterpretation
    let endpoint: ForgeRockEndpoint

    init(_ interpretation: ErrorInterpretation) {
        self.interpretation = interpretation
        self.endpoint = ForgeRockEndpoint(path: interpretation.exchange.path)
    }

    var status: Int { interpretation.status }
    var presented: Outcome.CredentialKind? { interpretation.exchange.presented }
    private var json: JSONValue? { interpretation.content.json }

    var outcome: Outcome {
        let envelope = isJudgedByStatus ? nil : json.flatMap { ForgeRockEnvelope($0) }
        if status == 429 { return throttled(envelope) }
        if let advice = PolicyAdvice.find(in: interpretation) { return stepUp(advice) }
        if let json, let flow = PingOneInterpretation(self, json) { return flow.outcome }
        switch endpoint {
        case .authenticate, .sessions, .policies, .rest:
            if let envelope { return error(envelope) }
            return (200..<400).contains(status) ? success : withoutEnvelope
        case .authorize, .oauth, .flow, .resource:
            // The word of OAuth counts more than the envelope that may stand around it.
            if let envelope, json?["error"]?.string == nil { return error(envelope) }
            if isSentToSignIn { return sentToSignIn }
            return wrongPlace ?? general
        }
    }

    /// Whether a success is one, whatever its members are called: only the authentication service puts errors into a 200.
    private var isJudgedByStatus: Bool {
        (200..<400).contains(status) && ![.authenticate, .sessions, .policies].contains(endpoint)
    }

    // MARK: Redirects to the sign-in

    /// Whether the answer to a session is the way to the page to sign in: the server's own, or that of an application.
    private var isSentToSignIn: Bool {
        guard presented == .session, [302, 303, 307].contains(status),
            let location = interpretation.fields.lines("location").first
        else { return false }
        let parts = location.bounded(to: 8192).utf8.split(
            separator: UInt8(ascii: "?"),
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        let query = parts.count > 1 ? FormFields(parsing: parts[1]) : FormFields()
        if query.names.contains("goto") { return true }
        // What comes back to an application with an answer is no question.
        guard !["code", "state", "error"].contains(where: query.names.contains) else { return false }
        return String(decoding: parts[0], as: UTF8.self).split { $0 == "/" || $0 == "#" }
            .contains { ["xui", "login"].contains($0.lowercased()) }
    }

    /// The session was not enough, or is none: whether it is dead, only the server that made it can say.
    private var sentToSignIn: Outcome {
        var outcome = failure(.credentialRejected, [.reauthenticate])
        outcome.processed = .no
        outcome.scope = .credential
        outcome.credential = .session
        return outcome
    }

    /// An OAuth endpoint of a realm or a host that does not exist.
    private var wrongPlace: Outcome? {
        guard [400, 404].contains(status), let text = json?["error_description"]?.string else { return nil }
        let rule = ForgeRockErrorRule(text: text.bounded(to: 4096))
        guard rule == .invalidRealm || rule == .invalidHost else { return nil }
        var outcome = rule == .invalidRealm ? wrongRealm : failure(.misconfigured, [.fixRequest])
        outcome.code = json?["error"]?.string?.bounded(to: 256)
        outcome.message = text.bounded(to: 4096)
        return outcome
    }

    // MARK: Limits and advice

    private func throttled(_ envelope: ForgeRockEnvelope?) -> Outcome {
        var outcome = Outcome.throttled(interpretation, scope: .origin)
        outcome.code = envelope?.code ?? (json?["code"] ?? json?["error"])?.codeText?.bounded(to: 256)
        outcome.subcode = envelope?.errorCode
        outcome.message = envelope?.message ?? json?["message"]?.string?.bounded(to: 1024)
        if let json { outcome.traceID = PingOneInterpretation.traceID(of: json) }
        return outcome
    }

    /// A gateway has not passed the request on: it can be repeated once the person has authenticated as advised.
    private func stepUp(_ advice: PolicyAdvice) -> Outcome {
        var outcome = failure(.stepUpRequired, [.stepUp])
        outcome.processed = endpoint == .policies ? .yes : .no
        outcome.advice = advice.json
        outcome.code = json.flatMap { ForgeRockEnvelope($0) }?.code
        return outcome
    }

    // MARK: Errors

    private func error(_ envelope: ForgeRockEnvelope) -> Outcome {
        let isDisguised = (200..<400).contains(status)
        let meant = isDisguised ? envelope.status ?? 401 : status
        var outcome = outcome(of: envelope, status: meant)
        if isDisguised { outcome.processed = .yes }
        outcome.code = outcome.code ?? envelope.code
        outcome.subcode = outcome.subcode ?? envelope.errorCode
        outcome.message = outcome.message ?? envelope.message ?? envelope.reason
        switch outcome.kind {
        case .invalidCredentials, .accountLocked, .accountBlocked, .quotaExhausted:
            outcome.userMessage = envelope.message?.sentence
            outcome.retryAfter = outcome.kind == .accountLocked ? nil : outcome.retryAfter ?? interpretation.delay.delay
        default:
            outcome.retryAfter = outcome.retryAfter ?? interpretation.delay.delay
        }
        return outcome
    }

    private func outcome(of envelope: ForgeRockEnvelope, status: Int) -> Outcome {
        if envelope.isCallbackFailure {
            // The journey waits for another answer, with the authId that comes along.
            var outcome = failure(.factorUnavailable, [.switchFactor, .askUser])
            outcome.code = envelope.code ?? envelope.reason
            if presented == .state, json?["authId"]?.string?.nonEmpty != nil { outcome.tokenAction = .rotate }
            return outcome
        }
        let meaning = ForgeRockErrorRule.of(number: envelope.number, text: envelope.message)
        if status == 429 { return .throttled(interpretation, scope: .origin) }
        if status >= 500 { return outage(meaning) }
        switch status {
        case 400, 401, 404, 406, 408:
            if let meaning, let outcome = outcome(of: meaning, envelope, status) { return outcome }
        default:
            break
        }
        switch status {
        case 401: return unauthorized
        case 403: return failure(.permissionDenied, [.contactAdmin])
        case 404, 410: return failure(.notFound)
        case 406: return wrongVersion
        case 408: return endpoint == .authenticate ? expired : .unavailable(interpretation)
        case 409: return failure(.conflict)
        default: return byStatus(status)
        }
    }

    private func outcome(of meaning: ForgeRockErrorRule, _ envelope: ForgeRockEnvelope, _ status: Int) -> Outcome? {
        switch meaning {
        case .refused:
            return endpoint == .authenticate || envelope.number != nil ? refused : nil
        case .locked:
            return locked(envelope)
        case .blocked:
            var outcome = ended(failure(.accountBlocked, [.contactAdmin]))
            outcome.scope = .account
            return outcome
        case .sessionLimit:
            var outcome = ended(failure(.quotaExhausted, [.visitProvider]))
            outcome.scope = .account
            return outcome
        case .expired:
            // Elsewhere than in a journey it is the session that has timed out.
            return endpoint == .authenticate || envelope.number != nil || status != 401 ? expired : nil
        case .noJourney, .invalidHost:
            return ended(failure(.misconfigured, [.fixRequest]))
        case .invalidRealm:
            return ended(wrongRealm)
        case .version:
            return status == 401 ? nil : wrongVersion
        case .serverFault:
            return outage(meaning)
        }
    }

    private var wrongRealm: Outcome {
        var outcome = failure(.misconfigured, [.fixRequest])
        outcome.parameter = "realm"
        return outcome
    }

    /// The journey has ended without success; what was held before stays.
    private var refused: Outcome {
        ended(failure(.invalidCredentials, [.restartFlow, .askUser]))
    }

    private var expired: Outcome {
        var outcome = ended(failure(.flowExpired, [.restartFlow]))
        // A link that was mailed is used up too.
        if presented == .code { outcome.tokenAction = .clear }
        return outcome
    }

    private func locked(_ envelope: ForgeRockEnvelope) -> Outcome {
        var outcome = ended(failure(.accountLocked))
        outcome.scope = .account
        let delay = interpretation.delay.isDelayStated ? interpretation.delay.delay : nil
        if let time = delay ?? envelope.message.flatMap({ StatedTime.find(in: $0) }) {
            outcome.lockout = .remaining(time)
            outcome.remedies = [.wait, .contactAdmin]
        } else {
            outcome.lockout = .indefinite
            outcome.remedies = [.contactAdmin]
        }
        return outcome
    }

    private var wrongVersion: Outcome {
        var outcome = failure(.invalidRequest, [.fixRequest])
        outcome.parameter = "Accept-API-Version"
        return outcome
    }

    /// A fault of the server's: also under the status of a refusal it tells nothing of what became of the request.
    var fault: Outcome {
        var outcome = Outcome.unavailable(interpretation)
        if (400..<500).contains(status) { outcome.processed = .unknown }
        return outcome
    }

    /// A 5xx refuses nothing; a fault of the authentication service leaves no journey behind that could go on.
    private func outage(_ meaning: ForgeRockErrorRule?) -> Outcome {
        if status == 501 { return byStatus(501) }
        var outcome = fault
        if meaning == .serverFault, endpoint == .authenticate, presented == .state, outcome.retryAfter == nil {
            outcome.remedies = [.restartFlow]
        }
        return outcome
    }

    private var unauthorized: Outcome {
        let message = json?["message"]?.string?.lowercased() ?? ""
        let isAboutSession = presented == .session && message.holds("access denied")
        if endpoint == .authenticate, !isAboutSession { return refused }
        var outcome = failure(.credentialRejected)
        outcome.scope = .credential
        outcome.credential = presented == .state ? .session : presented ?? (endpoint == .oauth ? .access : .session)
        switch outcome.credential {
        case .access, .id: outcome.remedies = [.refreshCredential, .reauthenticate]
        case .client: outcome.remedies = [.fixRequest]
        default: outcome.remedies = [.reauthenticate]
        }
        // A session is over if its own endpoint says so, or if the server that made it has the words for that; other
        // refusals may have other reasons, and an application's own words are about itself.
        let isOver = message.holds("access denied") && endpoint.knowsSessions || endpoint == .sessions
        if presented == .access || (presented == .session && isOver) { outcome.tokenAction = .clear }
        return outcome
    }

    /// The outcome of a journey that is over: its authId is used up.
    private func ended(_ outcome: Outcome) -> Outcome {
        var outcome = outcome
        if presented == .state { outcome.tokenAction = .clear }
        return outcome
    }

    // MARK: Successes and answers without an envelope

    private var success: Outcome {
        switch endpoint {
        case .authenticate: return StepInterpretation(self).outcome
        case .sessions: return SessionInterpretation(self).outcome
        default: return isForeign && status < 300 ? failure(.unreadable) : general
        }
    }

    private var withoutEnvelope: Outcome {
        if isForeign, status < 500, ![408, 421, 425].contains(status) { return failure(.unreadable) }
        switch status {
        case 401:
            if let error = json?["error"]?.string,
                OAuthError(word: .init(rawValue: error)).outcome(presented: nil) != nil
            {
                return general
            }
            return unauthorized
        case 404, 410: return failure(.notFound)
        case 406: return wrongVersion
        // The journey was too old, whoever has found that out: its step is used up, and is not sent again.
        case 408 where endpoint == .authenticate: return expired
        case 409: return failure(.conflict)
        default: return general
        }
    }

    /// Whether something else than the API has answered, as far as the body shows.
    var isForeign: Bool {
        interpretation.content == .markup || interpretation.content == .other
    }

    /// What the words of OAuth, the bearer challenges and the status say.
    private var general: Outcome {
        var outcome = words
        if outcome.code == OAuthError.Word.serverError.rawValue { outcome.processed = fault.processed }
        // A session is not renewed here, it is made anew.
        if outcome.credential == .session { outcome.remedies.removeAll { $0 == .refreshCredential } }
        // And a bare refusal by an application says nothing definite about it.
        if presented == .session, outcome.code == nil, outcome.kind == .credentialRejected {
            outcome.tokenAction = .keep
        }
        return outcome
    }

    private var words: Outcome {
        OAuthClassifier().classify(
            Exchange(
                method: interpretation.exchange.method,
                path: interpretation.exchange.path,
                query: interpretation.exchange.query,
                presented: presented,
                result: .response(withoutAdvice, body: interpretation.body),
                now: interpretation.exchange.now
            )
        )
    }

    /// The response without a challenge that should hold an advice and does not: then it is a plain 401.
    private var withoutAdvice: HTTPResponse {
        guard interpretation.challenges.contains(where: { $0.isScheme("ssoadvice") }) else {
            return interpretation.response
        }
        var response = interpretation.response
        response.headerFields[.wwwAuthenticate] = nil
        return response
    }

    private func byStatus(_ status: Int) -> Outcome {
        var exchange = interpretation.exchange
        exchange.result = .response(
            HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: interpretation.fields),
            body: []
        )
        var outcome = HTTPClassifier().classify(exchange)
        if outcome.kind == .conflict { outcome.remedies = [] }
        return outcome
    }

    func failure(_ kind: Outcome.Kind, _ remedies: [Outcome.Remedy] = []) -> Outcome {
        Outcome(kind, processed: interpretation.processed, remedies: remedies, status: status)
    }
}
