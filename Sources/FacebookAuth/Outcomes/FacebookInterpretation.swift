import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// One answer of Facebook's on its way to an outcome.
struct FacebookInterpretation {
    let interpretation: ErrorInterpretation
    let endpoint: FacebookEndpoint
    let body: FacebookBody
    let envelope: FacebookEnvelope?
    let usage: FacebookUsage
    let errors: FacebookErrorConfiguration?

    init(_ interpretation: ErrorInterpretation, errors: FacebookErrorConfiguration?) {
        var interpretation = interpretation
        // Only a field whose purpose it is states a delay, also on a success that holds an error.
        interpretation.delay = ServerDelay(
            interpretation.response,
            receivedAt: interpretation.exchange.now,
            isThrottle: true
        )
        if !interpretation.delay.isDelayStated { interpretation.delay.delay = nil }
        self.interpretation = interpretation
        self.errors = errors
        endpoint = FacebookEndpoint(method: interpretation.exchange.method, path: interpretation.exchange.path)
        let body = FacebookBody(interpretation.content, interpretation.body)
        self.body = body
        envelope = FacebookEnvelope.read(body)
        usage = FacebookUsage(interpretation.fields)
    }

    var status: Int { interpretation.status }
    var presented: Outcome.CredentialKind? { interpretation.exchange.presented }
    var isSuccess: Bool { (200..<300).contains(status) }

    /// The id under which Facebook finds the call.
    var traceID: String? {
        if let id = envelope?.traceID?.nonEmpty { return id.bounded(to: 256) }
        for name in ["x-fb-trace-id", "x-fb-request-id", "x-fb-debug"] {
            if let id = interpretation.fields.lines(name).first?.nonEmpty { return id.bounded(to: 256) }
        }
        return interpretation.traceID
    }

    var outcome: Outcome {
        var outcome = judged
        if outcome.isFailure { outcome.retryAfter = outcome.retryAfter ?? interpretation.delay.delay }
        return outcome
    }

    private var judged: Outcome {
        if status == 429 {
            var outcome = limited(Self.scope(ofLimit: envelope) ?? .origin)
            if let envelope { describe(&outcome, envelope) }
            return outcome
        }
        guard let envelope else {
            return isSuccess
                ? FacebookSuccessInterpretation(self).outcome : FacebookStatusInterpretation(self).withoutError
        }
        var outcome = self.outcome(of: envelope)
        describe(&outcome, envelope)
        return outcome
    }

    // MARK: The order of meanings

    private func outcome(of envelope: FacebookEnvelope) -> Outcome {
        if let meaning = envelope.saidLimit { return outcome(of: meaning, envelope) }
        switch envelope.form {
        case .login: return FacebookWords(self).outcome(ofLogin: envelope)
        case .site: return FacebookWords(self).outcome(ofSite: envelope)
        case .word(let word):
            // A dialog that was left says so by word and, beside it, with the code of a permission.
            if let outcome = FacebookWords(self).outcome(of: word, envelope) { return outcome }
        case .graph, .debugger: break
        }
        let (code, subcode) = (envelope.number, envelope.subnumber)
        if endpoint.isDevice, let meaning = FacebookErrorRule.device(subcode) {
            var outcome = outcome(of: meaning, envelope)
            outcome.retryAfter = [interpretation.delay.delay, FacebookErrorRule.deviceDelay(subcode)].compactMap(\.self)
                .max()
            return outcome
        }
        if let meaning = FacebookErrorRule.product(code, subcode) { return outcome(of: meaning, envelope) }
        if let meaning = FacebookErrorRule.limit(code) { return outcome(of: meaning, envelope) }
        if code == 190 || code == 102 { return outcome(of: FacebookErrorRule.token(subcode), envelope) }
        if FacebookErrorRule.settles(subcode) { return outcome(of: .settledAtFacebook, envelope) }
        if refusesToken(envelope) { return outcome(of: .refused, envelope) }
        if let outcome = configured(envelope) { return outcome }
        if code == 368, envelope.isOfWhatsApp { return outcome(of: .plain(.policyBlocked, [.contactAdmin]), envelope) }
        if let meaning = FacebookErrorRule.permission(code) { return outcome(of: meaning, envelope) }
        if let meaning = FacebookErrorRule.upload(code, subcode, isFinal: envelope.isFinal) {
            return outcome(of: meaning, envelope)
        }
        if envelope.isTransient == true { return outcome(of: .serverError, envelope) }
        if code == 1 || code == 2 { return general(envelope) }
        if let meaning = request(envelope) { return outcome(of: meaning, envelope) }
        // The debugger says only that the token is not valid.
        if case .debugger = envelope.form, code == nil { return outcome(of: .refused, envelope) }
        return FacebookStatusInterpretation(self).unknown(envelope)
    }

    /// Whether another code than the usual ones refuses the token.
    private func refusesToken(_ envelope: FacebookEnvelope) -> Bool {
        switch envelope.number {
        case 412: true
        // Of WhatsApp.
        case 0: status == 401 || envelope.type == "AuthException"
        case 2500: envelope.says("active access token")
        default: false
        }
    }

    /// The general errors: passing, unless the server refuses for good and tells the person why.
    private func general(_ envelope: FacebookEnvelope) -> Outcome {
        if envelope.number == 1, envelope.says("client secret") {
            return outcome(of: .plain(.misconfigured, [.fixRequest], scope: .app), envelope)
        }
        if envelope.number == 1, envelope.isFinal {
            // The same answer comes where a message of Messenger's was sent all the same.
            let mayBeDone = status >= 500 || envelope.subnumber == 1_357_046
            return failure(.unknown, processed: mayBeDone ? .unknown : .no)
        }
        return outcome(of: .serverError, envelope)
    }

    private func request(_ envelope: FacebookEnvelope) -> FacebookErrorRule? {
        guard let code = envelope.number else { return nil }
        if code == 100 {
            if envelope.says("appsecret_proof") { return .plain(.misconfigured, [.fixRequest], scope: .app) }
            if endpoint.issuesTokens, FacebookWords(self).refusesCode(envelope) { return .refused }
            if envelope.subnumber == 33 { return .plain(.notFound, [.fixRequest]) }
        }
        return FacebookErrorRule.requests[code]
    }

    /// What the vendor's table says of a code that is no limit, refuses no token and sends no person to Facebook.
    private func configured(_ envelope: FacebookEnvelope) -> Outcome? {
        // The server's word about this very error comes before its table.
        guard let errors, let code = envelope.number, envelope.isTransient != true, presented != .client,
            let entry = errors.entry(code: code, subcode: envelope.subnumber)
        else { return nil }
        let isGeneral = code == 1 || code == 2
        switch entry.category {
        case .other:
            guard isGeneral else { return nil }
            var outcome = general(envelope)
            outcome.remedies.removeAll { $0 == .retry }
            return outcome
        case .transient: return isGeneral ? nil : outcome(of: .serverError, envelope)
        case .recoverable:
            var outcome = failure(.unknown, [.reauthenticate], processed: .no)
            if let meaning = FacebookErrorRule.permission(code) {
                outcome = self.outcome(of: meaning, envelope)
                outcome.remedies = [.reauthenticate] + outcome.remedies.filter { $0 != .reauthenticate }
            }
            // What the table says of a code is no word about this request.
            if isGeneral || interpretation.isOutage { outcome.processed = .unknown }
            outcome.userMessage = entry.recoveryMessage
            return outcome
        }
    }

    // MARK: Outcomes

    func outcome(of meaning: FacebookErrorRule, _ envelope: FacebookEnvelope) -> Outcome {
        switch meaning {
        case .limit(let scope):
            return limited(scope)
        case .longLimit(let scope):
            var outcome = limited(scope)
            outcome.retryAfter = outcome.retryAfter ?? Outcome.quotaSpan
            return outcome
        case .refused:
            // It speaks of the token that was asked about, whoever asked.
            if case .debugger = envelope.form { return refused(.access, isPresented: false) }
            if endpoint.issuesTokens, FacebookWords(self).refusesCode(envelope) {
                return refused(.code, isPresented: presented == .code)
            }
            return refused(presented ?? .access, isPresented: presented != nil)
        case .plain(let kind, let remedies, let scope):
            var outcome = failure(kind, remedies, processed: .no)
            outcome.scope = scope
            // Nobody signs in for the app.
            if presented == .client { outcome.remedies.removeAll { $0 == .reauthenticate } }
            if presented == .device, kind == .flowExpired || kind == .declined { outcome.tokenAction = clearing }
            return outcome
        case .settledAtFacebook:
            var outcome = failure(.userActionRequired, [.visitProvider], processed: .no)
            outcome.scope = .account
            outcome.advice = ["url": "https://www.facebook.com/"]
            return outcome
        case .serverError:
            return unavailable
        case .preparationFailed:
            var outcome = unavailable
            if endpoint.preparesMedia { outcome.processed = .no }
            return outcome
        case .chunkFailed:
            var outcome = unavailable
            outcome.processed = interpretation.processed == .yes ? .unknown : interpretation.processed
            outcome.advice = envelope.uploadOffsets
            return outcome
        }
    }

    /// A passing failure that the body tells of: the server may have done what was asked for, whatever the status.
    var unavailable: Outcome {
        var outcome = Outcome.unavailable(interpretation)
        // Only a 503 with a time says that nothing was done.
        if status != 503 || outcome.retryAfter == nil { outcome.processed = .unknown }
        return outcome
    }

    /// The outcome of a refusal for a limit, by the time that the server states.
    func limited(_ scope: Outcome.Scope) -> Outcome {
        let code = envelope?.number ?? envelope?.saidCode
        let stated = interpretation.delay.delay ?? usage.wait(forCode: code, at: endpoint)
        var outcome = failure(.rateLimited, [.wait], processed: .no)
        outcome.scope = scope
        outcome.retryAfter = stated
        if let stated, stated >= Outcome.quotaSpan { outcome.kind = .quotaExhausted }
        return outcome
    }

    private static func scope(ofLimit envelope: FacebookEnvelope?) -> Outcome.Scope? {
        guard let envelope else { return nil }
        let meaning =
            envelope.saidLimit ?? FacebookErrorRule.product(envelope.number, envelope.subnumber)
            ?? FacebookErrorRule.limit(envelope.number)
        switch meaning {
        case .limit(let scope), .longLimit(let scope): return scope
        default: return nil
        }
    }

    /// A credential is refused.
    ///
    /// - Parameters:
    ///   - credential: Which one.
    ///   - isPresented: Whether it is the one that the request presented.
    func refused(_ credential: Outcome.CredentialKind, isPresented: Bool) -> Outcome {
        var outcome: Outcome
        switch credential {
        // The app's own tokens are configuration, and nobody can sign in for them.
        case .client:
            outcome = failure(.misconfigured, [.fixRequest], processed: .no)
            outcome.scope = .app
            return outcome
        case .state:
            outcome = failure(.flowExpired, [.restartFlow], processed: .no)
        case .code, .device:
            outcome = failure(.credentialRejected, [.restartFlow], processed: .no)
            outcome.credential = credential
        // There are no refresh tokens: only a sign-in helps.
        case .access, .session, .id, .refresh:
            outcome = failure(.credentialRejected, [.reauthenticate], processed: .no)
            outcome.credential = credential
        }
        outcome.scope = .credential
        if isPresented { outcome.tokenAction = clearing }
        return outcome
    }

    /// What a refusal does to what was presented: no outage takes anything away.
    private var clearing: Outcome.TokenAction {
        interpretation.isOutage ? .keep : .clear
    }

    func failure(
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy] = [],
        processed: Outcome.Processed? = nil
    ) -> Outcome {
        Outcome(kind, processed: processed ?? interpretation.processed, remedies: remedies, status: status)
    }

    /// Adds the server's words.
    private func describe(_ outcome: inout Outcome, _ envelope: FacebookEnvelope) {
        // A word that has decided stands before the code beside it.
        outcome.code = outcome.code ?? envelope.code
        outcome.subcode = envelope.subcode ?? outcome.subcode
        outcome.message = envelope.message
        outcome.userMessage = envelope.userText ?? outcome.userMessage
        outcome.details = envelope.data
        switch outcome.kind {
        case .invalidRequest, .notFound, .conflict: outcome.parameter = envelope.parameter ?? outcome.parameter
        case .permissionDenied: outcome.parameter = envelope.permission ?? outcome.parameter
        case .misconfigured where envelope.says("appsecret_proof"): outcome.parameter = "appsecret_proof"
        default: break
        }
    }
}

extension FacebookEnvelope {
    /// Whether the message holds a text, in lower case.
    func says(_ text: String) -> Bool {
        message?.lowercased().holds(text) == true
    }
}
