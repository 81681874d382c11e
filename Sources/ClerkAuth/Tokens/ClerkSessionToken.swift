public import AuthRecovery
public import HTTPRecovery

/// A session token: a JWT that tells an app's own backend who is signed in.
///
/// It lives for 60 s unless its template says otherwise, and is only ever kept in memory. What it claims is read here
/// without checking its signature, which is the backend's business.
public struct ClerkSessionToken: Sendable, Hashable {
    /// The token, as a backend wants it behind `Bearer`.
    public let jwt: Secret
    /// The session that it speaks for.
    public let sessionID: String
    /// The template that it was made by; nil for the default one.
    public let template: String?
    /// When it expires, by the server's clock; nil if the token does not say in a form that is known.
    public let expiresAt: Timestamp?
    /// When it was issued, by the server's clock; nil if the token does not say.
    public let issuedAt: Timestamp?
    /// Whether the session has tasks: until they are done, a backend takes it for signed out.
    public let isPending: Bool
    /// When the data in it were read; if it is there, it tells more of a token's freshness than ``issuedAt``.
    let originIssuedAt: Timestamp?

    /// Reads a token.
    ///
    /// - Returns: Nil if the token is empty, or claims another session.
    init?(_ jwt: Secret, sessionID: String, template: String? = nil) {
        guard !jwt.isEmpty else { return nil }
        let parsed = UnverifiedJWT(jwt)
        if let claimed = parsed?.claims["sid"]?.string, claimed != sessionID { return nil }
        self.jwt = jwt
        self.sessionID = sessionID
        self.template = template
        isPending = Self.isPending(parsed)
        expiresAt = parsed?.expiresAt
        issuedAt = parsed?.issuedAt
        originIssuedAt = (parsed?.header["oiat"] ?? parsed?.claims["oiat"])?.number.map {
            Timestamp(sinceEpoch: $0.seconds)
        }
    }

    /// Whether a token says that its session has tasks.
    static func isPending(_ jwt: Secret) -> Bool { isPending(UnverifiedJWT(jwt)) }

    private static func isPending(_ jwt: UnverifiedJWT?) -> Bool {
        jwt?.claims["sts"]?.string == ClerkSessionStatus.pending.rawValue
    }

    /// Whether the token will live for more than the leeway; half its life counts if that is less.
    ///
    /// One that does not say when it expires is never known to live.
    func lives(_ leeway: Duration, at now: Timestamp) -> Bool {
        guard let expiresAt else { return false }
        let half = issuedAt.map { expiresAt.elapsed(since: $0).scaled(by: 0.5) } ?? leeway
        return expiresAt.elapsed(since: now) > max(min(leeway, half), .zero)
    }

    /// Whether the token is to be kept in place of another one.
    func supersedes(_ other: ClerkSessionToken, at now: Timestamp) -> Bool {
        guard other.lives(.zero, at: now) else { return true }
        switch (originIssuedAt, other.originIssuedAt) {
        case (let own?, let others?) where own != others: return own > others
        case (_?, nil): return true
        case (nil, _?): return false
        default: return (issuedAt?.sinceEpoch ?? .zero) >= (other.issuedAt?.sinceEpoch ?? .zero)
        }
    }
}
