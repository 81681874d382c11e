import HTTPRecovery
import HTTPRecoveryTesting

/// Somebody's account.
struct ForgeRockAccount: Sendable {
    /// The name within a realm.
    let name: String
    var user: SandboxUser
    var password: String?
    /// Failures since the last success.
    var failures: Int64 = 0
    var lock: SandboxLock
    /// The password has to be replaced with the next sign-in.
    var mustChangePassword: Bool
    var usedRecoveryCodes: Set<String> = []
    var credentials: [ForgeRockCredential] = []
    /// The device's key that was bound, with its id.
    var deviceKey: (id: String, key: P256Key)?

    init(name: String, user: SandboxUser, now: Int64) {
        self.name = name
        self.user = user
        password = user.password
        mustChangePassword = user.passwordState == "reset_required"
        lock = SandboxLock(user.initialLock, now: now)
    }

    /// `active`, `inactive` or `expired`.
    var state: String { user.state == "active" ? user.forgerock.state : "inactive" }

    /// The person's id within all realms.
    func universalID(realm: String) -> String {
        let units = realm.split(separator: "/").reversed().map { ",o=\($0)" }.joined()
        return "id=\(name),ou=user\(units)\(units.isEmpty ? "" : ",ou=services"),ou=am-config"
    }
}

/// A WebAuthn credential that somebody has registered.
struct ForgeRockCredential: Sendable, Equatable {
    let id: [UInt8]
    /// The key as COSE writes it.
    let publicKey: [UInt8]
    var counter: UInt32
    /// What the person calls it.
    var name = "New Security Key"
}

/// A journey under way.
struct ForgeRockRun: Sendable {
    let id: String
    let tree: String
    let realm: String
    let indexType: String
    let indexValue: String
    /// The node that waits for its answer, or is about to be shown.
    var node: String
    /// The only proof that the next answer may come with.
    var key = ""
    var account: String?
    /// The callbacks as they were shown.
    var callbacks: [ForgeRockCallback] = []
    /// What the next page says in front of its questions.
    var notice: String?
    var attempts: Int64 = 0
    var polls: Int64 = 0
    var shownAt: Int64 = 0
    /// The push that waits, or the phone that is waited for.
    var push: ForgeRockPush?
    /// How many were sent.
    var pushes: Int64 = 0
    var code: (text: String, expiresAt: Int64)?
    var challenge: [UInt8] = []
    /// The rules that the last password broke.
    var failedPolicies: [JSONValue] = []
    /// The names of the journeys that the session will have completed.
    var completes: String { tree }
    /// What has to come back from a visit to an identity provider.
    var state = ""
    /// The session that is made stronger.
    var upgraded: String?
    /// The transaction that is confirmed.
    var transaction: String?
    var makesSession = true
}

/// What a phone is asked, and what became of it.
struct ForgeRockPush: Sendable {
    let number: String
    let expiresAt: Int64
    /// What the person has decided; nil as long as they have not.
    var isApproved: Bool?
}

/// A journey that goes on with a link.
struct ForgeRockSuspended: Sendable {
    var run: ForgeRockRun
    let expiresAt: Int64
}

/// Somebody who was sent back by the identity provider, and the kind of what they bring along.
struct ForgeRockVisit: Sendable {
    let account: String
    let kind: String
}

/// A flow of PingOne in which somebody has proved who they are.
struct ForgeRockFlow: Sendable {
    let account: String
    /// Whether it is over; else a new password is wanted.
    var isDone: Bool
}

/// A session.
struct ForgeRockSession: Sendable {
    /// In which order it was made.
    let number: Int
    let account: String
    let realm: String
    let startedAt: Int64
    var usedAt: Int64
    var journeys: Set<String>
    var isOver = false
}

/// What a gateway wants confirmed.
struct ForgeRockTransaction: Sendable {
    let account: String
    let resource: String
    let expiresAt: Int64
    var isConfirmed = false
    var isUsed = false
}

/// One request on its way through the server.
struct ForgeRockExchange: Sendable {
    let request: SandboxRequest
    let route: ForgeRockRoute
    let now: Int64
    let settings: SandboxForgeRockSettings
    /// The scheme and the authority that the request was sent to.
    let origin: String
    /// The version of the resource that the client asks for; nil where it did not say.
    var version: String?

    init(_ request: SandboxRequest, route: ForgeRockRoute, now: Int64, settings: SandboxForgeRockSettings) {
        self.request = request
        self.route = route
        self.now = now
        self.settings = settings
        origin = request.origin
    }

    /// The realm of the path, or that of the query where the path names none.
    var realm: String {
        guard route.realm == "/", let named = request.queryItem("realm"), !named.isEmpty else { return route.realm }
        return "/" + named.split(separator: "/").joined(separator: "/")
    }

    /// The token of a session: that of the cookie, or that of the header of the same name.
    var sessionToken: String? {
        cookie(settings.cookieName)
            ?? request.header(settings.cookieName.lowercased()).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The name and the password that came with the request that begins the journey, for its first page.
    func login(of run: ForgeRockRun) -> (name: String, password: String)? {
        guard settings.hasZeroPageLogin, run.key.isEmpty, let name = request.header("x-openam-username"),
            let password = request.header("x-openam-password")
        else { return nil }
        return (EncodedWord.decode(name), EncodedWord.decode(password))
    }

    func cookie(_ name: String) -> String? {
        for header in request.headers where header.name == "cookie" {
            for pair in header.value.split(separator: ";") {
                let halves = pair.split(separator: "=", maxSplits: 1)
                let key = halves.first.map { $0.drop { $0 == " " } } ?? ""
                if key == name, halves.count == 2, !halves[1].isEmpty { return String(halves[1]) }
            }
        }
        return nil
    }

    /// The host that the request was sent to, without a port.
    var host: String {
        let authority = origin.split(separator: "/").last ?? ""
        guard let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") else { return String(authority) }
        return String(authority[..<colon])
    }

    /// The relying party of WebAuthn ceremonies: as it is set up, else the host that the client has asked.
    var relyingParty: String { settings.relyingPartyID.isEmpty ? host : settings.relyingPartyID }

    /// The deployment, as people and gateways write it.
    var deployment: String { origin + (route.base.isEmpty ? "/am" : route.base) }
}
