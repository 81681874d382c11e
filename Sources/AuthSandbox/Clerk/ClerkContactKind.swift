import HTTPRecovery

/// What e-mail addresses and phone numbers differ in.
struct ClerkContactKind {
    /// Clerk's word for one, and for what proves it.
    let name: String
    let strategy: String
    /// Where Clerk has them.
    let path: String
    /// Whether an account has to keep one.
    let isNeeded: Bool
    let proved: WritableKeyPath<ClerkAccount, [ClerkAccount.Contact]>
    let new: WritableKeyPath<ClerkAccount, [String: ClerkAccount.NewContact]>

    static var emailAddress: ClerkContactKind {
        ClerkContactKind(
            name: "email_address",
            strategy: "email_code",
            path: "email_addresses",
            isNeeded: true,
            proved: \.emails,
            new: \.newEmails
        )
    }

    static var phoneNumber: ClerkContactKind {
        ClerkContactKind(
            name: "phone_number",
            strategy: "phone_code",
            path: "phone_numbers",
            isNeeded: false,
            proved: \.phones,
            new: \.newPhones
        )
    }

    /// Its name for people.
    var words: String { name.replacing("_", with: " ") }

    func check(_ address: String) throws(ClerkFailure) {
        if strategy == "email_code" {
            if address.contains("@") { return }
            throw ClerkFailure(name, "form_param_format_invalid", "is invalid")
        }
        guard address.hasPrefix("+"), address.count > 7, address.dropFirst().allSatisfy(\.isNumber) else {
            throw ClerkFailure(name, "form_param_format_invalid", "is invalid")
                .saying("Phone number must be a valid phone number according to the E.164 international standard.")
        }
    }

    func view(_ contact: ClerkAccount.Contact, isVerified: Bool) -> JSONValue {
        [
            "object": .string(name), "id": .string(contact.id), name: .string(contact.address),
            "verification": [
                "status": isVerified ? "verified" : "unverified", "strategy": .string(strategy),
            ],
        ]
    }
}
