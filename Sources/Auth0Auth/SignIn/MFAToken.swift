import AuthRecovery
import HTTPRecovery

/// What the second step of a sign-in presents.
struct MFAToken: Sendable {
    var value: Secret
    /// When it ends: ten minutes after it was issued.
    var endsAt: Timestamp

    static let lifetime: Duration = .seconds(600)

    /// Nothing that would come too late is sent, and a code in it not spent: the sign-in begins again.
    var sendBy: RequestOptions.SendBy {
        var outcome = Outcome(.flowExpired, processed: .no, remedies: [.restartFlow])
        outcome.code = "expired_token"
        return RequestOptions.SendBy(endsAt, orElse: outcome)
    }
}

/// A second factor that the person has enrolled.
struct Auth0Authenticator: Sendable {
    var id: String
    var factor: Factor

    init(id: String, factor: Factor) {
        self.id = id
        self.factor = factor
    }

    /// Reads an entry of the list; nil for one that is not active, or of a sort that nobody knows.
    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string, !id.isEmpty, json["active"]?.bool != false else { return nil }
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
        factor = Factor(
            key: key,
            providerName: channel ?? json["authenticator_type"]?.string ?? "",
            destination: json["name"]?.string,
            id: id
        )
    }
}

/// A code or a push that was sent.
struct Auth0Challenge: Sendable {
    /// What names it when it is answered.
    var code: Secret
    /// Whether the person types a code; false for a push, which is answered on the phone.
    var wantsCode: Bool

    init(code: Secret, wantsCode: Bool) {
        self.code = code
        self.wantsCode = wantsCode
    }

    /// Reads an answer; nil if it names no challenge.
    init?(_ json: JSONValue) {
        guard let code = json["oob_code"]?.string, !code.isEmpty else { return nil }
        self.init(code: Secret(code), wantsCode: json["binding_method"]?.string == "prompt")
    }
}
