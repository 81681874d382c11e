import AuthRecovery
import HTTPRecovery

/// A sign-up, as the server tells it.
public struct ClerkSignUp: Sendable, Hashable {
    /// The id, such as `sua_…`.
    public var id: String
    /// What it wants next.
    public var status: ClerkSignUpStatus
    /// The fields that are still to be filled in, by Clerk's names, such as `password`.
    public var missingFields: [String]
    /// The fields whose owner is still to be proved, such as `email_address`.
    public var unverifiedFields: [String]
    /// Where the proofs stand, by field; `external_account` for a provider's.
    public var verifications: [String: ClerkVerification]
    /// The address that was given.
    public var emailAddress: String?
    /// The number that was given.
    public var phoneNumber: String?
    /// The session that it led to.
    public var createdSessionID: String?
    /// The user that it led to.
    public var createdUserID: String?
    /// What has to be proved against abuse before it goes on; it may hold a token.
    var check: JSONValue? {
        get { sealedCheck.flatMap { try? JSONValue(parsing: $0.reveal()) } }
        set { sealedCheck = newValue.map { Secret($0.description) } }
    }

    private var sealedCheck: Secret?

    /// Reads a sign-up; nil when the value has no id, or one that would lead a path astray.
    init?(_ json: JSONValue?) {
        guard let json, let id = json["id"]?.string, !id.allSatisfy({ $0 == "." }), json["status"] != nil else {
            return nil
        }
        if let object = json["object"]?.string, !object.hasPrefix("sign_up") { return nil }
        self.init(id: id, json)
    }

    init(id: String, _ json: JSONValue) {
        self.id = id
        status = ClerkSignUpStatus(rawValue: json["status"]?.string ?? "")
        missingFields = Self.names(json["missing_fields"])
        unverifiedFields = Self.names(json["unverified_fields"])
        verifications = [:]
        for member in json["verifications"]?.members?.prefix(32) ?? [] {
            verifications[member.key] = ClerkVerification(member.value)
        }
        emailAddress = json["email_address"]?.string
        phoneNumber = json["phone_number"]?.string
        createdSessionID = json["created_session_id"]?.string
        createdUserID = json["created_user_id"]?.string
        check = ProtectCheck.pending(in: json)
    }

    private static func names(_ json: JSONValue?) -> [String] {
        (json?.array ?? []).prefix(32).compactMap { $0.string?.nonEmpty }
    }
}

/// The status of a sign-up; a status that this version does not know is kept as it is.
public struct ClerkSignUpStatus: Sendable, Hashable, RawRepresentable {
    /// Clerk's word.
    public let rawValue: String

    /// Creates a status from Clerk's word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Fields are missing, or not proved.
    public static let missingRequirements = ClerkSignUpStatus(rawValue: "missing_requirements")
    /// The user and the session exist.
    public static let complete = ClerkSignUpStatus(rawValue: "complete")
    /// Too old: start over.
    public static let abandoned = ClerkSignUpStatus(rawValue: "abandoned")
}
