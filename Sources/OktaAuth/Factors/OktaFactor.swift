public import AuthRecovery
public import HTTPRecovery

/// A factor that the person has, or can enroll.
public struct OktaFactor: Sendable, Hashable {
    /// The id; nil for one that is not enrolled.
    public var id: String?
    /// The sort.
    public var type: OktaFactorType
    /// Who provides it, such as `OKTA` or `GOOGLE`.
    public var provider: String
    /// The vendor's name to show.
    public var vendorName: String?
    /// `NOT_SETUP`, `ACTIVE` or another word; nil if the server does not say.
    public var status: String?
    /// Whether it has to be enrolled: `REQUIRED` or `OPTIONAL`; nil if the server does not say.
    public var enrollment: String?
    /// Where a code goes to, masked; else what tells the factor from others of its sort: the name of the phone or of the
    /// security key, or the vendor.
    public var destination: String?
    /// The question, for a security question.
    public var question: String?
    /// The id of the credential, for WebAuthn.
    public var credentialID: String?
    /// The number that the person has to choose on their phone.
    public var number: String?
    /// The steps that the server offers for it.
    public var links: OktaLinks
    /// What the server sends for its activation, as it came: a key, options for WebAuthn, what Duo's page needs.
    ///
    /// It may hold secrets.
    public internal(set) var activation: JSONValue?
    /// What the server sends for its verification, as it came: options for WebAuthn, the nonce of a U2F key, what Duo's
    /// page needs.
    public internal(set) var challenge: JSONValue?

    /// Reads a factor; nil if the value names no sort.
    init?(_ json: JSONValue) {
        guard let type = json["factorType"]?.string?.nonEmpty else { return nil }
        let profile = json["profile"]
        self.type = OktaFactorType(reading: type)
        id = json["id"]?.string?.nonEmpty
        provider = json["provider"]?.string?.nonEmpty?.bounded(to: 256) ?? "OKTA"
        vendorName = json["vendorName"]?.string?.nonEmpty?.bounded(to: 256)
        status = json["status"]?.string?.nonEmpty?.bounded(to: 256)
        enrollment = json["enrollment"]?.string?.nonEmpty?.bounded(to: 256)
        let address = (profile?["phoneNumber"] ?? profile?["email"])?.string?.nonEmpty.map(Self.masked)
        let name = (profile?["authenticatorName"] ?? profile?["name"])?.string?.nonEmpty?.bounded(to: 256)
        // Okta's own app goes without saying.
        destination = address ?? name ?? (provider == "OKTA" ? nil : vendorName ?? provider)
        question = profile?["questionText"]?.string?.nonEmpty?.bounded(to: 1024)
        credentialID = profile?["credentialId"]?.string?.nonEmpty
        links = OktaLinks(json["_links"])
        activation = json["_embedded"]?["activation"]
        // Duo's stands under another name.
        adopt(challenge: json["_embedded"]?["challenge"] ?? json["_embedded"]?["verification"])
    }

    /// Takes what the server sends for the verification, wherever it stands.
    mutating func adopt(challenge: JSONValue?) {
        guard let challenge else { return }
        self.challenge = challenge
        number = challenge["correctAnswer"]?.codeText?.bounded(to: 16) ?? number
    }

    /// Whether the person still has to set it up.
    var isOpenForEnrollment: Bool { status != "ACTIVE" && !links["enroll"].isEmpty }

    /// The factor by the words that all providers share; nil if this version cannot carry it out.
    public var factor: Factor? {
        type.key.map { key in
            Factor(key: key, providerName: type.rawValue, destination: destination ?? question, id: id ?? provider)
        }
    }

    /// The destination with its middle hidden; Okta masks it mostly, but not everywhere.
    static func masked(_ destination: String) -> String {
        let destination = destination.bounded(to: 256)
        if destination.contains("*") || destination.contains("X") { return destination }
        guard let at = destination.lastIndex(of: "@") else {
            return "•••" + destination.suffix(destination.count > 4 ? 2 : 0)
        }
        return destination[..<at].prefix(1) + "•••" + destination[at...]
    }
}

// An activation holds the key.
extension OktaFactor: Redacted {
    /// The sort and the id.
    public var description: String { "OktaFactor(\(type.rawValue.loggable ?? "?"), \(id?.loggable ?? "-"))" }
}
