public import HTTPRecovery

/// All that one identity holds to prove itself.
public struct Credentials: Sendable, Hashable {
    /// The access token.
    public var accessToken: Secret?
    /// The refresh token.
    public var refreshToken: Secret?
    /// When the access token expires.
    public var expiresAt: Timestamp?
    /// How the access token is presented, such as `Bearer` or `DPoP`; nil if the server did not say.
    ///
    /// It stays when the access token is removed: the next one is mostly of the same type.
    public var tokenType: String?
    /// The client token (Clerk).
    public var clientToken: Secret?
    /// The id of the session that is used.
    public var sessionID: String?
    /// The single-sign-on token (ForgeRock, PingAM).
    public var ssoToken: Secret?
    /// When a renewal with the present refresh token was begun whose end is not known.
    ///
    /// Kept if the server rotates refresh tokens, so that another process does not present one again that may have
    /// been used.
    public var renewalBeganAt: Timestamp? {
        didSet { if renewalBeganAt != oldValue { (renewalBootTime, renewalRepeats) = (nil, 0) } }
    }
    /// The same moment by the machine's boot clock, if it is known.
    var renewalBootTime: BootClock.Value?
    /// How often somebody has set out since to present the refresh token again.
    var renewalRepeats: UInt32 = 0
    /// Members of the stored form that this version of the library does not know; they are kept.
    public var others: [JSONValue.Member]

    /// Creates credentials.
    public init(
        accessToken: Secret? = nil,
        refreshToken: Secret? = nil,
        expiresAt: Timestamp? = nil,
        tokenType: String? = nil,
        clientToken: Secret? = nil,
        sessionID: String? = nil,
        ssoToken: Secret? = nil,
        renewalBeganAt: Timestamp? = nil,
        others: [JSONValue.Member] = []
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.tokenType = tokenType
        self.clientToken = clientToken
        self.sessionID = sessionID
        self.ssoToken = ssoToken
        self.renewalBeganAt = renewalBeganAt
        self.others = others
    }

    /// The credential of a sort, if it is held.
    public subscript(kind: Outcome.CredentialKind) -> Secret? {
        switch kind {
        case .access: accessToken
        case .refresh: refreshToken
        case .client: clientToken
        case .session: ssoToken ?? sessionID.map { Secret($0) }
        case .code, .device, .id, .state: nil
        }
    }

    /// Tells the credential of a sort from those before and after it, within this process; nil if none is held.
    ///
    /// Made from the credential itself, so that a change of another one does not change it; it is of no use outside the
    /// process.
    public func version(of kind: Outcome.CredentialKind) -> UInt64? {
        self[kind].map { UInt64(truncatingIfNeeded: $0.hashValue) }
    }

    /// Removes the credential of a sort, with what is only known of it.
    ///
    /// With a client token goes the session that hangs on it; with a session goes its access token.
    public mutating func remove(_ kind: Outcome.CredentialKind) {
        switch kind {
        case .access:
            accessToken = nil
            expiresAt = nil
            forget(.accessToken, .expiresAt)
        case .refresh:
            refreshToken = nil
            renewalBeganAt = nil
            forget(.refreshToken, .renewalBeganAt, .renewalBootTime, .renewalRepeats)
        case .client:
            clientToken = nil
            forget(.clientToken)
            remove(.session)
        case .session:
            ssoToken = nil
            sessionID = nil
            forget(.ssoToken, .sessionID)
            remove(.access)
        case .code, .device, .id, .state: break
        }
    }

    /// Removes what is stored under the keys in a form that could not be read.
    private mutating func forget(_ keys: StoredKey...) {
        others.removeAll { member in keys.contains { $0.rawValue == member.key } }
    }
}

extension Credentials {
    /// Writes down that a renewal begins, or that the refresh token is presented again.
    mutating func markRenewal(at moment: Moment) {
        guard renewalBeganAt == nil else {
            renewalRepeats &+= 1
            return
        }
        renewalBeganAt = moment.wallTime
        renewalBootTime = moment.boot
    }

    /// When the renewal was begun whose end is not known, by the time of this process.
    ///
    /// Two processes of one machine need not agree on the wall clock's time, if it was set between their starts: within
    /// one run of the machine its boot clock tells.
    func renewalBegan(by moment: Moment) -> Timestamp? {
        guard renewalBeganAt != nil, let mark = renewalBootTime, !mark.boot.isEmpty,
            let now = moment.boot, now.boot == mark.boot, now.microseconds >= mark.microseconds
        else { return renewalBeganAt }
        return moment.wallTime.advanced(by: .microseconds(mark.microseconds - now.microseconds))
    }
}

/// A moment by the clocks of this process.
struct Moment: Sendable, Hashable {
    var wallTime: Timestamp
    /// The same by the machine's boot clock, if it is known.
    var boot: BootClock.Value?
}

extension TimeSource {
    /// The present.
    var moment: Moment { Moment(wallTime: wallTime, boot: bootClock?.read()) }
}

extension Credentials {
    /// Whether a type of token is the one that is bound to a key (RFC 9449 section 5); types know no upper case.
    static func isDPoP(_ tokenType: String) -> Bool {
        tokenType.lowercased() == "dpop"
    }
}

/// The keys of the stored form.
enum StoredKey: String, CaseIterable {
    case accessToken = "access_token"
    case refreshToken = "refresh_token"
    case expiresAt = "expires_at"
    case tokenType = "token_type"
    case clientToken = "client_token"
    case sessionID = "session_id"
    case ssoToken = "sso_token"
    case renewalBeganAt = "renewal_began_at"
    case renewalBootTime = "renewal_began_boot"
    case renewalRepeats = "renewal_repeats"
}

// Members that this version does not know may be secrets too.
extension Credentials: Redacted {
    /// Which credentials are held, without any of them.
    public var description: String {
        let held = json.members?.map { StoredKey(rawValue: $0.key)?.rawValue ?? "other" } ?? []
        return "Credentials(\(held.joined(separator: ", ")))"
    }
}
