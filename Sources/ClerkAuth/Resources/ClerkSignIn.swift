import AuthRecovery
import HTTPRecovery

/// A sign-in under way.
public struct ClerkSignIn: Sendable, Hashable {
    /// The id, such as `sia_…`.
    public var id: String
    /// What it wants next.
    public var status: ClerkSignInStatus
    /// The identifier it was begun with.
    public var identifier: String?
    /// The first factors that the server offers.
    public var supportedFirstFactors: [ClerkFactor]
    /// The second factors that the server offers.
    public var supportedSecondFactors: [ClerkFactor]
    /// Where the proof of the first factor stands; nil before one was chosen.
    public var firstFactorVerification: ClerkVerification?
    /// Where the proof of the second factor stands; nil before one was chosen.
    public var secondFactorVerification: ClerkVerification?
    /// The session that it led to.
    public var createdSessionID: String?
    /// What has to be proved against abuse before it goes on; it may hold a token.
    var check: JSONValue? {
        get { sealedCheck.flatMap { try? JSONValue(parsing: $0.reveal()) } }
        set { sealedCheck = newValue.map { Secret($0.description) } }
    }

    private var sealedCheck: Secret?

    /// Reads a sign-in; nil when the value has no id, or one that would lead a path astray.
    init?(_ json: JSONValue?) {
        guard let json, let id = json["id"]?.string, !id.allSatisfy({ $0 == "." }) else { return nil }
        self.init(id: id, json)
    }

    /// Reads the verification of a session, which has the members of a sign-in and no id that matters.
    init?(verification json: JSONValue?) {
        guard let json, json["status"]?.string != nil else { return nil }
        self.init(id: json["id"]?.string ?? "", json)
    }

    init(id: String, _ json: JSONValue) {
        self.id = id
        status = ClerkSignInStatus(rawValue: json["status"]?.string ?? "")
        identifier = json["identifier"]?.string
        supportedFirstFactors = json["supported_first_factors"]?.array?.compactMap { ClerkFactor($0) } ?? []
        supportedSecondFactors = json["supported_second_factors"]?.array?.compactMap { ClerkFactor($0) } ?? []
        firstFactorVerification = ClerkVerification(json["first_factor_verification"])
        secondFactorVerification = ClerkVerification(json["second_factor_verification"])
        createdSessionID = json["created_session_id"]?.string
        check = ProtectCheck.pending(in: json)
    }
}

/// A factor that Clerk offers for a sign-in.
public struct ClerkFactor: Sendable, Hashable {
    /// Clerk's name, such as `email_code`.
    public var strategy: String
    /// Where a code goes to, masked by Clerk.
    public var safeIdentifier: String?
    /// The id of the e-mail address that a code goes to.
    public var emailAddressID: String?
    /// The id of the phone number that a code goes to.
    public var phoneNumberID: String?
    /// The id of the enterprise's connection that the person proves themselves to.
    public var enterpriseConnectionID: String?
    /// The name of that connection.
    public var enterpriseConnectionName: String?
    /// Whether it is the primary or default one.
    public var isDefault: Bool

    /// Reads a factor; nil when the value names no strategy.
    init?(_ json: JSONValue) {
        guard let strategy = json["strategy"]?.string, !strategy.isEmpty else { return nil }
        self.init(strategy: strategy, json)
    }

    init(strategy: String, _ json: JSONValue) {
        self.strategy = strategy
        safeIdentifier = json["safe_identifier"]?.string
        emailAddressID = json["email_address_id"]?.string
        phoneNumberID = json["phone_number_id"]?.string
        enterpriseConnectionID = json["enterprise_connection_id"]?.string?.nonEmpty
        enterpriseConnectionName = json["enterprise_connection_name"]?.string?.nonEmpty
        isDefault = json["default"]?.bool == true || json["primary"]?.bool == true
    }

    /// The factor in the words that all providers share; nil if this version cannot carry it out.
    var factor: Factor? {
        let key: Factor.Key
        switch strategy {
        case "password": key = .password
        case "email_code", "reset_password_email_code": key = .emailCode
        case "phone_code", "reset_password_phone_code": key = .phoneCode
        case "email_link": key = .emailLink
        case "passkey": key = .webauthn
        case "totp": key = .totp
        case "backup_code": key = .backupCode
        case _ where ClerkRedirect.isRedirect(strategy): key = .redirect
        default: return nil
        }
        return Factor(
            key: key,
            providerName: strategy,
            destination: key == .redirect
                ? enterpriseConnectionName ?? safeIdentifier : safeIdentifier.map(Self.masked),
            id: key == .redirect ? enterpriseConnectionID : emailAddressID ?? phoneNumberID,
            isDefault: isDefault
        )
    }

    /// The destination with its middle hidden; Clerk masks it only if the instance is set up so.
    static func masked(_ destination: String) -> String {
        if destination.contains("*") { return destination }
        guard let at = destination.lastIndex(of: "@") else {
            return "•••" + destination.suffix(destination.count > 4 ? 2 : 0)
        }
        return destination[..<at].prefix(1) + "•••" + destination[at...]
    }
}
