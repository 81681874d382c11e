import HTTPRecovery

/// Somebody who can sign in at the OAuth provider.
struct OAuthPerson: Sendable {
    /// The `sub` of tokens.
    let id: String
    var user: SandboxUser
}

/// What a client may do for whom.
struct OAuthGrant: Sendable {
    var client: String
    let subject: String
    var scope: [String]
    /// When and how the person proved who they are; nil for a client's own.
    var authentication: OAuthAuthentication?
    /// The sign-in that it goes back to; nil for a client's own.
    var family: Int?
}

/// When and how somebody proved who they are.
struct OAuthAuthentication: Sendable, Equatable {
    var time: Int64
    var acr: String?
    var nonce: String?
}

/// What one sign-in has led to: the refresh tokens that replace one another, and the access tokens made with them.
struct OAuthFamily: Sendable {
    let number: Int
    let grant: OAuthGrant
    let startedAt: Int64
    /// The thumbprint of the key that its refresh tokens are bound to; nil for none.
    let key: String?
    /// The newest refresh token; nil if none was given.
    var newest: String?
    var generation = 0
    var counters = SandboxOAuthCounters()
    /// Why it is over; nil while it is not.
    var revokedBy: String?
}

/// One refresh token.
struct OAuthRefreshToken: Sendable {
    let family: Int
    let issuedAt: Int64
    var expiresAt: Int64
    /// When it was replaced; nil while it is the newest.
    var replacedAt: Int64?
}

/// One access token.
struct OAuthAccessToken: Sendable {
    /// In which order it was made.
    var number = 0
    let grant: OAuthGrant
    let issuedAt: Int64
    let expiresAt: Int64
    var audience: [String]
    /// The client or person that acts for the subject.
    var actor: String?
    let key: String?
    var isRevoked = false

    init(_ grant: OAuthGrant, _ exchange: OAuthExchange) {
        self.grant = grant
        issuedAt = exchange.now
        expiresAt = exchange.now + exchange.settings.accessLifetime
        audience = [exchange.origin + "/api"]
        key = exchange.key
    }

    /// How it is presented.
    var type: String { key == nil ? "Bearer" : "DPoP" }
}

/// One authorization code.
struct OAuthCode: Sendable {
    let grant: OAuthGrant
    /// The redirect URI of the authorization request; nil if it had none.
    let redirectURI: String?
    let challenge: String?
    let challengeMethod: String
    let expiresAt: Int64
    /// The family that it was exchanged for.
    var family: Int?
}

/// A device that waits for its person.
struct OAuthDevice: Sendable {
    /// In which order it was made.
    let number: Int
    let userCode: String
    let client: String
    let scope: [String]
    let acr: String?
    let expiresAt: Int64
    var interval: Int64
    var lastPoll: Int64?
    var polls: Int64 = 0
    var slowDowns: Int64 = 0
    var decision: Decision = .pending

    func state(now: Int64) -> String {
        switch decision {
        case .used: "used"
        case _ where expiresAt <= now: "expired"
        case .pending: "pending"
        case .approved: "approved"
        case .denied: "denied"
        }
    }

    /// What has become of it.
    enum Decision: Sendable, Equatable {
        case pending
        case approved(subject: String, at: Int64)
        case denied
        case used
    }
}
