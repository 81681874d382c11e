import AuthRecovery
import HTTPRecovery

extension Credentials {
    private static let profileKey = "facebook_profile"
    private static let permissionsKey = "facebook_permissions"
    private static let dataAccessKey = "data_access_expiration_time"

    /// The person, as they were read last.
    var facebookProfile: JSONValue? {
        get { other(Self.profileKey) }
        set { setOther(Self.profileKey, newValue) }
    }

    /// Whose token it is, if that is known.
    var facebookUserID: String? { facebookProfile.flatMap { FacebookUser($0)?.id } }

    /// What the last sign-in has asked for, and what the person has said about it; it outlives the token, so that the next
    /// sign-in asks for the same.
    var facebookPermissions: [FacebookPermission] {
        get { (other(Self.permissionsKey)?.array ?? []).prefix(1024).compactMap { FacebookPermission($0) } }
        set { setOther(Self.permissionsKey, newValue.isEmpty ? nil : .array(newValue.map(\.json))) }
    }

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
            dataAccessExpiresAt: Timestamp(facebook: facebookDataAccess),
            permissions: facebookPermissions.filter { $0.status != .unknown },
            idToken: idToken.flatMap(OAuthClient.IDToken.init)
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
