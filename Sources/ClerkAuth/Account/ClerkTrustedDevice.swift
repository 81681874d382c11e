public import HTTPRecovery

/// The key of a device that somebody has enrolled.
public struct ClerkTrustedDevice: Sendable, Hashable {
    /// Clerk's id of it.
    public var id: String
    /// The platform, by Clerk's word.
    public var platform: String
    /// The app that it belongs to.
    public var appIdentifier: String
    /// What the device is called.
    public var name: String?
    /// When it was enrolled.
    public var createdAt: Timestamp?
    /// When it has signed somebody in last.
    public var lastUsedAt: Timestamp?

    init?(_ json: JSONValue?) {
        guard let json, let id = json["id"]?.string?.nonEmpty else { return nil }
        self.id = id
        platform = json["platform"]?.string ?? ""
        appIdentifier = json["app_identifier"]?.string ?? ""
        name = json["name"]?.string?.nonEmpty
        createdAt = json["created_at"]?.milliseconds
        lastUsedAt = json["last_used_at"]?.milliseconds
    }
}
