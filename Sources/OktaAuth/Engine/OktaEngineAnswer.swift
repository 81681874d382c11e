import AuthRecovery
import HTTPRecovery

/// Where a sign-in at the identity engine stands, as the server told it last.
///
/// Whatever a server leaves out, adds or relates to something that is not there, it can be read.
struct OktaEngineAnswer: Sendable {
    /// The answer as it came.
    let body: JSONValue
    /// The proof of the flow, which goes along with every step; that of the newest answer counts.
    let stateHandle: Secret?
    /// The forms that the server offers, the best first.
    let forms: [OktaForm]
    /// What the sign-in ends with.
    let interactionCode: Secret?
    /// How long it lives on, by the server's clock at the time of the answer.
    var lifetime: Duration?
    /// When it ends by this machine's clock; nil if that is not known.
    var endsAt: Timestamp?

    init(_ body: JSONValue) {
        self.body = body
        stateHandle = body["stateHandle"]?.string?.nonEmpty.map { Secret($0) }
        forms = (body["remediation"]?["value"]?.array ?? []).prefix(32).compactMap { OktaForm($0) }
        let fields = body["successWithInteractionCode"]?["value"]?.array ?? []
        let code = fields.prefix(32).first { $0["name"]?.string == "interaction_code" }
        interactionCode = code?["value"]?.string?.nonEmpty.map { Secret($0) }
    }

    /// A form by its name.
    func form(_ name: String) -> OktaForm? { forms.first { $0.name == name } }

    /// The authenticator that is being used, enrolled or recovered: what each of the places says of it.
    var current: OktaAuthenticator? {
        let places = [
            "currentAuthenticatorEnrollment", "currentAuthenticator", "enrollmentAuthenticator",
            "recoveryAuthenticator",
        ]
        let values = places.compactMap { body[$0]?["value"] }
        return values.isEmpty ? nil : OktaAuthenticator(values)
    }

    /// What tells the authenticator apart whose code is asked for; nil if none is.
    var asked: String? {
        let isAsked = forms.contains { OktaEngineMachine.takesAnswers($0) }
        return isAsked ? current.map { $0.id ?? $0.key } : nil
    }

    /// What an option says more of elsewhere; nil if it is not there.
    func related(to option: OktaForm.Option) -> OktaAuthenticator? {
        guard let path = option.relation, path.hasPrefix("$.") else { return nil }
        var value: JSONValue? = body
        for part in path.dropFirst(2).split(separator: ".").prefix(16) {
            let name = part.prefix { $0 != "[" }
            value = value?[String(name)]
            let index = part.dropFirst(name.count).dropFirst().prefix { $0 != "]" }
            if let number = Int(index) { value = value?[number] }
        }
        return value.flatMap { $0.members == nil ? nil : OktaAuthenticator([$0]) }
    }

    /// The person's id, if the server tells it.
    var userID: String? { body["user"]?["value"]?["id"]?.string?.nonEmpty?.bounded(to: 256) }

    /// The person's name, if the server tells it.
    var login: String? { body["user"]?["value"]?["identifier"]?.string?.nonEmpty?.bounded(to: 256) }

    /// The credentials of WebAuthn keys that the person has.
    var credentialIDs: [[UInt8]] {
        (body["authenticatorEnrollments"]?["value"]?.array ?? []).prefix(64)
            .compactMap { OktaAuthenticator([$0]).credentialID }
    }

    /// What Okta Verify on a device is asked for by itself (FastPass); nil for anything else.
    var deviceChallenge: OktaDeviceChallenge? {
        let whole = body["authenticatorChallenge"]?["value"]
        return OktaDeviceChallenge(whole ?? current?.context?["challenge"]?["value"], or: current?.action("cancel"))
    }

    /// The text of the first message, for the person.
    var text: String? {
        body["messages"]?["value"]?.array?.lazy.compactMap { $0["message"]?.string?.nonEmpty }.first?.bounded(to: 4096)
    }
}

/// An authenticator as the identity engine tells of it.
struct OktaAuthenticator: Sendable {
    private let values: [JSONValue]

    init(_ values: [JSONValue]) {
        self.values = values
    }

    /// A member, wherever it stands.
    subscript(name: String) -> JSONValue? { values.lazy.compactMap { $0[name] }.first { !$0.isNull } }

    /// Okta's word for what it is, such as `okta_email`.
    var key: String { self["key"]?.string?.bounded(to: 256) ?? type }
    /// Okta's word for the sort, such as `phone`.
    var type: String { self["type"]?.string?.bounded(to: 256) ?? "" }
    var id: String? { self["id"]?.string?.nonEmpty?.bounded(to: 256) }

    /// The credential of a WebAuthn key.
    var credentialID: [UInt8]? { self["credentialId"]?.string.flatMap { Base64.decode($0.utf8) } }

    /// Where a code goes to, masked; else what tells it from others of its sort.
    var destination: String? {
        let profile = self["profile"]
        let address = (profile?["email"] ?? profile?["phoneNumber"])?.string?.nonEmpty.map(OktaFactor.masked)
        let name = (profile?["authenticatorName"] ?? profile?["deviceName"] ?? self["displayName"])?.string
        return address ?? question ?? name?.nonEmpty?.bounded(to: 256)
    }

    /// Okta's word for it among others: the method, of one that has several.
    func name(_ method: String?) -> String {
        if type == "phone" { return method ?? type }
        return method == Self.device ? Self.device : key
    }

    /// The method of Okta Verify by which nobody types or confirms anything (FastPass).
    static let device = "signed_nonce"

    /// The method that is under way, such as `push`.
    var method: String? { self["methods"]?.array?.first?["type"]?.string?.bounded(to: 64) }

    /// The person's security question.
    var question: String? {
        let enrolled = context?["enrolledQuestion"]?["question"] ?? self["profile"]?["question"]
        return enrolled?.string?.nonEmpty?.bounded(to: 1024)
    }

    /// What goes with it: a number to show, a key to set up, options for WebAuthn.
    var context: JSONValue? { self["contextualData"] }

    /// The number that the person has to choose on their phone.
    var number: String? { context?["correctAnswer"]?.codeText?.bounded(to: 16) }

    /// What the person needs to set it up: the key for an authenticator app, else the address of a picture of it; what
    /// Duo's page needs, as JSON.
    var setup: Secret? {
        if self.key == Self.duo { return page }
        let key = context?["sharedSecret"]?.string?.nonEmpty
        return (key ?? context?["qrcode"]?["href"]?.string?.nonEmpty).map { Secret($0) }
    }

    private static let duo = "duo"

    /// What the page of another party needs, for an authenticator that is proved there: host, token and script of Duo's.
    var page: Secret? { key == Self.duo ? context.map { Secret($0.description) } : nil }

    /// Something that can be done with it: `resend`, `send`, `recover` or `poll`.
    func action(_ name: String) -> OktaForm? { values.lazy.compactMap { $0[name].flatMap { OktaForm($0) } }.first }

    /// The rules for a password.
    var passwordRules: String? { self["settings"].flatMap { OktaPasswordPolicy($0) }?.summary }

    /// What it asks a person for, by the words that all providers share; nil if this version cannot carry it out.
    ///
    /// - Parameter method: The method, of an authenticator that has several.
    func factorKey(_ method: String?) -> Factor.Key? { Self.factorKey(key, method) }

    static func factorKey(_ key: String, _ method: String?) -> Factor.Key? {
        switch (key, method) {
        case ("okta_verify", "push"), ("custom_app", _), (_, "push"): .push
        case (_, Self.device): .push
        case ("smart_card_idp", _), ("smart_card", _): nil
        // Its page says what is answered.
        case (Self.duo, _): .text
        case ("okta_password", _), ("password", _), (_, "password"): .password
        case ("okta_email", _), ("email", _), (_, "email"): .emailCode
        case ("phone_number", _), ("phone", _), (_, "sms"), (_, "voice"): .phoneCode
        case ("security_question", _), (_, "security_question"): .securityAnswer
        case ("webauthn", _), (_, "webauthn"): .webauthn
        case ("google_otp", _), ("okta_verify", _), ("rsa_token", _), ("symantec_vip", _), ("yubikey_token", _),
            ("custom_otp", _), ("onprem_mfa", _), ("del_oath", _), (_, "otp"), (_, "totp"), (_, "hotp"):
            .totp
        default: .text
        }
    }
}

/// How Okta Verify on a device is reached, so that nobody types anything.
struct OktaDeviceChallenge: Sendable {
    /// Okta's word for the way, such as `LOOPBACK`.
    let method: String
    /// The address that opens it; nil where a page in a browser would speak to the app itself.
    let url: Secret?
    /// What goes on without it.
    let cancel: OktaForm?

    init?(_ json: JSONValue?, or cancel: OktaForm?) {
        guard let method = json?["challengeMethod"]?.string else { return nil }
        self.method = method.bounded(to: 64)
        let isOpened = ["CUSTOM_URI", "UNIVERSAL_LINK", "APP_LINK"].contains(method)
        url = isOpened ? json?["href"]?.string?.nonEmpty.map { Secret($0) } : nil
        self.cancel = json?["cancel"].flatMap { OktaForm($0) } ?? cancel
    }
}

/// The answer as it came, and its end by this machine's clock.
extension OktaEngineAnswer: Remembered {
    package var memory: JSONValue {
        ["body": body, "lifetime": lifetime.memory, "ends_at": endsAt.memory]
    }

    package init?(memory: JSONValue) {
        guard let body = memory["body"], let lifetime = Duration?(memory: memory["lifetime"] ?? .null),
            let endsAt = Timestamp?(memory: memory["ends_at"] ?? .null)
        else { return nil }
        self.init(body)
        self.lifetime = lifetime
        self.endsAt = endsAt
    }
}
