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
