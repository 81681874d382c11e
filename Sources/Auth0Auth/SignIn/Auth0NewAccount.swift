import AuthRecovery

/// Whom an account is made for that has a passkey in place of a password.
public struct Auth0NewAccount: Sendable, Hashable {
    /// The person's address.
    public var email: String
    /// Their phone number, where the database wants one.
    public var phoneNumber: String?
    /// Their user name, where the database wants one.
    public var username: String?
    /// What they are called; nil for their address.
    public var name: String?

    /// Creates a description.
    public init(email: String, phoneNumber: String? = nil, username: String? = nil, name: String? = nil) {
        self.email = email
        self.phoneNumber = phoneNumber
        self.username = username
        self.name = name
    }
}

extension Auth0NewAccount: RememberedFields {
    init() { self.init(email: "") }

    static var fields: [RememberedField<Auth0NewAccount>] {
        [
            .init("email", \.email), .init("phone_number", \.phoneNumber), .init("username", \.username),
            .init("name", \.name),
        ]
    }
}
