public import AuthRecovery
import HTTPRecovery

extension Clerk {
    /// Has the person prove themselves again within the session, as for a sensitive action (step-up).
    ///
    /// Factors, codes and lockouts are dealt with as in a sign-in, and each answer is sent once; a visit to another provider is
    /// asked for by the key `redirect`, and needs the configuration's redirect URL. Session tokens that are
    /// held are dropped, since they tell the old age of the factors.
    ///
    /// - Parameters:
    ///   - level: How far.
    ///   - sessionID: The session; nil for the one that the store names.
    ///   - responder: Answers what is asked.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if the session is over. `Challenge.NoAnswer` if the
    ///   responder had none, `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func reverify(
        _ level: ClerkReverification = .secondFactor,
        sessionID: String? = nil,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        var flow = try await reverificationFlow(level, sessionID: sessionID, options: options)
        return try await flow.run(answering: responder)
    }

    /// The same, to be stepped, as by a web backend; nothing is asked of anybody before its first step.
    ///
    /// - Parameters:
    ///   - level: How far.
    ///   - sessionID: The session; nil for the one that the store names.
    ///   - options: How to deal with what goes wrong.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if the session is over.
    ///   `CancellationError` as soon as the task is cancelled.
    public func reverificationFlow(
        _ level: ClerkReverification = .secondFactor,
        sessionID: String? = nil,
        options: SignInOptions = SignInOptions()
    ) async throws -> SignInFlow<ClerkSession> {
        let id = try await api.heldSession(sessionID)
        guard let session = try await api.liveSession(id) else {
            throw RecoveryError.signedOut
        }
        let stage = ClerkReverificationMachine(api: api, session: session, level: level)
        return flow(stage, options, because: Outcome(.stepUpRequired))
    }
}
