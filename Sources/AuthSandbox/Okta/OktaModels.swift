import HTTPRecovery
import HTTPRecoveryTesting

/// A person's account with what has happened to it.
struct OktaAccount: Sendable {
    let id: String
    var user: SandboxUser
    var factors: [OktaFactor]
    /// What can still be set up.
    var enrollments: [SandboxOktaUser.Enrollment]
    var passwordStatus: String
    let createdAt: Int64
    var passwordChangedAt: Int64
    /// Wrong passwords since the last right one.
    var failures: Int64 = 0
    /// Wrong codes and answers since the last right one.
    var factorFailures: Int64 = 0
    /// Wrong codes at the identity engine by the factors, whichever sign-in they were given in, and when the last came.
    var engineFailures: [String: (count: Int64, last: Int64)] = [:]
    var lock: SandboxLock = .open
    /// When a code of a sort was sent last.
    var sentAt: [String: Int64] = [:]
    var lastTOTPStep: Int64?
    /// The devices that no factor is asked for on, by their tokens.
    var rememberedDevices: Set<String> = []
    /// Whether the account was sent a link to activate it, and is not active yet.
    var awaitsActivation = false
    /// Whether the person has told what the org wants to know of them.
    var isProfileTold = false
    /// How many pushes were sent to the person's phone.
    var pushesSent: Int64 = 0

    var login: String { user.identifier }
}

/// A factor that somebody has.
struct OktaFactor: Sendable, Equatable {
    let id: String
    var setup: SandboxOktaUser.Factor
    /// The secret of an authenticator app, base32.
    var secret: String?
    /// The id of a security key's credential; nil for one that nobody has registered here.
    var credentialID: [UInt8]?
    /// The key that verifies its signatures; of one that is not known they are believed.
    var key: P256Key?

    var type: String { setup.type }

    /// The id of the credential as it goes over the wire.
    var credential: String { Base64.encodeForURL(credentialID ?? Array(id.utf8)) }

    /// Takes down which credential was registered, as far as its attestation can be read.
    mutating func adopt(attestation: String?) {
        guard let bytes = attestation.flatMap({ Base64.decode($0.utf8) }),
            let credential = AuthenticatorData(attestation: bytes)?.credential
        else { return }
        (credentialID, key) = (credential.id, P256Key(cose: credential.publicKey))
    }

    /// Whether the credential has made an assertion; all in base64.
    func hasMade(_ signature: String?, over data: String?, _ client: String) -> Bool {
        guard let signature, let data else { return false }
        guard let key else { return true }
        guard let signature = Base64.decode(signature.utf8), let data = Base64.decode(data.utf8),
            let client = Base64.decode(client.utf8)
        else { return false }
        return key.hasMade(signature, over: data, client)
    }
}

/// A transaction: a sign-in, a recovery or an unlock on its way.
struct OktaTransaction: Sendable {
    let token: String
    /// Nil for somebody who does not exist.
    let account: String?
    /// The name that it was begun with.
    let login: String
    var status: String
    var expiresAt: Int64
    var relayState: String?
    /// `PASSWORD` or `UNLOCK`; nil for a sign-in.
    var recoveryType: String?
    /// `SESSION_STEP_UP` of a session that a browser holds; nil for a transaction of its own.
    var type: String?
    /// How the person is reached in a recovery, in upper case.
    var recoveryFactor: String?
    /// Whether optional factors are offered too.
    var enrollsOptional = false
    /// Whether a factor was proved in it.
    var hasVerified = false
    /// The token of the device that it was begun on, as its cookie says; nil if it says none.
    var device: String?
    /// Whether what is optional was left out.
    var hasSkipped = false
    /// What is being verified or activated.
    var challenge: Challenge?
    /// Wrong codes for an activation.
    var activations: Int64 = 0

    /// A factor under way.
    struct Challenge: Sendable {
        var factor: OktaFactor
        /// Whether it was asked for by its sort instead of by its id.
        var isByType = false
        var result: String?
        var code: String?
        var codeEnds: Int64 = 0
        /// What a credential has to sign, or Duo's page.
        var nonce: String?
        /// Whether Okta Verify on the device is opened by an address, since no page speaks to it.
        var isOpened = false
        /// Whether the link of the mail was opened, by whoever has it.
        var isLinkOpened = false
        /// How Okta Verify is set up: by a picture (`qrcode`), or by a link that was sent.
        var channel: String?
        /// How many polls were answered.
        var polls = 0
        /// When the push was sent.
        var pushedAt: Int64 = 0
        /// What the person has decided by themselves.
        var decision: String?
    }
}

/// A session of an org; its id is the value of the cookie.
struct OktaSession: Sendable {
    let id: String
    let account: String
    let createdAt: Int64
    var expiresAt: Int64
    let methods: [String]
}

/// A one-time token, for a session or for a recovery.
struct OktaOneTimeToken: Sendable {
    let account: String
    let expiresAt: Int64
    /// `PASSWORD` or `UNLOCK` of a recovery, `ACCOUNT_ACTIVATION` of an invitation.
    var recoveryType: String?
    /// What it is called where a flow of the identity engine begins.
    var link: String { isOfActivation ? "activation_token" : "recovery_token" }
    var isOfActivation: Bool { recoveryType == "ACCOUNT_ACTIVATION" }
    var methods: [String] = []
    var isUsed = false
}

/// One request on its way through the API.
struct OktaExchange {
    let request: SandboxRequest
    let route: OktaRoute
    let now: Int64
    let settings: SandboxSettings
    let body: JSONValue
    /// The scheme and the authority that the request was sent to.
    let origin: String

    var okta: SandboxOktaSettings { settings.okta }

    init(_ request: SandboxRequest, _ route: OktaRoute, _ context: SandboxContext) throws(OktaFailure) {
        self.request = request
        self.route = route
        now = context.now
        settings = context.settings
        origin = context.origin
        guard ["POST", "PUT"].contains(request.method), !request.body.isEmpty else {
            body = [:]
            return
        }
        // Duo's page hands its answer over as a form.
        if route.parts.last == "duoCallback" {
            let fields = FormEncoding.fields(request.body).map { JSONValue.Member($0.name, .string($0.value)) }
            body = .object(fields)
            return
        }
        let type = request.header("content-type")?.lowercased() ?? ""
        guard ["application/json", "application/ion+json"].contains(where: type.hasPrefix) else { throw .contentType }
        guard let json = try? JSONValue(parsing: request.body), case .object = json else { throw .body }
        body = json
    }

    /// A member of the body that is a text and not empty.
    func text(_ name: String) -> String? {
        body[name]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A member that has to be there.
    func required(_ name: String) throws(OktaFailure) -> String {
        guard let text = text(name) else { throw .validation(name, "The field cannot be left blank") }
        return text
    }

    /// What a cookie of the request says.
    func cookie(_ name: String) -> String? {
        for header in request.headers where header.name == "cookie" {
            for pair in header.value.split(separator: ";") {
                let plain = pair.drop { $0 == " " }
                if plain.hasPrefix(name + "=") { return String(plain.dropFirst(name.count + 1)) }
            }
        }
        return nil
    }

    /// A time as the server tells it.
    func time(_ milliseconds: Int64) -> JSONValue {
        let shifted = milliseconds + okta.clockSkew
        let text = Timestamp(milliseconds: shifted).rfc3339
        let part = (((shifted % 1000) + 1000) % 1000).padded(to: 3)
        return .string(text.dropLast() + "." + part + "Z")
    }

    /// The URL of a step of the Authentication API.
    func url(_ step: String) -> String { "\(origin)/api/v1/authn/\(step)" }
}

/// What has happened, counted.
struct OktaCounters: Encodable, Sendable, Equatable {
    var transactions: Int64 = 0
    var passwordAttempts: Int64 = 0
    var pushes: Int64 = 0
    var codes: Int64 = 0
    var codeAttempts: Int64 = 0
    var sessions: Int64 = 0

    private enum CodingKeys: String, CodingKey {
        case transactions, passwordAttempts
        case pushes = "pushes_sent"
        case codes = "codes_sent"
        case codeAttempts, sessions
    }
}
