public import AuthRecovery

extension Auth0 {
    /// Creates an account in a database; nobody is signed in by it.
    ///
    /// It is sent once: if its answer is lost, whether there is an account is told by a sign-in.
    ///
    /// - Parameters:
    ///   - email: The person's address.
    ///   - password: The password. One that breaks the rules of the database is refused with the kind `password_rejected`,
    ///     whose text for the person says which; one that was leaked with `password_compromised`.
    ///   - username: The user name, where the database wants one.
    ///   - connection: The database connection; nil for the configuration's.
    /// - Returns: The person's id, as it stands in tokens; nil if the tenant does not tell it.
    /// - Throws: `RecoveryError`; of the kind `conflict` if there is such an account, of the kind `misconfigured`, and
    ///   nothing is sent, if neither names the connection. `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func signUp(
        email: String,
        password: Secret,
        username: String? = nil,
        connection: String? = nil
    ) async throws -> String? {
        try await api.signUp(email: email, password: password, username: username, connection: connection)
    }
}
