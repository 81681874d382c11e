public import AuthRecovery
public import HTTPRecovery

/// A session, without its token.
public struct ForgeRockSession: AuthSession, Hashable {
    /// Whether a session was made; a journey can be one that makes none.
    public var exists: Bool
    /// The name of the person; nil if the server did not say.
    public var username: String?
    /// The person's id within all realms.
    public var universalID: String?
    /// The realm, such as `/alpha`.
    public var realm: String?
    /// Where the journey's author sends people to after signing in.
    public var successURL: String?
    /// When the session was used last.
    public var latestAccessAt: Timestamp?
    /// When it ends if it is not used.
    public var idleExpiresAt: Timestamp?
    /// When it ends at the latest.
    public var expiresAt: Timestamp?
    /// Further properties.
    public var properties: JSONValue

    /// The person and the end.
    public var summary: SessionSummary {
        SessionSummary(name: universalID ?? username ?? realm, expiresAt: expiresAt)
    }

    init(success: JourneySuccess) {
        exists = success.token != nil
        realm = success.realm
        successURL = success.successURL
        properties = .null
    }

    init(information: JSONValue) {
        exists = true
        username = information["username"]?.string?.nonEmpty?.bounded(to: 1024)
        universalID = information["universalId"]?.string?.nonEmpty?.bounded(to: 1024)
        realm = information["realm"]?.string?.nonEmpty?.bounded(to: 256)
        latestAccessAt = information["latestAccessTime"]?.string.flatMap { Timestamp(rfc3339: $0) }
        idleExpiresAt = information["maxIdleExpirationTime"]?.string.flatMap { Timestamp(rfc3339: $0) }
        expiresAt = information["maxSessionExpirationTime"]?.string.flatMap { Timestamp(rfc3339: $0) }
        properties = information["properties"] ?? .null
    }
}
