import AuthRecovery
public import HTTPRecovery

/// One answer of Clerk's on its way to an outcome.
struct ClerkInterpretation {
    let interpretation: ErrorInterpretation
    let endpoint: ClerkEndpoint

    init(_ interpretation: ErrorInterpretation, endpoint: ClerkEndpoint) {
        self.interpretation = interpretation
        self.endpoint = endpoint
    }

    private var status: Int { interpretation.status }

    private var isSuccess: Bool { (200..<400).contains(status) }

    var outcome: Outcome {
        let envelope = interpretation.content.json.flatMap { ClerkEnvelope($0) }
        var outcome: Outcome
        if status == 429 {
            outcome = throttled(envelope)
        } else if let envelope {
            outcome = self.outcome(of: envelope)
        } else if endpoint.isOAuth, let issued = issued {
            outcome = issued
        } else if (200..<300).contains(status) {
            outcome = ClerkState(self).outcome
        } else {
            outcome = byStatus
        }
        // A lockout's time is a thing of its own: a delay beside it would be taken for a limit.
        if outcome.isFailure, outcome.kind != .accountLocked {
            outcome.retryAfter = outcome.retryAfter ?? interpretation.delay.delay
        }
        return outcome
    }

    /// What a success of an OAuth endpoint says about what was presented; nil for any other answer.
    private var issued: Outcome? {
        OAuthSuccessInterpretation(interpretation.exchange, status: status, body: interpretation.body)?.outcome
    }

    // MARK: Errors

    /// A 429 is a throttle, whatever its body says; it holds for the class of endpoints.
    private func throttled(_ envelope: ClerkEnvelope?) -> Outcome {
        var outcome = Outcome.throttled(interpretation, scope: .endpoint)
        switch envelope {
        case .errors(let errors):
            guard let error = decisive(errors)?.error else { break }
            describe(&outcome, error, isKnown: true)
            if error.code == "verification_code_too_many_requests", outcome.retryAfter == nil {
                outcome.retryAfter = Self.resendInterval
            }
        case .oauth(let error):
            outcome.code = error.word.rawValue
            outcome.message = error.detail
        case .hint, nil:
            break
        }
        return outcome
    }

    /// The least time between two codes, as Clerk's text for that refusal says.
    private static let resendInterval: Duration = .seconds(30)

    private func outcome(of envelope: ClerkEnvelope) -> Outcome {
        switch envelope {
        case .errors(let errors):
            guard let (error, meaning) = decisive(errors) else { return byStatus }
            let lock = lock(among: errors)
            var outcome = self.outcome(of: lock?.error ?? error, lock.map(\.meaning) ?? meaning)
            outcome.code = error.code
            if lock == nil { warn(&outcome, of: errors, after: error) }
            ClerkFieldErrors.add(errors, to: &outcome)
            return outcome
        case .oauth(let error):
            // Elsewhere the words of OAuth are not Clerk's, and the status decides as it does about any unknown code.
            if endpoint.isOAuth, let outcome = error.outcome(in: interpretation) { return outcome }
            var outcome = isSuccess ? failure(.unknown) : byStatus
            outcome.code = error.word.rawValue
            outcome.message = error.detail
            return outcome
        case .hint(let type, let reason, let reverification):
            let isReverification = reason?.hasPrefix("reverification") == true
            var outcome =
                isReverification
                ? failure(.stepUpRequired, [.stepUp]) : failure(.permissionDenied, [.contactAdmin])
            outcome.code = reason ?? type
            outcome.subcode = reason == nil ? nil : type
            if isReverification { outcome.advice = reverification }
            return outcome
        }
    }

    /// Adds what Clerk says about the attempts that are left: the person has to know it before the next one.
    private func warn(_ outcome: inout Outcome, of errors: [ClerkError], after decisive: ClerkError) {
        guard decisive.code != Self.warningCode, let text = outcome.userMessage,
            let warning = errors.first(where: { $0.code == Self.warningCode }),
            let advice = ClerkText.userMessage(of: warning, outcome, isKnown: true), advice != text
        else { return }
        outcome.userMessage = "\(text) \(advice)"
    }

    /// The first error with a known code, else the first one.
    private func decisive(_ errors: [ClerkError]) -> (error: ClerkError, meaning: ClerkErrorRule?)? {
        for error in errors {
            guard let code = error.code, var meaning = ClerkErrorRule.of(code, at: endpoint) else { continue }
            if code == Self.warningCode, isAboutCode(errors) {
                meaning = ClerkErrorRule(.challengeIncorrect, [.askUser])
            }
            return (error, meaning)
        }
        return errors.first.map { ($0, nil) }
    }

    /// The error that says that the account is locked, wherever it stands: a lock that is known must not be lost.
    private func lock(among errors: [ClerkError]) -> (error: ClerkError, meaning: ClerkErrorRule)? {
        for error in errors {
            guard let meaning = error.code.flatMap({ ClerkErrorRule.of($0, at: endpoint) }) else { continue }
            if meaning.kind == .accountLocked { return (error, meaning) }
        }
        return nil
    }

    private static let warningCode = "account_lockout_warning"

    /// Whether what was wrong was a code, if a warning about the attempts that are left comes first.
    private func isAboutCode(_ errors: [ClerkError]) -> Bool {
        errors.contains { error in
            if error.code == Self.warningCode { return error.parameter == "code" }
            return error.code.flatMap { ClerkErrorRule.of($0, at: endpoint) }?.kind == .challengeIncorrect
        }
    }

    /// The outcome of an error inside a success, such as that of a verification at another provider.
    func outcome(ofEmbedded error: ClerkError) -> Outcome {
        outcome(of: error, error.code.flatMap { ClerkErrorRule.of($0, at: endpoint) })
    }

    private func outcome(of error: ClerkError, _ meaning: ClerkErrorRule?) -> Outcome {
        var outcome: Outcome
        if let meaning {
            outcome = failure(meaning.kind, meaning.remedies)
            outcome.scope = meaning.scope
            outcome.credential = meaning.credential
            refine(&outcome, error)
        } else {
            outcome = isSuccess ? failure(.unknown) : unknown(error)
        }
        describe(&outcome, error, isKnown: meaning != nil)
        return outcome
    }

    /// An error with a code that nobody knows: the status decides.
    private func unknown(_ error: ClerkError) -> Outcome {
        switch status {
        case 401 where error.code != nil:
            // It may be about the session or about anything else: nothing is given up, and the client tells.
            return failure(.unknown, [.resync])
        case 402, 403: return failure(.permissionDenied, [.contactAdmin])
        case 404: return failure(.notFound, endpoint.isClientState ? [.resync] : [.fixRequest])
        case 410: return failure(.flowExpired, [.restartFlow])
        case 413: return failure(.invalidRequest, [.fixRequest])
        case 415:
            var outcome = failure(.misconfigured, [.fixRequest])
            outcome.scope = .app
            return outcome
        case 400 where error.parameter != nil: return failure(.invalidRequest, [.askUser])
        case 400 where error.hasEmptyCode: return failure(.conflict, [.askUser])
        case 422:
            // About a field that somebody can correct, or about nothing that anyone can.
            return failure(.invalidRequest, error.parameter == nil ? [] : [.askUser])
        default: return byStatus
        }
    }

    /// Adds what depends on the error's further members or on the fields of the answer.
    private func refine(_ outcome: inout Outcome, _ error: ClerkError) {
        switch outcome.kind {
        case .accountLocked:
            outcome.lockout = ClerkError.lockout(by: error, in: interpretation.content.json)
            if outcome.lockout == .indefinite { outcome.remedies = [.contactAdmin] }
        case .rateLimited:
            // A throttle with another status than 429.
            let (code, processed) = (error.code, outcome.processed)
            outcome = .throttled(interpretation, scope: .endpoint)
            outcome.processed = processed
            if code == "verification_code_too_many_requests" {
                outcome.retryAfter = outcome.retryAfter ?? Self.resendInterval
            }
        case .unavailable:
            outcome = .unavailable(interpretation)
        case .invalidRequest where outcome.remedies == [.fixRequest] && error.code != "form_param_unknown":
            if ClerkField.isFilledIn(error.parameter) { outcome.remedies = [.askUser] }
        case .stepUpRequired:
            outcome.advice = error.meta?["reverification"]
        default:
            break
        }
    }

    private func describe(_ outcome: inout Outcome, _ error: ClerkError, isKnown: Bool) {
        outcome.code = error.code
        outcome.message = error.message ?? error.longMessage
        outcome.parameter = error.parameter
        outcome.details = error.meta
        outcome.userMessage = ClerkText.userMessage(of: error, outcome, isKnown: isKnown)
        if !isKnown, outcome.userMessage == nil { ClerkText.keep(error.longMessage, in: &outcome) }
    }

    // MARK: Statuses

    /// What the status says, if the body names no known code.
    private var byStatus: Outcome {
        if isForeign, ![408, 421, 425, 429].contains(status), status < 500 { return failure(.unreadable) }
        var outcome = HTTPClassifier().classify(interpretation.exchange)
        outcome.tokenAction = .keep
        outcome.userMessage = nil
        switch status {
        case 401:
            outcome = failure(.credentialRejected, [.resync, .reauthenticate])
            outcome.scope = .credential
            // The proof of a flow is no credential to refuse.
            let presented = interpretation.exchange.presented ?? .session
            outcome.credential = presented == .state ? nil : presented
        case 404, 410:
            outcome.remedies = endpoint.isClientState ? [.resync] : []
        default:
            break
        }
        return outcome
    }

    /// Whether something else than Clerk's API has answered, as far as the body shows.
    private var isForeign: Bool {
        interpretation.content == .markup || interpretation.content == .other
    }

    func failure(_ kind: Outcome.Kind, _ remedies: [Outcome.Remedy] = []) -> Outcome {
        Outcome(kind, processed: interpretation.processed, remedies: remedies, status: status)
    }
}

/// Which of Clerk's texts is meant for a person.
enum ClerkText {
    fileprivate static let member = "long_message"

    /// Keeps a long text of which nobody knows whether it is meant for a person.
    static func keep(_ text: String?, in outcome: inout Outcome) {
        guard let text = text?.nonEmpty else { return }
        let kept = JSONValue.Member(member, .string(text))
        outcome.details = .object((outcome.details?.members ?? []) + [kept])
    }

    /// The text for the end user: the long message, or the short one if there is no other.
    ///
    /// Errors of the set-up, of sessions and of the server speak to developers. So may any code that nobody knows, unless it
    /// names a field, or says what somebody must not do.
    static func userMessage(of error: ClerkError, _ outcome: Outcome, isKnown: Bool) -> String? {
        let isMeant =
            isKnown || error.code == nil
            ? isMeant(outcome.kind, error, outcome.remedies)
            : error.parameter != nil || outcome.kind == .permissionDenied || outcome.status.map { $0 < 400 } ?? false
        return isMeant ? error.longMessage?.sentence ?? error.message?.sentence : nil
    }

    private static func isMeant(_ kind: Outcome.Kind, _ error: ClerkError, _ remedies: [Outcome.Remedy]) -> Bool {
        switch kind {
        case .invalidCredentials, .accountLocked, .accountBlocked, .passwordCompromised, .passwordExpired,
            .passwordRejected, .challengeIncorrect, .challengeExpired, .challengePending, .challengeRequired, .declined,
            .factorUnavailable, .flowExpired, .userActionRequired, .alreadySignedIn, .policyBlocked, .permissionDenied,
            .conflict, .rateLimited:
            true
        // The limits of a development instance are its developer's.
        case .quotaExhausted: error.code?.hasPrefix("dev_") != true
        case .invalidRequest: remedies.contains(.askUser) && !forDevelopers.contains(error.code ?? "")
        default: false
        }
    }

    /// What only says that the form lacks something.
    private static let forDevelopers: Set<String> = [
        "form_param_unknown", "form_param_missing", "form_param_nil", "form_param_type_invalid",
    ]
}

extension Outcome {
    /// Clerk's own long text, for whoever shows a person what the server says of a code that this version does not know.
    ///
    /// It is `userMessage` where that is Clerk's; of an unknown code it may speak to developers, so that it stands here alone. Nil if
    /// Clerk has said nothing at length.
    public var clerkLongMessage: String? { details?[ClerkText.member]?.string ?? userMessage }
}
