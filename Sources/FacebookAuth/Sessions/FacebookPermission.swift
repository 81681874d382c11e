import HTTPRecovery

/// What a person has said about a permission (`/me/permissions`).
public struct FacebookPermission: Sendable, Hashable {
    /// What was said.
    public enum Status: String, Sendable, Hashable, CaseIterable {
        /// Yes.
        case granted
        /// No: asking again needs `auth_type=rerequest`.
        case declined
        /// Yes, too long ago.
        case expired
        /// A status of a newer version.
        case unknown
    }

    /// The permission, such as `email`.
    public var name: String
    /// What was said about it.
    public var status: Status

    init(name: String, status: Status) {
        (self.name, self.status) = (name, status)
    }

    /// Whether the person may have declined it without anybody having told: what comes with every sign-in, nobody can.
    var mayBeDeclinedUnheard: Bool { status == .unknown && name != "public_profile" && name != "openid" }

    /// As Facebook writes it.
    var json: JSONValue { ["permission": .string(name), "status": .string(status.rawValue)] }

    /// Reads an element of the answer; nil if it has no name.
    init?(_ json: JSONValue) {
        guard let name = json["permission"]?.string?.nonEmpty else { return nil }
        self.name = name.bounded(to: 128)
        status = json["status"]?.string.flatMap(Status.init) ?? .unknown
    }
}
