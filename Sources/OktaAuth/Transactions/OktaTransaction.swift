public import AuthRecovery
public import HTTPRecovery

/// A transaction as the server told it last.
///
/// Whatever a server leaves out, adds or spells otherwise, it can be read: nothing but the status has to be there, and
/// the whole of the answer stays in ``body``.
public struct OktaTransaction: Sendable {
    /// Where it stands.
    public var status: OktaStatus
    /// The proof of the transaction, which goes along with every step; nil if it is over, and while a mail is under
    /// way.
    public var stateToken: Secret?
    /// When it expires; every request moves it.
    public var expiresAt: Timestamp?
    /// The one-time token that a session is made from, for five minutes.
    public var sessionToken: Secret?
    /// The token that a trusted app gets in place of the mail.
    public var recoveryToken: Secret?
    /// What the recovery is for: `PASSWORD`, `UNLOCK` or `ACCOUNT_ACTIVATION`.
    public var recoveryType: String?
    /// What the transaction is, such as `SESSION_STEP_UP`; nil if the server does not say.
    public var type: String?
    /// What became of the factor.
    public var factorResult: OktaFactorResult?
    /// The factor of a recovery, or of a challenge by type.
    public var factorType: OktaFactorType?
    /// What the app has given for the way back.
    public var relayState: String?
    /// The person's id, if the server tells it.
    public var userID: String?
    /// The person's login, if the server tells it.
    public var login: String?
    /// The factors to choose from.
    public var factors: [OktaFactor]
    /// The factor under way; of several, the first.
    public var factor: OktaFactor?
    /// The rules for passwords.
    public var passwordPolicy: OktaPasswordPolicy?
    /// The steps that the server offers.
    public var links: OktaLinks
    /// The answer as it came; it may hold secrets.
    public var body: JSONValue
    /// How long it lives on, by the server's clock at the time of the answer.
    var lifetime: Duration?
    /// How long what the person has to scan lives on; the transaction outlives it.
    var activationLifetime: Duration?
    /// When it ends by this machine's clock; nil if that is not known, or was over when the answer came.
    var endsAt: Timestamp?

    /// Reads a transaction; nil if the value has no status.
    ///
    /// - Parameters:
    ///   - json: The answer.
    ///   - date: The server's time when it answered.
    init?(_ json: JSONValue, date: Timestamp) {
        guard let status = json["status"]?.string?.nonEmpty else { return nil }
        self.init(json, status: OktaStatus(rawValue: status.bounded(to: 256)), date: date)
    }

    init(_ json: JSONValue, status: OktaStatus, date: Timestamp) {
        let embedded = json["_embedded"]
        self.status = status
        stateToken = json["stateToken"]?.string?.nonEmpty.map { Secret($0) }
        expiresAt = json["expiresAt"]?.string.flatMap { Timestamp(rfc3339: $0) }
        sessionToken = json["sessionToken"]?.string?.nonEmpty.map { Secret($0) }
        recoveryToken = json["recoveryToken"]?.string?.nonEmpty.map { Secret($0) }
        recoveryType = json["recoveryType"]?.string?.nonEmpty
        type = json["type"]?.string?.nonEmpty?.bounded(to: 256)
        factorType = json["factorType"]?.string?.nonEmpty.map { OktaFactorType(reading: $0) }
        relayState = json["relayState"]?.string?.nonEmpty
        userID = embedded?["user"]?["id"]?.string?.nonEmpty
        login = embedded?["user"]?["profile"]?["login"]?.string?.nonEmpty
        let single = embedded?["factor"]
        let several = embedded?["factors"]?.array ?? single?.array ?? []
        factors = several.prefix(64).compactMap { OktaFactor($0) }
        let first = factors.first
        factor = single.flatMap { $0.array == nil ? OktaFactor($0) : first }
        factor?.adopt(challenge: embedded?["challenge"])
        let result =
            json["factorResult"]?.string?.nonEmpty ?? factor?.activation?["factorResult"]?.string?.nonEmpty
            ?? factor?.challenge?["factorResult"]?.string?.nonEmpty
        factorResult = result.map { OktaFactorResult(rawValue: $0.bounded(to: 256)) }
        passwordPolicy = embedded?["policy"].flatMap { OktaPasswordPolicy($0) }
        links = OktaLinks(json["_links"])
        body = json
        lifetime = expiresAt?.elapsed(since: date)
        let end = factor?.activation?["expiresAt"]?.string.flatMap { Timestamp(rfc3339: $0) }
        activationLifetime = end?.elapsed(since: date)
    }

    /// The person's recovery question, if one is to be answered.
    public var recoveryQuestion: String? {
        body["_embedded"]?["user"]?["recovery_question"]?["question"]?.string?.nonEmpty
    }
}

// The body holds the tokens.
extension OktaTransaction: Redacted {
    /// The status, and nothing of the tokens.
    public var description: String { "OktaTransaction(\(status.rawValue.loggable ?? "?"))" }
}
