public import AuthRecovery
public import HTTPRecovery

/// Clerk's Frontend API for a native client, with recovery.
///
/// ```swift
/// let clerk = try Clerk(publishableKey: "pk_test_…", client: client, tokens: FileTokenStore(path: path))
/// let session = try await clerk.signIn(identifier: email, password: password, answering: prompts)
/// ```
///
/// The client token is kept in the token store and follows Clerk's own rules: each answer may replace it, a blank
/// `Authorization` field clears it, and no status or error code does.
///
/// Copies share what they know: the client as the server told it last, and the session tokens.
public struct Clerk: AuthProvider {
    var api: ClerkAPI

    /// Keeps the client token and the id of the session; Clerk's answers renew them, so that it renews nothing by itself.
    public let tokens: TokenManager

    /// Creates a client of the instance that a publishable key names.
    ///
    /// - Parameters:
    ///   - publishableKey: The key, `pk_test_…` or `pk_live_…`.
    ///   - client: Sends the requests.
    ///   - tokens: Keeps the client token and the id of the session.
    ///   - configuration: What the app wants beside.
    /// - Throws: ``InvalidPublishableKey`` when the text is no publishable key.
    public init(
        publishableKey: String,
        client: RecoveringClient,
        tokens: any TokenStore,
        configuration: ClerkConfiguration = ClerkConfiguration()
    ) throws {
        let url = try PublishableKey(publishableKey).frontendAPI
        try self.init(frontendAPI: url, client: client, tokens: tokens, configuration: configuration)
    }

    /// Creates a client of a Frontend API.
    ///
    /// - Parameters:
    ///   - frontendAPI: The URL of what stands before `/v1`; a proxy may prepend path segments.
    ///   - client: Sends the requests.
    ///   - tokens: Keeps the client token and the id of the session.
    ///   - configuration: What the app wants beside.
    /// - Throws: `Origin.InvalidURL` when the text is no such URL, or has a query or a fragment.
    public init(
        frontendAPI: String,
        client: RecoveringClient,
        tokens: any TokenStore,
        configuration: ClerkConfiguration = ClerkConfiguration()
    ) throws(Origin.InvalidURL) {
        let base = try FrontendAPI(frontendAPI)
        self.api = ClerkAPI(base: base, client: client, tokens: tokens, configuration: configuration)
        self.tokens = TokenManager(store: tokens)
    }

    /// What accounts and credentials belong to.
    public var origin: Origin { api.base.origin }

    /// Sends the requests.
    public var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }
}
