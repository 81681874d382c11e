public import AuthRecovery
import HTTPRecovery

extension Clerk {
    /// Finishes the tasks of a session that is pending, until it is active.
    ///
    /// A sign-in does so by itself. This is for a session that was left behind: a process that has ended in the middle, an
    /// instance that wants something new. A new password is asked for by the key `new_password`; organizations and
    /// invitations are offered as factors of the key `choice`, and the name of a new organization is asked for where there
    /// are none; for a second factor an authenticator app (`totp`, with its address in the question's `setup`) and phone
    /// numbers are offered. Backup codes are shown, once.
    ///
    /// - Parameters:
    ///   - sessionID: The session; nil for the one that the store names.
    ///   - responder: Answers what is asked.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session, which is active.
    /// - Throws: `RecoveryError`; of the kind `user_action_required`, with the task's key as its code, if a task cannot be
    ///   done here, and `reauthentication_required` if the session is over. `Challenge.NoAnswer` if the responder had none,
    ///   `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func finishTasks(
        sessionID: String? = nil,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        var flow = try await taskFlow(sessionID: sessionID, options: options)
        return try await flow.run(answering: responder)
    }

    /// The same, to be stepped, as by a web backend; nothing is asked of anybody before its first step.
    ///
    /// - Parameters:
    ///   - sessionID: The session; nil for the one that the store names.
    ///   - options: How to deal with what goes wrong.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if the session is over. `CancellationError` as
    ///   soon as the task is cancelled.
    public func taskFlow(
        sessionID: String? = nil,
        options: SignInOptions = SignInOptions()
    ) async throws -> SignInFlow<ClerkSession> {
        let id = try await api.heldSession(sessionID)
        guard let session = try await api.liveSession(id) else { throw RecoveryError.signedOut }
        return flow(ClerkTaskMachine(api: api, session: session), options)
    }
}
