import HTTPRecovery

/// A journey as it is drawn: nodes, and which outcome of each leads where.
struct ForgeRockTree: Sendable {
    /// What a node does.
    enum Node: Sendable, Equatable {
        /// Name and password on one page; with a loop, a wrong password is asked for again.
        case credentials(loops: Bool)
        case username
        /// The password alone, of the person who is known already.
        case password
        case emailCode
        case authenticatorCode
        case recoveryCode
        case registerCredential
        case proveCredential
        /// A wait that is over after some polls.
        case poll
        /// A push to a phone, on which a number has to be chosen, and what came of it.
        case push
        /// The address of a new authenticator, as a QR code has it.
        case registerAuthenticator
        /// Codes for whoever loses their device, shown once.
        case recoveryCodes
        case suspend
        case newPassword
        case choice(String, [String])
        case confirmation(String, [String])
        case profile
        /// Name and password beside a callback of a type that no client knows, which has to come back untouched.
        case unknown
        /// A callback that no client knows, which wants an answer.
        case hologram
        /// A visit to an identity provider, by OAuth or by SAML.
        case redirect(isSAML: Bool)
        case deviceProfile
        /// A new key of the device.
        case bindDevice
        /// The proof of a key that was bound.
        case signByDevice
        /// Name and password beside a callback that no client knows, which wants an answer.
        case hologramLogin
        /// A captcha whose proof is compared.
        case captcha
        /// An identity provider to choose, or the name and the password on the same page.
        case selectProvider
        /// A sign-in at the provider that the app makes by itself.
        case identityProvider
        /// A language, which has to come back as it went.
        case language
        /// A client certificate, which a proxy puts into a field of the request.
        case certificate
        /// A credential of HTTP, which comes with the request or not at all.
        case httpCredential
        /// PingOne Protect: its start, or its signals.
        case protect(evaluates: Bool)
        /// An attestation of the app.
        case integrity
        /// A phone that is set up while the server polls.
        case registerPush
    }

    /// A node with its outcomes.
    struct Place: Sendable {
        let node: Node
        let next: [String: String]
    }

    static let success = "success"
    static let failure = "failure"

    let name: String
    /// What happens in it, for the list of journeys.
    let summary: String
    let start: String
    let places: [String: Place]

    private init(_ name: String, _ summary: String, start: String, _ places: [String: (Node, [String: String])]) {
        self.name = name
        self.summary = summary
        self.start = start
        self.places = places.mapValues { Place(node: $0.0, next: $0.1) }
    }

    /// The journeys by their names.
    static let all: [String: ForgeRockTree] = Dictionary(uniqueKeysWithValues: list.map { ($0.name, $0) })

    /// Name and password, and a new password where it has to be changed.
    private static func login(then next: String) -> [String: (Node, [String: String])] {
        [
            "login": (.credentials(loops: false), ["true": next, "false": failure, "expired": "renew"]),
            "renew": (.newPassword, ["done": next]),
        ]
    }

    private static let code: (Node, [String: String]) = (.emailCode, ["true": success, "false": failure])

    private static func merging(
        _ first: [String: (Node, [String: String])],
        _ second: [String: (Node, [String: String])]
    ) -> [String: (Node, [String: String])] {
        first.merging(second) { $1 }
    }

    static let list: [ForgeRockTree] = [
        ForgeRockTree("Login", "name and password", start: "login", login(then: success)),
        ForgeRockTree(
            "LoginLoop",
            "name and password; a wrong password is asked for again",
            start: "login",
            ["login": (.credentials(loops: true), ["true": success, "false": failure, "expired": success])]
        ),
        ForgeRockTree(
            "Polling",
            "name and password, then several polls with a way out",
            start: "login",
            merging(login(then: "poll"), ["poll": (.poll, ["done": success, "exit": failure])])
        ),
        ForgeRockTree(
            "Push",
            "name and password, then polls for a phone on which a number has to be chosen",
            start: "login",
            merging(
                login(then: "push"),
                [
                    "push": (
                        .push,
                        [
                            "done": success, "exit": failure, "refused": failure, "expired": failure,
                            "exhausted": failure,
                        ]
                    )
                ]
            )
        ),
        ForgeRockTree(
            "PushRetry",
            "the same; a push that has run out is sent again, and one that was refused leaves a code by e-mail",
            start: "login",
            merging(
                login(then: "push"),
                [
                    "push": (
                        .push,
                        ["done": success, "exit": failure, "refused": "code", "expired": "push", "exhausted": failure]
                    ),
                    "code": code,
                ]
            )
        ),
        ForgeRockTree(
            "Suspend",
            "a name, then a link by e-mail",
            start: "name",
            ["name": (.username, ["done": "wait"]), "wait": (.suspend, ["done": success])]
        ),
        ForgeRockTree(
            "OneTimeCode",
            "a name, then a code by e-mail",
            start: "name",
            ["name": (.username, ["done": "code"]), "code": code]
        ),
        ForgeRockTree(
            "MFA",
            "name and password, then the authenticator's code or a recovery code; by e-mail for those who have neither",
            start: "login",
            merging(
                login(then: "factor"),
                [
                    "factor": (
                        .authenticatorCode,
                        ["true": success, "false": failure, "recovery": "recovery", "none": "code"]
                    ),
                    "recovery": (.recoveryCode, ["true": success, "false": failure]),
                    "code": code,
                ]
            )
        ),
        ForgeRockTree(
            "RegisterAuthenticator",
            "name and password, then a new authenticator, its first code, and new recovery codes",
            start: "login",
            merging(
                login(then: "register"),
                [
                    "register": (.registerAuthenticator, ["done": "factor"]),
                    "factor": (
                        .authenticatorCode,
                        ["true": "codes", "false": failure, "recovery": failure, "none": failure]
                    ),
                    "codes": (.recoveryCodes, ["done": success]),
                ]
            )
        ),
        ForgeRockTree(
            "WebAuthn",
            "a name, then a passkey; without one a code by e-mail",
            start: "name",
            [
                "name": (.username, ["done": "passkey"]),
                "passkey": (
                    .proveCredential,
                    [
                        "success": success, "unsupported": "code", "error": failure, "failure": failure,
                        "recovery": "recovery",
                    ]
                ),
                "code": code, "recovery": (.recoveryCode, ["true": success, "false": failure]),
            ]
        ),
        ForgeRockTree(
            "WebAuthnRegistration",
            "name and password, then a new passkey; where there can be none a code by e-mail",
            start: "login",
            merging(
                login(then: "passkey"),
                [
                    "passkey": (
                        .registerCredential,
                        ["success": success, "unsupported": "code", "error": failure, "failure": failure]
                    ),
                    "code": code,
                ]
            )
        ),
        ForgeRockTree(
            "ChangePassword",
            "name and password, then a new password against the rules",
            start: "login",
            merging(login(then: "change"), ["change": (.newPassword, ["done": success])])
        ),
        ForgeRockTree(
            "Choice",
            "a name, one of three ways to prove it, then a confirmation",
            start: "name",
            [
                "name": (.username, ["done": "choice"]),
                "choice": (
                    .choice("How do you want to sign in?", ["Password", "Email code", "Authenticator app"]),
                    ["0": "password", "1": "code", "2": "factor"]
                ),
                "password": (.password, ["true": "confirm", "false": failure, "none": "code"]),
                "code": (.emailCode, ["true": "confirm", "false": failure]),
                "factor": (
                    .authenticatorCode, ["true": "confirm", "false": failure, "recovery": "code", "none": "code"]
                ),
                "confirm": (
                    .confirmation("Do you want to stay signed in?", ["Yes", "No", "Cancel"]),
                    ["0": success, "1": success, "2": failure]
                ),
            ]
        ),
        ForgeRockTree(
            "Profile",
            "name and password, then attributes of the profile, a security question and terms",
            start: "login",
            merging(login(then: "profile"), ["profile": (.profile, ["done": success])])
        ),
        ForgeRockTree(
            "Unknown",
            "name and password, beside a callback of a type that nobody knows, which has to come back untouched",
            start: "login",
            ["login": (.unknown, ["true": success, "false": failure, "expired": success])]
        ),
        ForgeRockTree(
            "Hologram",
            "name and password, then a callback of a type that nobody knows, which wants the answer \"seen\"",
            start: "login",
            merging(login(then: "hologram"), ["hologram": (.hologram, ["done": success])])
        ),
        ForgeRockTree(
            "Social",
            "a visit to an identity provider in a browser, which comes back with a code",
            start: "visit",
            ["visit": (.redirect(isSAML: false), ["done": success, "error": failure])]
        ),
        ForgeRockTree(
            "SAML",
            "a visit to an identity provider in a browser, which comes back with a key of the response",
            start: "visit",
            ["visit": (.redirect(isSAML: true), ["done": success, "error": failure])]
        ),
        ForgeRockTree(
            "DeviceBinding",
            "name and password, then a new key of the device, which has to sign; by e-mail where there can be none",
            start: "login",
            merging(
                login(then: "bind"),
                [
                    "bind": (.bindDevice, ["success": "sign", "Unsupported": "code", "failure": failure]),
                    "sign": (.signByDevice, ["success": success, "ClientNotRegistered": "code", "failure": failure]),
                    "code": code,
                ]
            )
        ),
        ForgeRockTree(
            "DeviceProfile",
            "name and password, then a description of the device, asked for until there is one",
            start: "login",
            merging(login(then: "profile"), ["profile": (.deviceProfile, ["done": success])])
        ),
        ForgeRockTree(
            "HologramLogin",
            "name and password, beside a callback of a type that nobody knows, which wants the answer \"seen\"",
            start: "login",
            ["login": (.hologramLogin, ["true": success, "false": failure, "expired": success])]
        ),
        ForgeRockTree(
            "Captcha",
            "name and password, then a captcha whose proof is compared",
            start: "login",
            merging(login(then: "captcha"), ["captcha": (.captcha, ["true": success, "false": failure])])
        ),
        ForgeRockTree(
            "NativeSocial",
            "name and password, or an identity provider at which the app signs in by itself",
            start: "select",
            [
                "select": (
                    .selectProvider, ["true": success, "false": failure, "expired": success, "social": "provider"]
                ),
                "provider": (.identityProvider, ["done": success, "error": failure]),
            ]
        ),
        ForgeRockTree(
            "Language",
            "name and password, then a language that has to come back as it went",
            start: "login",
            merging(login(then: "language"), ["language": (.language, ["done": success])])
        ),
        ForgeRockTree(
            "Certificate",
            "the certificate of a client, which is never asked for",
            start: "certificate",
            ["certificate": (.certificate, ["true": success, "false": failure])]
        ),
        ForgeRockTree(
            "Negotiate",
            "a credential of HTTP that comes with the request; name and password where there is none",
            start: "negotiate",
            merging(login(then: success), ["negotiate": (.httpCredential, ["true": success, "false": "login"])])
        ),
        ForgeRockTree(
            "Protect",
            "name and password between PingOne Protect's start and its signals; by e-mail for clients that have none",
            start: "initialize",
            merging(
                login(then: "evaluate"),
                [
                    "initialize": (.protect(evaluates: false), ["done": "login"]),
                    "evaluate": (.protect(evaluates: true), ["low": success, "error": "code"]),
                    "code": code,
                ]
            )
        ),
        ForgeRockTree(
            "Integrity",
            "name and password, then an attestation of the app; by e-mail where there can be none",
            start: "login",
            merging(
                login(then: "attest"),
                ["attest": (.integrity, ["Unsupported": "code", "failure": failure]), "code": code]
            )
        ),
        ForgeRockTree(
            "RegisterPush",
            "name and password, then polls until a phone has been set up",
            start: "login",
            merging(login(then: "register"), ["register": (.registerPush, ["done": success, "expired": failure])])
        ),
        ForgeRockTree(
            "StepUp",
            "the password of the person who is signed in; a code by e-mail for those who have none",
            start: "password",
            ["password": (.password, ["true": success, "false": failure, "none": "code"]), "code": code]
        ),
    ]
}
