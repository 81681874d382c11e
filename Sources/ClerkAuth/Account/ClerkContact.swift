import HTTPRecovery

/// An e-mail address or a phone number of somebody who is signed in.
public struct ClerkContact: Sendable, Hashable {
    /// Clerk's id of it.
    public let id: String
    /// The address, or the number in the form `+15555550100`.
    public let address: String
    /// Whether it is proved: only then it can be signed in with.
    public let isVerified: Bool
    /// Whether Clerk writes to this one first.
    public let isPrimary: Bool
    /// Whether it is a number that is a second factor.
    public let isSecondFactor: Bool

    /// The contacts that a user has of a kind, without those that have no id.
    static func list(_ kind: ClerkContactKind, of user: JSONValue) -> [ClerkContact] {
        let primary = user["primary_\(kind.name)_id"]?.string
        return (user[kind.path]?.array ?? []).prefix(256).compactMap { entry in
            guard let id = entry["id"]?.string?.nonEmpty else { return nil }
            return ClerkContact(
                id: id,
                address: entry[kind.name]?.string ?? "",
                isVerified: ClerkVerification(entry["verification"])?.isVerified == true,
                isPrimary: id == primary,
                isSecondFactor: entry["reserved_for_second_factor"]?.bool == true
            )
        }
    }
}

/// What e-mail addresses and phone numbers differ in.
struct ClerkContactKind {
    /// Clerk's word for one.
    let name: String
    /// Where Clerk has them.
    let path: String
    /// What proves one.
    let strategy: String

    static let emailAddress = ClerkContactKind(
        name: "email_address",
        path: "email_addresses",
        strategy: "email_code"
    )
    static let phoneNumber = ClerkContactKind(name: "phone_number", path: "phone_numbers", strategy: "phone_code")
}
