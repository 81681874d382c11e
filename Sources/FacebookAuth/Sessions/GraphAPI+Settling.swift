import AuthRecovery
import HTTPRecovery

extension GraphAPI {
    /// What is done if the stored token is refused: one that is dead is removed, and the call goes out once more if
    /// another one of the same person is there; a read also if it is not known whose the first was.
    func renewal(ofRead isRead: Bool) -> SessionRenewal {
        SessionRenewal(where: \.isDefiniteRefusal) { outcome, context in
            guard let presented = context.record.presented else { return .failed(outcome, reason: .notRecoverable) }
            return try await context.work { try await within($0).settled(outcome, presented, isRead, context) }
        }
    }

    /// What is to be done about a refused token, once it is known whether it is dead.
    private func settled(
        _ outcome: Outcome,
        _ presented: PresentedCredential,
        _ isRead: Bool,
        _ context: CallContext
    ) async throws -> FailureContext.RemediationResult {
        let refusal = RecoveryError(outcome: outcome, reason: .notRecoverable)
        if try await settle(refusal, version: presented.version) { context.emit(.clear(.access)) }
        let present = try await store.read().credentials
        let isOn = configuration.recoversFromErrors
        if present.accessToken == nil {
            var conclusion = outcome
            (conclusion.kind, conclusion.remedies) = (.reauthenticationRequired, [.reauthenticate])
            return .failed(conclusion, reason: isOn ? .repairFailed : .recoveryOff)
        }
        if !isOn { return .failed(outcome, reason: .recoveryOff) }
        if let id = presented.identity {
            let known: String
            if let held = present.facebookUserID { known = held } else { known = try await profile().id }
            if known != id { throw refusal.ofAnotherPerson }
        } else if !isRead {
            throw refusal.ofUnknownPerson
        }
        return .repaired
    }

    /// Finds out whether a refused token is dead, and removes it then, if it is still the current one.
    ///
    /// Without a finer code a refusal does not tell a dead token from one whose person has to settle something, so
    /// Facebook is asked, if the app can ask.
    ///
    /// - Parameters:
    ///   - error: The refusal.
    ///   - version: The version of the token that was refused.
    /// - Returns: Whether it was removed.
    /// - Throws: `RecoveryError` if it is alive and the person has to do something, or it is not known to be dead.
    func settle(_ error: RecoveryError, version: UInt64) async throws -> Bool {
        let held = try await store.read().credentials
        guard held.version(of: .access) == version, let token = held.accessToken else { return false }
        var subcode = error.outcome.subcode
        if error.outcome.isAmbiguousRefusal, let info = try await information(on: token, after: error) {
            if info.isValid || info.needsPerson || info.refusal?.kind == .permissionDenied {
                throw Self.alive(error, info)
            }
            subcode = info.refusal?.subcode ?? subcode
        }
        // If only the access to the person's data has expired, they stay known.
        return try await store.clear(ifVersion: version, keepsProfile: subcode == "493")
    }

    /// What Facebook knows of a token; nil if the app cannot ask, and without a finer code it counts as dead then.
    ///
    /// - Throws: `RecoveryError` if the app can ask and no answer came: nobody knows then.
    private func information(on token: Secret, after refusal: RecoveryError) async throws -> FacebookTokenInfo? {
        guard app.secret != nil, configuration.recoversFromErrors else { return nil }
        do {
            return try await inspect(token)
        } catch var error as RecoveryError {
            if error.forbidsAsking { return nil }
            // The call was refused, whatever became of the question.
            error.outcome.processed = .no
            error.outcome.tokenAction = .keep
            error.cause = refusal
            throw error.outcome.status == 401 ? error.inDoubt : error
        }
    }

    /// The error if the token is alive.
    private static func alive(_ error: RecoveryError, _ info: FacebookTokenInfo) -> RecoveryError {
        var error = error
        error.outcome.tokenAction = .keep
        if let refusal = info.refusal, refusal.kind != .credentialRejected { error.outcome.take(refusal) }
        return error
    }
}

extension RecoveryError {
    /// Whether the presented token is refused, by a word that says so.
    var isDefiniteRefusal: Bool { outcome.isDefiniteRefusal }

    /// The error if the call would go out for somebody else than at first.
    var ofAnotherPerson: RecoveryError {
        var error = self
        error.outcome.kind = .stateConflict
        error.outcome.remedies = [.restartFlow]
        error.outcome.tokenAction = .keep
        error.outcome.userMessage = FacebookLoginError.userMismatch.userMessage
        error.reason = .identityChanged
        return error
    }

    /// The error if nobody knows whether the call would go out for the same person as at first: who is signed in now may
    /// make it anew.
    var ofUnknownPerson: RecoveryError {
        var error = ofAnotherPerson
        error.outcome.userMessage = "You are signed in now. Please do this once more."
        return error
    }

    /// The error with a text that says no more than a bare refusal does.
    ///
    /// That is neither that the person's session has ended, nor that the app is set up wrongly. What the server itself
    /// says to the person stays.
    var inDoubt: RecoveryError {
        guard outcome.tokenAction == .keep, outcome.code == nil, outcome.userMessage == nil else { return self }
        var error = self
        error.outcome.userMessage = "Facebook has refused this. Whether you are still signed in is not known."
        return error
    }

    /// Whether Facebook has said that the app cannot ask about the token: its own is wrong, or the other is none of its
    /// own.
    fileprivate var forbidsAsking: Bool {
        guard outcome.code != nil else { return false }
        return [.misconfigured, .invalidRequest, .permissionDenied].contains(kind)
    }
}

extension Outcome {
    /// Whether the presented token is refused, by a word that says so.
    var isDefiniteRefusal: Bool { kind == .credentialRejected && tokenAction == .clear }

    /// Whether a refusal of a token does not tell a dead one from one whose person has to settle something.
    var isAmbiguousRefusal: Bool {
        guard code == "190" || code == "102" else { return false }
        return !["458", "460", "461", "463", "466", "467", "468", "493"].contains(subcode ?? "")
    }

    /// Takes over what another outcome says about the token.
    mutating func take(_ other: Outcome) {
        (kind, remedies, subcode, advice) = (other.kind, other.remedies, other.subcode, other.advice)
        if kind != .credentialRejected { credential = nil }
    }
}
