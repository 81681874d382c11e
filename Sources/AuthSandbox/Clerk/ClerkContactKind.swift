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

    /// Those of an account: the primary one first, those that nobody has proved last.
    func views(of account: ClerkAccount) -> [JSONValue] {
        account[keyPath: proved].map { view($0, isVerified: true, of: account) }
            + account[keyPath: new].values.map(\.contact).sorted { $0.id < $1.id }
            .map { view($0, isVerified: false, of: account) }
    }

    func view(_ contact: ClerkAccount.Contact, isVerified: Bool, of account: ClerkAccount?) -> JSONValue {
        let time = JSONValue.int(account?.createdAt ?? 0)
        let isPhone = strategy == "phone_code"
        let isFactor = isPhone && isVerified && account?.secondFactors.contains("phone_code") == true
        return .present([
            "object": .string(name), "id": .string(contact.id), name: .string(contact.address),
            "reserved_for_second_factor": isPhone ? .bool(isFactor) : nil,
            "default_second_factor": isPhone ? false : nil, "reserved": false,
            "verification": [
                "status": isVerified ? "verified" : "unverified", "strategy": .string(strategy), "attempts": .null,
                "expire_at": .null,
            ],
            "linked_to": [], "created_at": time, "updated_at": time,
        ])
    }
}
