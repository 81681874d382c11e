public import HTTPRecovery

/// A client of an authorization server: obtains, renews, revokes and inspects tokens, with recovery.
///
/// ```swift
/// let oauth = OAuthClient(
///     server: try await OAuthServer.discover(issuer: "https://id.example.com", using: client),
///     clientID: "app",
///     authentication: .clientSecretBasic(secret),
///     client: client
/// )
/// let answer = try await oauth.tokens(.clientCredentials(scope: "orders.read"))
/// ```
///
/// What spends something (a refresh token, a code) is never sent again when its answer was lost. Throttles are waited
/// out, and passing failures are repeated if the server certainly has not acted, as the client's policies say.
public struct OAuthClient: Sendable, ClientBound {
    /// The authorization server.
    public let server: OAuthServer
    /// The client's identifier.
    public let clientID: String
    /// How the client proves itself.
    public let authentication: any ClientAuthentication
    /// Sends the requests.
    public package(set) var client: RecoveringClient
    /// Layers around every attempt, the outermost first, inside of the authentication; they see the answers too.
    public let attemptLayers: [any ClientLayer]
    /// Policies of the client's calls, asked before those of the recovery.
    package var policies: [any RecoveryPolicy] = []
    /// Who tells what an answer means.
    public let classifier: any OutcomeClassifier

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - server: The authorization server.
    ///   - clientID: The client's identifier.
    ///   - authentication: How the client proves itself; by default it is a public client.
    ///   - client: Sends the requests. No access token of its own is attached to them.
    ///   - attemptLayers: Layers around every attempt, the outermost first: what adds proofs of possession and keeps
    ///     the nonces of the answers stands here.
    ///   - classifier: Who tells what an answer means, for servers with habits of their own.
    public init(
        server: OAuthServer,
        clientID: String,
        authentication: any ClientAuthentication = .none,
        client: RecoveringClient,
        attemptLayers: [any ClientLayer] = [],
        classifier: any OutcomeClassifier = OAuthClassifier()
    ) {
        self.server = server
        self.clientID = clientID
        self.authentication = authentication
        self.client = client
        self.attemptLayers = attemptLayers
        self.classifier = classifier
    }

    /// The client, for calls that belong to the operation: they have its number, and keep to its bounds.
    public func within(_ operation: RecoveryOperation) -> OAuthClient {
        var oauth = self
        oauth.client = client.within(operation)
        return oauth
    }

    /// Obtains tokens.
    ///
    /// - Parameters:
    ///   - grant: What is presented for them.
    ///   - observer: Told the events of this call, beside those who watch the client.
    /// - Throws: `RecoveryError`; its `oauth` is the server's error word. A success without an access token is an
    ///   error of the kind `unreadable`. `CancellationError` as soon as the task is cancelled.
    public func tokens(
        _ grant: OAuthClient.Grant,
        observer: (@Sendable (RecoveryEvent) -> Void)? = nil
    ) async throws -> OAuthClient.TokenAnswer {
        let answer = try await perform(
            Call(
                endpoint: .token,
                form: grant.form,
                presents: grant.presents,
                resend: grant.resend,
                sendBy: grant.sendBy,
                classifier: OAuthEndpointClassifier(expects: .tokens),
                observer: observer
            )
        )
        return try answer.tokens
    }

    /// Revokes a token (RFC 7009).
    ///
    /// A token that the server does not know (any more) counts as revoked. What else goes with it is the server's
    /// decision: with a refresh token mostly the access tokens that it brought.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - hint: The sort of the token, `access` or `refresh`, which may speed the server up.
    /// - Throws: `RecoveryError` when the server could not be told; `CancellationError` as soon as the task is
    ///   cancelled.
    public func revoke(_ token: Secret, hint: Outcome.CredentialKind? = nil) async throws {
        do {
            _ = try await perform(
                Call(
                    endpoint: .revocation,
                    form: Self.form(for: token, hint),
                    // Revoking twice revokes once.
                    resend: .replayable,
                    classifier: OAuthEndpointClassifier(expects: .nothing)
                )
            )
        } catch let error as RecoveryError where [.invalidToken, .invalidGrant].contains(error.oauth?.word) {
            // Against RFC 7009 section 2.2 some servers report what is what was wanted.
        }
    }

    /// Asks the server about a token (RFC 7662).
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - hint: The sort of the token, `access` or `refresh`, which may speed the server up.
    /// - Throws: `RecoveryError` when the server could not be asked; `CancellationError` as soon as the task is
    ///   cancelled. A dead token is no error.
    public func introspect(_ token: Secret, hint: Outcome.CredentialKind? = nil) async throws
        -> OAuthClient.Introspection
    {
        let answer = try await perform(
            Call(
                endpoint: .introspection,
                form: Self.form(for: token, hint),
                resend: .replayable,
                classifier: OAuthEndpointClassifier(expects: .introspection)
            )
        )
        return OAuthClient.Introspection(claims: answer.members)
    }

    private static func form(for token: Secret, _ hint: Outcome.CredentialKind?) -> FormFields {
        var form = FormFields()
        form.add("token", secret: token)
        if hint == .access || hint == .refresh { form.add("token_type_hint", hint.map { "\($0.rawValue)_token" }) }
        return form
    }
}
