public import AuthRecovery
public import HTTPRecovery

/// Where the proof of a factor, an address or a number stands.
public struct ClerkVerification: Sendable, Hashable {
    /// Clerk's word: `unverified`, `verified`, `transferable`, `failed`, `expired`.
    public var status: String
    /// The strategy that is under way.
    public var strategy: String?
    /// The strategies by which it can be proved, as far as the server says.
    var supportedStrategies: [String] = []
    /// The attempts so far.
    public var attempts: Int?
    /// When it expires.
    public var expireAt: Timestamp?
    /// What a passkey has to sign.
    public var nonce: Secret?
    /// What the key of a device has to sign, byte by byte.
    var deviceData: String?
    /// Where the person proves themselves to another provider; it holds the state of the request, so it is not printed.
    public var redirectURL: Secret?

    /// The page that the person has to visit now; nil if there is none.
    var openRedirect: Secret? { status == "unverified" ? redirectURL : nil }

    /// Whether it is proved.
    var isVerified: Bool { status == "verified" }

    /// Whether somebody has proved themselves who has no account yet (at a sign-in), or has one already (at a sign-up):
    /// the proof can be taken over to the other.
    public var isTransferable: Bool { status == "transferable" }

    /// Reads a verification; nil when the value says neither status nor strategy.
    init?(_ json: JSONValue?) {
        guard let json, json["status"]?.string != nil || json["strategy"]?.string != nil else { return nil }
        status = json["status"]?.string ?? ""
        strategy = json["strategy"]?.string
        supportedStrategies = (json["supported_strategies"]?.array ?? []).prefix(16).compactMap { $0.string?.nonEmpty }
        attempts = json["attempts"]?.number.map { Int(clamping: $0.saturatedInt) }
        expireAt = json["expire_at"]?.milliseconds
        nonce = json["nonce"]?.string?.nonEmpty.map { Secret($0) }
        deviceData = json["trusted_device_challenge"]?["client_data"]?.string?.nonEmpty
        redirectURL = json["external_verification_redirect_url"]?.string?.nonEmpty.map { Secret($0) }
    }
}
