import HTTPRecovery

/// What an error of PingAM's authentication service means.
enum ForgeRockErrorRule: Hashable {
    /// The name or password is wrong, or the journey has ended in its failure node.
    case refused
    case locked
    /// The account is inactive or has expired.
    case blocked
    /// The person has as many sessions as allowed.
    case sessionLimit
    /// The journey, or the link that resumes it, is too old.
    case expired
    /// There is no such journey, module or level.
    case noJourney
    case invalidRealm
    /// The server does not serve the host that was asked.
    case invalidHost
    /// The `Accept-API-Version` field is missing or names a version that is not there.
    case version
    /// The server could not carry out what it should.
    case serverFault

    /// The meaning of a number of the authentication service; nil if it is not known.
    init?(number: Int) {
        switch number {
        case 103, 107: self = .refused
        case 112, 123: self = .locked
        case 101, 104, 113: self = .blocked
        case 115: self = .sessionLimit
        case 110: self = .expired
        case 105, 108, 109, 111, 114, 116, 119, 122, 124, 126: self = .noJourney
        case 102, 118: self = .serverFault
        default: return nil
        }
    }

    /// The meaning of a text that is documented; nil for any other, since texts can be configured and translated.
    init?(text: String) {
        let text = text.lowercased()
        for (meaning, literals) in Self.literals where literals.contains(where: { text.holds($0) }) {
            self = meaning
            return
        }
        return nil
    }

    /// The texts, in lower case.
    private static let literals: [(ForgeRockErrorRule, [String])] = [
        // Before the lockouts, of which it only warns.
        (.refused, ["you will be locked out after"]),
        (.locked, ["your account has been locked", "user locked out"]),
        (.blocked, ["user not active", "user account expired"]),
        (.sessionLimit, ["you have reached your session limit"]),
        (
            .expired,
            [
                "session has timed out", "authentication timeout", "suspendedauthsessionexception",
                "authid jwt signature not valid", "failed to parse jwt",
            ]
        ),
        (.noJourney, ["no configuration found"]),
        (.invalidRealm, ["invalid realm", "realm not found"]),
        (.invalidHost, ["fqdn \""]),
        (.version, ["accept-api-version", "api version", "resource version", "protocol version"]),
        (.serverFault, ["authentication error!!", "can not create new session"]),
        (.refused, ["login failure", "authentication failed", "invalid password!!"]),
    ]

    /// The meaning of number and text together: the number decides, unless it only says "refused" and the text says
    /// more.
    static func of(number: Int?, text: String?) -> ForgeRockErrorRule? {
        let byText = text.flatMap { ForgeRockErrorRule(text: $0) }
        guard let byNumber = number.flatMap({ ForgeRockErrorRule(number: $0) }) else { return byText }
        return byNumber == .refused && (byText == .locked || byText == .blocked) ? byText : byNumber
    }
}
