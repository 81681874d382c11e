import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension Clerk {
    /// How the instance is set up.
    ///
    /// It is read once and kept for all copies of this value; a failure is not kept, and says nothing about anybody's session.
    ///
    /// - Parameter rereading: Whether it is read again.
    /// - Throws: `RecoveryError` when the server cannot be asked, or answers with something else. `CancellationError` as soon as
    ///   the task is cancelled.
    public func environment(rereading: Bool = false) async throws -> ClerkEnvironment {
        try await api.readEnvironment(rereading: rereading)
    }

    /// Puts somebody on the waitlist of an instance that signs up nobody else; who is on it already stays.
    ///
    /// - Parameter emailAddress: Their address.
    /// - Returns: Clerk's id of the entry.
    /// - Throws: `RecoveryError`; of the kind `permission_denied` if the instance has no waitlist. `CancellationError` as soon
    ///   as the task is cancelled.
    @discardableResult
    public func joinWaitlist(emailAddress: String) async throws -> String {
        var form = FormFields()
        form.add("email_address", emailAddress)
        // Clerk takes a known address for the same entry.
        let call = ClerkAPI.Call(method: .post, path: "/waitlist", body: .form(form), resend: .replayable)
        let answer = try await api.perform(call)
        guard let id = (answer.json["response"] ?? answer.json)["id"]?.string?.nonEmpty else {
            throw answer.failure(.unreadable)
        }
        return id
    }
}

extension ClerkAPI {
    /// How the instance is set up, as it was read first; a failure is not kept.
    func readEnvironment(rereading: Bool = false) async throws -> ClerkEnvironment {
        if !rereading, let known = environment.withLock({ $0 }) { return known }
        let answer = try await perform(ClerkAPI.Call(path: "/environment"))
        guard answer.json["auth_config"] != nil || answer.json["user_settings"] != nil else {
            throw answer.failure(.unreadable)
        }
        let read = ClerkEnvironment(answer.json)
        environment.withLock { $0 = read }
        return read
    }
}
