public import AuthRecovery
public import HTTPRecovery
import HTTPTypes

/// An Okta org for a client without a browser, with recovery.
///
/// ```swift
/// let okta = try Okta(org: "https://example.okta.com", client: client, tokens: FileTokenStore(path: path))
/// let session = try await okta.signIn(identifier: email, password: password, answering: prompts)
/// ```
///
/// `signIn(identifier:password:answering:options:)` goes all the way. Who wants to take each step by themselves begins
/// with ``authenticate(_:)`` and follows the ``OktaState`` that it leads to.
public struct Okta: AuthProvider {
    var api: OktaAPI

    /// Keeps the tokens that a sign-in has obtained, and renews them with Okta's grace for a lost answer.
    ///
    /// It belongs into the layers of a client that sends requests with these tokens: `SessionRenewal(okta.tokens)` and
    /// `Authorization(okta.tokens, audience: …)`.
    public let tokens: TokenManager

    /// Creates a client of an org.
    ///
    /// - Parameters:
    ///   - org: The org's URL: what stands before `/api/v1`.
    ///   - client: Sends the requests.
    ///   - tokens: Keeps the session or the tokens.
    ///   - configuration: What the app wants beside.
    /// - Throws: `Origin.InvalidURL` when the text is no such URL, or has a query or a fragment.
    public init(
        org: String,
        client: RecoveringClient,
        tokens: any TokenStore,
        configuration: OktaConfiguration = OktaConfiguration()
    ) throws(Origin.InvalidURL) {
        let org = try OktaOrg(org)
        api = OktaAPI(org: org, client: client, tokens: tokens, configuration: configuration)
        var renewer: (any TokenRenewer)?
        if let app = configuration.app {
            let grant = RefreshTokenGrant(
                client: try app.oauth(at: org, client: client, learning: api.clocks),
                reuse: app.rotationGrace.map { .rotating(grace: $0) } ?? .reusable
            )
            renewer = RefreshTokenGrant.VerifyingIDTokens(grant) { [api] token, operation in
                try await api.within(operation).verify(token, for: app)
            }
        }
        self.tokens = TokenManager(store: tokens, renewer: renewer)
    }

    /// What accounts and credentials belong to.
    public var origin: Origin { api.org.origin }

    /// Sends the requests.
    public var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }

    // MARK: Signing in

    /// A sign-in to be stepped, as by a web backend: nothing is sent before its first step.
    ///
    /// An expired password is changed, factors are verified or enrolled, a push is waited for, a lockout is unlocked
    /// if the person wants it, a dead transaction is begun again. Each password, code and message is spent once:
    /// if an answer is lost on the way, the sign-in fails rather than spends it again. A push is sent once too, and
    /// another one only if the person answers the question after it with `.resend`. Answering the question for the
    /// password with `.useAnotherFactor` begins to recover a forgotten one; answering that for the new password after a
    /// warning with it keeps the old one.
    ///
    /// - Parameters:
    ///   - identifier: The person's name; nil asks for it (`Factor.identifier`).
    ///   - password: The password; nil asks for it.
    ///   - options: How to deal with what goes wrong; nil for `SignInOptions.okta`.
    public func signInFlow(
        identifier: String?,
        password: Secret? = nil,
        options: SignInOptions? = nil
    ) -> SignInFlow<OktaSession> {
        flow(.signIn, identifier ?? "", password, options ?? .okta)
    }

    /// Recovers a forgotten password: reaches the person, has the question answered and a new password set, and signs
    /// in with it.
    ///
    /// - Parameters:
    ///   - identifier: The person's name.
    ///   - factorType: How the person is reached; nil lets the responder choose.
    ///   - responder: Answers what is asked.
    ///   - options: How to deal with what goes wrong.
    /// - Throws: `RecoveryError`; of the kind `user_action_required` if the person has to follow a mail now.
    ///   `Challenge.NoAnswer` and `CancellationError` as in signing in.
    public func recoverPassword(
        identifier: String,
        via factorType: OktaFactorType? = nil,
        answering responder: any ChallengeResponder,
        options: SignInOptions = .okta
    ) async throws -> OktaSession {
        var flow = flow(.recover(factorType), identifier, nil, options)
        return try await flow.run(answering: responder)
    }

    /// The recovery of a forgotten password to be stepped, as by a web backend: nothing is sent before its first step.
    ///
    /// - Parameters:
    ///   - identifier: The person's name.
    ///   - factorType: How the person is reached; nil lets them choose.
    ///   - options: How to deal with what goes wrong.
    public func passwordRecoveryFlow(
        identifier: String,
        via factorType: OktaFactorType? = nil,
        options: SignInOptions = .okta
    ) -> SignInFlow<OktaSession> {
        flow(.recover(factorType), identifier, nil, options)
    }

    /// A transaction that was begun elsewhere, to be stepped: nothing is sent before its first step.
    ///
    /// So it is with a login page of one's own, which the org sends a browser to with `stateToken` in the query.
    /// If the transaction is a step-up of a session that the browser holds, the sign-in ends with where the browser goes
    /// on: ``OktaSession/redirect``.
    ///
    /// - Parameters:
    ///   - stateToken: The proof of the transaction.
    ///   - identifier: The person's name, if it is known; it is what a lockout is held by.
    ///   - options: How to deal with what goes wrong.
    public func signInFlow(
        continuing stateToken: Secret,
        identifier: String? = nil,
        options: SignInOptions = .okta
    ) -> SignInFlow<OktaSession> {
        flow(.resume(stateToken), identifier ?? "", nil, options)
    }

    /// Takes a sign-in up again.
    public func signInMachine(from memory: JSONValue) -> (any SignInMachine<OktaSession>)? {
        OktaOrgMachine(memory: memory, api: api)
    }

    func flow(
        _ goal: OktaSignInMachine.Goal,
        _ identifier: String,
        _ password: Secret?,
        _ options: SignInOptions,
        because cause: Outcome = Outcome(.challengeRequired)
    ) -> SignInFlow<OktaSession> {
        let machine = OktaSignInMachine(api: api, goal: goal, identifier: identifier, password: password)
        return SignInFlow(OktaOrgMachine(machine), client: api.client, options: options, because: cause)
    }
}

extension SignInOptions {
    /// What suits Okta: the person's own devices before messages that are sent.
    public static var okta: SignInOptions {
        SignInOptions(preference: [.push, .totp, .phoneCode, .emailCode, .securityAnswer, .webauthn])
    }
}
