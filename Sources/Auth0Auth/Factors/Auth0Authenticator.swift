public import AuthRecovery
import HTTPRecovery

/// A second factor that somebody has enrolled.
public struct Auth0Authenticator: Sendable, Hashable {
    /// The tenant's id of it, for ``Auth0/removeAuthenticator(_:)``.
    public var id: String
    /// What it is: its sort, the tenant's word for that, and where codes go, as far as the tenant tells.
    public var factor: Factor
    /// Whether it is set up; one that nobody has proved cannot be asked for.
    public var isActive: Bool

    init(id: String, factor: Factor, isActive: Bool = true) {
        self.id = id
        self.factor = factor
        self.isActive = isActive
    }

    /// Reads an entry of the list; nil for one of a sort that nobody knows.
    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string, !id.isEmpty else { return nil }
        let key: Factor.Key
        let channel = json["oob_channel"]?.string
        switch json["authenticator_type"]?.string {
        case "otp": key = .totp
        case "recovery-code": key = .backupCode
        case "oob":
            switch channel {
            case "sms", "voice": key = .phoneCode
            case "email": key = .emailCode
            case "auth0": key = .push
            default: return nil
            }
        default: return nil
        }
        self.id = id
        isActive = json["active"]?.bool != false
        factor = Factor(
            key: key,
            providerName: channel ?? json["authenticator_type"]?.string ?? "",
            destination: json["name"]?.string,
            id: id
        )
    }
}
