public import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// What somebody proves themselves with beside a first factor: listed, set up and taken away.
extension Auth0 {
    /// The same tenant, to manage second factors at: whoever signs in there is given an access token for the tenant's MFA API
    /// in place of the usual tokens.
    ///
    /// It is good for ten minutes, and is kept apart from the session here. Who has a factor already is asked for it.
    ///
    /// - Parameter tokens: Keeps that token; by default this process's memory.
    public func managingFactors(tokens: any TokenStore = InMemoryTokenStore()) -> Auth0 {
        var api = api
        api.store = tokens
        api.configuration.audience = "\(api.base)/mfa/"
        api.configuration.scope = "openid enroll read:authenticators remove:authenticators"
        return Auth0(api)
    }

    /// What is enrolled, with what nobody has proved yet.
    ///
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if nobody has signed in at ``managingFactors(tokens:)``,
    ///   or too long ago, `permission_denied` if the token is for something else. `CancellationError` as soon as the task is
    ///   cancelled.
    public func authenticators() async throws -> [Auth0Authenticator] {
        let response = try await send(path: "/mfa/authenticators")
        guard let list = try await response.json().array else { throw RecoveryError(.unreadable, in: response) }
        return list.prefix(64).compactMap { Auth0Authenticator($0) }
    }

    /// Sets a factor up, beside those that there are.
    ///
    /// - Parameters:
    ///   - kind: What.
    ///   - responder: Is shown what has to be scanned, and the recovery code that comes with the first factor; answers with the
    ///     number of a phone and the code that proves it.
    ///   - options: How to deal with what goes wrong; nil for the usual.
    /// - Throws: As ``authenticators()``; of the kind `factor_unavailable` if the tenant does not offer it. `Challenge.NoAnswer` if
    ///   the responder had none.
    public func enroll(
        _ kind: Auth0FactorKind,
        answering responder: any ChallengeResponder,
        options: SignInOptions? = nil
    ) async throws {
        var machine = Auth0SignInMachine(self)
        machine.addition = kind.factor
        var flow = SignInFlow(machine, client: client, options: options ?? SignInOptions())
        _ = try await flow.run(answering: responder)
    }

    /// Takes a factor away.
    ///
    /// - Parameter id: The tenant's id of it.
    /// - Throws: As ``authenticators()``; of the kind `not_found` if there is no such factor.
    public func removeAuthenticator(_ id: String) async throws {
        _ = try await send(.delete, path: "/mfa/authenticators/\(FormFields.encode(segment: id))")
    }
}
