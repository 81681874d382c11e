import AuthRecovery
import HTTPRecovery

extension Credentials {
    private static let profileKey = "facebook_profile"
    private static let dataAccessKey = "data_access_expiration_time"

    /// The person, as they were read last.
    var facebookProfile: JSONValue? {
        get { other(Self.profileKey) }
        set { setOther(Self.profileKey, newValue) }
    }

    /// Whose token it is, if that is known.
    var facebookUserID: String? { facebookProfile.flatMap { FacebookUser($0)?.id } }

    /// When the app's access to the person's data ends, as Facebook writes it; it goes with the token.
    var facebookDataAccess: JSONValue? {
        get { other(Self.dataAccessKey) }
        set { setOther(Self.dataAccessKey, newValue) }
    }

    /// The session that they are.
    var facebookSession: FacebookSession {
        FacebookSession(
            user: facebookProfile.flatMap { FacebookUser($0) },
            expiresAt: expiresAt,
            dataAccessExpiresAt: Timestamp(facebook: facebookDataAccess)
        )
    }

    /// The credentials with a token that was issued.
    ///
    /// An answer that does not say how long the person's data may be read changes nothing about it.
    func taking(_ answer: OAuthClient.TokenAnswer) -> Credentials {
        var credentials = answer.merged(into: self)
        if let end = answer.others.last(where: { $0.key == Self.dataAccessKey })?.value.lenientNumber {
            credentials.facebookDataAccess = .number(end)
        }
        return credentials
    }

    private func other(_ key: String) -> JSONValue? { others.last { $0.key == key }?.value }

    private mutating func setOther(_ key: String, _ value: JSONValue?) {
        others.removeAll { $0.key == key }
        if let value { others.append(JSONValue.Member(key, value)) }
    }
}
