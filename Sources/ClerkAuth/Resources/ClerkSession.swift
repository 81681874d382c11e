public import AuthRecovery
public import HTTPRecovery

/// A session of the client.
public struct ClerkSession: AuthSession, Hashable {
    /// The id, such as `sess_…`.
    public var id: String
    /// The status.
    public var status: ClerkSessionStatus
    /// When it ends; nil if the server does not say.
    public var expireAt: Timestamp?
    /// When it is given up without activity.
    public var abandonAt: Timestamp?
    /// When it was used last.
    public var lastActiveAt: Timestamp?
    /// The organization that was active last; nil for the personal account.
    public var lastActiveOrganizationID: String?
    /// How long ago the first and the second factor were verified; nil in place of one that never was.
    public var factorVerificationAge: (first: Duration?, second: Duration?) {
        (firstFactorAge, secondFactorAge)
    }
    var firstFactorAge: Duration?
    var secondFactorAge: Duration?
    /// The token that came with it.
    var lastActiveToken: Secret?
    /// The user's id, if the server sends the user.
    public var userID: String?
    /// What is left to do before the session is active, such as `setup-mfa`.
    public var tasks: [String]
    /// The names that the server shows of whose session it is: addresses, numbers and user name.
    public var identifiers: [String]
    /// Whether the person may make an organization; nil if the server does not say.
    var mayCreateOrganization: Bool?
    /// The device that it was used on last; nil where the server does not tell, as it does in
    /// ``Clerk/sessionsOnAllDevices()``.
    public var device: ClerkSession.Device?

    /// A device, as far as Clerk knows it.
    public struct Device: Sendable, Hashable {
        /// What it is, such as `Macintosh`.
        public var type: String?
        /// The browser; nil for a native app.
        public var browser: String?
        /// The address that it came from.
        public var ipAddress: String?
        /// The city of that address.
        public var city: String?
        /// The country of that address.
        public var country: String?
        /// Whether it is a phone or a tablet.
        public var isMobile: Bool
    }

    /// Its id, status and end.
    public var summary: SessionSummary {
        SessionSummary(name: id, status: status.rawValue, expiresAt: expireAt)
    }

    /// Reads a session; nil when the value has no id.
    init?(_ json: JSONValue?) {
        guard let json, let id = json["id"]?.string, !id.isEmpty else { return nil }
        self.init(id: id, json)
    }

    init(id: String, _ json: JSONValue) {
        self.id = id
        status = ClerkSessionStatus(rawValue: json["status"]?.string ?? "")
        expireAt = json["expire_at"]?.milliseconds
        abandonAt = json["abandon_at"]?.milliseconds
        lastActiveAt = json["last_active_at"]?.milliseconds
        lastActiveOrganizationID = json["last_active_organization_id"]?.string?.nonEmpty
        let ages = (json["factor_verification_age"]?.array ?? []).prefix(2).map(\.number?.saturatedInt)
        firstFactorAge = Self.age(ages.first ?? nil)
        secondFactorAge = Self.age(ages.dropFirst().first ?? nil)
        lastActiveToken = json["last_active_token"]?["jwt"]?.string?.nonEmpty.map { Secret($0) }
        userID = json["user"]?["id"]?.string ?? json["user_id"]?.string
        tasks = json["tasks"]?.array?.compactMap { $0["key"]?.string } ?? []
        identifiers = Self.identifiers(in: json)
        mayCreateOrganization = json["user"]?["create_organization_enabled"]?.bool
        device = Device(json["latest_activity"])
    }

    /// Minutes as Clerk counts them; a negative number stands for never.
    private static func age(_ minutes: Int64?) -> Duration? {
        guard let minutes, minutes >= 0 else { return nil }
        return .seconds(min(minutes, 1 << 40) * 60)
    }

    private static func identifiers(in json: JSONValue) -> [String] {
        let (user, shown) = (json["user"], json["public_user_data"])
        var names = [shown?["identifier"], shown?["username"], user?["username"]]
        for (list, name) in [("email_addresses", "email_address"), ("phone_numbers", "phone_number")] {
            names += (user?[list]?.array ?? []).prefix(64).map { $0[name] }
        }
        return names.compactMap { $0?.string?.nonEmpty }
    }

    /// Whose lockout holds for what is done in it.
    var account: String? { identifiers.first.map { LockoutLedger.account(for: $0) } }

    /// Whether nothing shows that the session is another person's.
    func mayBelong(to identifier: String) -> Bool {
        let account = LockoutLedger.account(for: identifier)
        return identifiers.isEmpty || identifiers.contains { LockoutLedger.account(for: $0) == account }
    }
}

extension ClerkSession.Device {
    /// Reads the activity of a session; nil if there is none.
    fileprivate init?(_ json: JSONValue?) {
        guard let json, json.members != nil else { return nil }
        func text(_ name: String) -> String? { json[name]?.string?.nonEmpty?.bounded(to: 256) }
        type = text("device_type")
        browser = [text("browser_name"), text("browser_version")].compactMap(\.self).joined(separator: " ").nonEmpty
        ipAddress = text("ip_address")
        city = text("city")
        country = text("country")
        isMobile = json["is_mobile"]?.bool == true
    }
}

extension JSONValue {
    /// A time in Unix milliseconds.
    var milliseconds: Timestamp? {
        guard let number else { return nil }
        let milliseconds = min(max(number.saturatedInt, -(1 << 52)), 1 << 52)
        return Timestamp(sinceEpoch: .milliseconds(milliseconds))
    }
}
