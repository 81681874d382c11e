public import AuthCryptography
public import AuthRecovery
import ClerkAuth
import Crypto
public import HTTPRecovery

/// Signs the users of browsers in at Clerk: each of their answers comes in a request of its own, at any instance of the
/// backend.
///
/// Nothing is kept in this process between two requests. What a sign-in has come to, and the browser's client token at
/// Clerk, are sealed in the store that all instances share.
///
/// No browser chooses what it is known by, so that nobody can plant a name that they know and find there what its user
/// has signed in to: each sign-in begins with a new one, at Clerk as a client that nobody has used, and ends with
/// another, which only the browser is told that has given the last answer. The tokens move to it.
public struct BrowserSignIns: Sendable {
    private let client: RecoveringClient
    private let frontendAPI: String
    private let sealing: AESGCMSealing
    private let signIns: SuspendedSignIns
    private let configuration: ClerkConfiguration
    /// Where browsers find the backend; nil if that is not known.
    let publicURL: String?

    /// Sets the sign-ins up.
    ///
    /// - Parameters:
    ///   - frontendAPI: The URL of Clerk's Frontend API.
    ///   - client: Sends the requests; its store is shared by all instances.
    ///   - key: Seals what is stored; all instances have it.
    ///   - publicURL: Where browsers find the backend, such as `https://app.example.com`; nil for one that sends nobody to
    ///     another provider. ``callbackPath`` below it has to be among the redirect URLs that the instance of Clerk allows.
    ///   - lifetime: How long a user has for the next answer.
    public init(
        frontendAPI: String,
        client: RecoveringClient,
        key: SealingKey,
        publicURL: String? = nil,
        lifetime: Duration = .seconds(600)
    ) throws(Origin.InvalidURL) {
        // No browser waits as long as a lockout may last: it is told when it ends.
        self.client = client.waiting(atMost: .seconds(5))
        self.frontendAPI = frontendAPI
        self.publicURL = publicURL
        configuration = ClerkConfiguration(redirectURL: publicURL.map { $0 + Self.callbackPath })
        sealing = AESGCMSealing(key)
        signIns = SuspendedSignIns(client, sealing: sealing, lifetime: lifetime)
        _ = try clerk(Secret("-"))
    }

    /// Begins a sign-in.
    ///
    /// - Parameters:
    ///   - identifier: The name that the user has typed.
    ///   - password: The password; nil lets them choose another way.
    public func begin(identifier: String, password: Secret?) async throws -> BrowserTurn {
        try await begin(.identifier(identifier, password: password))
    }

    /// Where another provider sends browsers back to.
    public static let callbackPath = "/sign-in/callback"

    /// Begins a sign-in at another provider, which the browser is sent to: the `url` of the question that it leads to.
    ///
    /// What the way back belongs to is the ticket, as for any other answer.
    ///
    /// - Parameter provider: The provider by Clerk's name, such as `google`.
    public func beginRedirect(at provider: String) async throws -> BrowserTurn {
        try await begin(.redirect(.oauth(provider)))
    }

    /// Goes on with a sign-in whose browser has come back from another provider.
    ///
    /// - Parameters:
    ///   - browser: What tells the browser from all others.
    ///   - ticket: What it has kept meanwhile.
    ///   - url: The address that it was sent back to, with all that stands in it.
    public func finishRedirect(_ browser: Secret, ticket: Secret, url: Secret) async throws -> BrowserTurn {
        try await step(browser, ticket: ticket, .answer(.text(url)))
    }

    /// Goes on with a sign-in.
    public func step(_ browser: Secret, ticket: Secret, _ input: SignInInput) async throws -> BrowserTurn {
        try await named(browser, after: own(browser).step(ticket, input, at: clerk(browser)))
    }

    /// Ends a sign-in that its user has turned away from.
    public func abandon(_ browser: Secret, ticket: Secret) async throws {
        try await own(browser).abandon(ticket, at: clerk(browser))
    }

    private func begin(_ method: ClerkSignInMethod) async throws -> BrowserTurn {
        let browser = Self.newBrowser()
        return try await named(browser, after: own(browser).begin(clerk(browser).signInFlow(method)))
    }

    // MARK: What a browser is known by

    /// What tells a browser from all others: 256 random bits.
    private static func newBrowser() -> Secret {
        var random = SystemRandomNumberGenerator()
        return Secret((0..<4).map { _ in String(random.next() as UInt64, radix: 36) }.joined(separator: "-"))
    }

    /// Gives a browser that is signed in a name that nobody has known before.
    private func named(_ browser: Secret, after turn: SignInTurn<ClerkSession>) async throws -> BrowserTurn {
        guard case .finished = turn.step else { return BrowserTurn(turn: turn, browser: browser) }
        let next = Self.newBrowser()
        let former = tokens(of: browser)
        let stored = try await former.read()
        // Gone from the one before they are in the other: whoever knows the former name has them at no time.
        guard try await former.replace(version: stored.version, with: Credentials()) != nil,
            try await tokens(of: next).replace(version: 0, with: stored.credentials) != nil
        else { throw Credentials.StoreError("another process has changed what this sign-in has led to") }
        return BrowserTurn(turn: turn, browser: next)
    }

    /// The sign-ins of this browser, whose tokens are those of one sign-in: see ``clerk(_:)``.
    private func own(_ browser: Secret) -> SuspendedSignIns {
        signIns.held(by: browser, hasOwnTokens: true)
    }

    /// Clerk, as this browser is known there.
    private func clerk(_ browser: Secret) throws(Origin.InvalidURL) -> Clerk {
        try Clerk(
            frontendAPI: frontendAPI,
            client: client,
            tokens: tokens(of: browser),
            configuration: configuration
        )
    }

    /// What a browser has at Clerk.
    func tokens(of browser: Secret) -> SharedTokenStore {
        let digest = SHA256.hash(data: Array(browser.reveal().utf8)).map { String($0, radix: 16) }.joined(
            separator: "."
        )
        // The store knows a browser by a hash: whoever reads it cannot pass for the browser.
        return SharedTokenStore(client.runtime.state, name: "browser \(digest)", sealing: sealing)
    }
}
