import AuthRecovery
import HTTPRecovery

extension GraphAPI {
    /// Finds out whether a refused token is dead, and removes it then, if it is still the current one.
    ///
    /// Without a finer code a refusal does not tell a dead token from one whose person has to settle something, so
    /// Facebook is asked where the app can ask.
    ///
    /// - Throws: `RecoveryError` where it is alive and the person has to do something, or it is not known to be dead.
    func settle(_ error: RecoveryError, _ presented: FacebookAuthorization.Presented) async throws {
        guard let version = presented.version else { return }
        guard try await store.read().credentials.version(of: .access) == version else { return }
        var subcode = error.outcome.subcode
        if error.outcome.isAmbiguousRefusal, let info = try await information(on: presented.token, after: error) {
            if info.isValid || info.needsPerson || info.refusal?.kind == .permissionDenied {
                throw Self.alive(error, info)
            }
            subcode = info.refusal?.subcode ?? subcode
        }
        // Where only the access to the person's data has expired, they stay known.
        let keepsProfile = subcode == "493"
        if try await store.clear(ifVersion: version, keepsProfile: keepsProfile) { emitClear() }
    }

    /// What Facebook knows of a token; nil where the app cannot ask, and without a finer code it counts as dead then.
    ///
    /// - Throws: `RecoveryError` where the app can ask and no answer came: nobody knows then.
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

    /// The error where the token is alive.
    private static func alive(_ error: RecoveryError, _ info: FacebookTokenInfo) -> RecoveryError {
        var error = error
        error.outcome.tokenAction = .keep
        if let refusal = info.refusal, refusal.kind != .credentialRejected { error.outcome.take(refusal) }
        return error
    }

    func emitClear() {
        let runtime = client.runtime
        runtime.events.emit(RecoveryEvent(call: 0, time: runtime.time.now, kind: .clear(.access)))
    }
}

extension RecoveryError {
    /// Whether the presented token is refused, by a word that says so.
    var isDefiniteRefusal: Bool { outcome.isDefiniteRefusal }

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
