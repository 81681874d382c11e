import HTTPRecovery

// Passkeys: a challenge, and what an authenticator makes of it in place of a password.
extension Auth0World {
    /// A ceremony that waits for its end.
    struct Ceremony: Sendable {
        let challenge: String
        let endsAt: Int64
        /// The account that its end makes, and its handle; nil for a sign-in.
        var newcomer: (user: SandboxUser, handle: String)?
    }

    /// What is known of a passkey beside whose it is.
    struct Passkey: Sendable {
        /// The handle of the account, in base64url; nil as long as it was not told.
        let handle: String?
        /// How often it has signed, by its own count.
        var counter: UInt32
        /// The key that verifies its signatures; of one that was not made here they are believed.
        let key: P256Key?
    }

    private static let passkeyGrant = "urn:okta:params:oauth:grant-type:webauthn"
    private static let ceremonyLife: Int64 = 300_000
    /// What a new account can have.
    private static let profileFields = [
        "email", "phone_number", "username", "name", "given_name", "family_name", "nickname", "picture",
    ]

    mutating func challengePasskey(_ exchange: Auth0Exchange) throws(Auth0Failure) -> JSONValue {
        try checkPasskeyApp(exchange)
        let (name, challenge) = begin(nil, exchange)
        return [
            "auth_session": .string(name),
            "authn_params_public_key": [
                "challenge": .string(challenge), "timeout": .int(Self.ceremonyLife), "rpId": .string(exchange.host),
                "userVerification": "preferred",
            ],
        ]
    }

    mutating func registerPasskey(_ exchange: Auth0Exchange) throws(Auth0Failure) -> JSONValue {
        try checkPasskeyApp(exchange)
        guard exchange.settings.allowsSignUp else {
            throw Auth0Failure(400, "invalid_request", "Public signup is disabled")
        }
        let members = exchange.json["user_profile"]?.members ?? []
        let profile = members.reduce(into: [String: String]()) { $0[$1.key] = $1.value.string }
        guard profile.count == members.count, profile.keys.allSatisfy(Self.profileFields.contains) else {
            throw Auth0Failure(400, "invalid_request", "user_profile is not valid")
        }
        guard let email = profile["email"], email.contains("@") else { throw .missing("user_profile.email") }
        let names = [email, profile["phone_number"], profile["username"]].compactMap(\.self)
        guard names.allSatisfy({ person(named: $0) == nil }) else {
            throw Auth0Failure(400, "invalid_request", "The user already exists.")
        }
        var user = SandboxUser(email: email, password: nil)
        user.phones = profile["phone_number"].map { [$0] } ?? []
        user.username = profile["username"]
        user.firstName = profile["name"]
        let handle = Base64.encodeForURL(Array(random.letters(24).utf8))
        let (name, challenge) = begin((user, handle), exchange)
        let algorithms: [JSONValue] = [-8, -7, -257].map { ["type": "public-key", "alg": .int($0)] }
        return [
            "auth_session": .string(name),
            "authn_params_public_key": [
                "challenge": .string(challenge), "timeout": .int(Self.ceremonyLife),
                "rp": ["id": .string(exchange.host), "name": .string(exchange.host)],
                "user": [
                    "id": .string(handle), "name": .string(email), "displayName": .string(profile["name"] ?? email),
                ],
                "pubKeyCredParams": .array(algorithms),
                "authenticatorSelection": ["residentKey": "required", "userVerification": "preferred"],
            ],
        ]
    }

    /// Takes what an authenticator has made of a challenge, once.
    mutating func passkey(
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> JSONValue {
        let name = try exchange.required("auth_session")
        spend("auth_session", name)
        let grant = try exchange.grant()
        try checkRealm(exchange)
        guard let ceremony = ceremonies.removeValue(forKey: name), ceremony.endsAt > exchange.now else {
            throw Auth0Failure(403, "invalid_grant", "Invalid or expired auth_session")
        }
        let response = exchange.json["authn_response"]
        guard let id = response?["id"]?.string, response?["rawId"]?.string == id, let raw = Base64.decode(id.utf8),
            response?["type"]?.string == "public-key", let content = response?["response"]
        else { throw Auth0Failure(400, "invalid_request", "authn_response is not valid") }
        let wrong = Auth0Failure(403, "invalid_grant", "Passkey verification failed.")
        if let (user, handle) = ceremony.newcomer {
            guard let data = Self.attested(content, ceremony, exchange), data.credential?.id == raw else { throw wrong }
            guard person(named: user.identifier) == nil else {
                throw Auth0Failure(400, "invalid_request", "The user already exists.")
            }
            var user = user
            user.passkeys = [id]
            add(user, context: &context)
            let key = data.credential.flatMap { P256Key(cose: $0.publicKey) }
            passkeys[id] = Passkey(handle: handle, counter: data.counter, key: key)
        } else {
            let (known, told) = (passkeys[id], content["userHandle"]?.string)
            guard let data = Self.asserted(content, by: known?.key, ceremony, exchange) else { throw wrong }
            // One that counts and does not count on is a copy.
            guard told == nil || known?.handle == nil || told == known?.handle,
                data.counter == 0 || data.counter > known?.counter ?? 0
            else { throw wrong }
            passkeys[id] = Passkey(handle: known?.handle ?? told, counter: data.counter, key: known?.key)
        }
        guard let person = people.values.first(where: { $0.user.passkeys.contains(id) }) else { throw wrong }
        return try finish(person, grant, exchange)
    }

    private mutating func begin(
        _ newcomer: (user: SandboxUser, handle: String)?,
        _ exchange: Auth0Exchange
    ) -> (name: String, challenge: String) {
        let (name, challenge) = (random.letters(43), Base64.encodeForURL(Array(random.letters(32).utf8)))
        ceremonies[name] = Ceremony(
            challenge: challenge,
            endsAt: exchange.now + Self.ceremonyLife,
            newcomer: newcomer
        )
        return (name, challenge)
    }

    private func checkPasskeyApp(_ exchange: Auth0Exchange) throws(Auth0Failure) {
        try exchange.checkClient()
        guard exchange.settings.grants?.contains(Self.passkeyGrant) ?? true else {
            throw Auth0Failure(400, "invalid_request", "The application is not configured for passkeys.")
        }
        try checkRealm(exchange)
    }

    private func checkRealm(_ exchange: Auth0Exchange) throws(Auth0Failure) {
        guard exchange["realm"].map(exchange.settings.connections.contains) ?? true else {
            throw Auth0Failure(400, "invalid_request", "the connection was not found")
        }
    }

    /// What a new passkey's authenticator says (Web Authentication section 7.1); nil if it does not fit.
    private static func attested(
        _ content: JSONValue,
        _ ceremony: Ceremony,
        _ exchange: Auth0Exchange
    ) -> AuthenticatorData? {
        guard isFor(ceremony, "webauthn.create", content, exchange),
            let object = content["attestationObject"]?.string.flatMap({ Base64.decode($0.utf8) })
        else { return nil }
        return accepted(AuthenticatorData(attestation: object), exchange)
    }

    /// What a passkey's authenticator says (section 7.2); nil if it does not fit.
    private static func asserted(
        _ content: JSONValue,
        by key: P256Key?,
        _ ceremony: Ceremony,
        _ exchange: Auth0Exchange
    ) -> AuthenticatorData? {
        func part(_ name: String) -> [UInt8]? { content[name]?.string.flatMap { Base64.decode($0.utf8) } }
        // An ECDSA signature is a sequence of two numbers (section 6.5.6).
        guard isFor(ceremony, "webauthn.get", content, exchange),
            let bytes = part("authenticatorData"), let signature = part("signature"),
            (8...80).contains(signature.count), signature[0] == 0x30, Int(signature[1]) == signature.count - 2,
            key?.hasMade(signature, over: bytes, part("clientDataJSON") ?? []) ?? true
        else { return nil }
        return accepted(AuthenticatorData(bytes), exchange)
    }

    private static func accepted(_ data: AuthenticatorData?, _ exchange: Auth0Exchange) -> AuthenticatorData? {
        guard let data, data.isPresent,
            data.relyingPartyHash == SHA256.hash(Array(exchange.host.utf8))
        else { return nil }
        return data
    }

    private static func isFor(
        _ ceremony: Ceremony,
        _ type: String,
        _ content: JSONValue,
        _ exchange: Auth0Exchange
    ) -> Bool {
        guard let bytes = content["clientDataJSON"]?.string.flatMap({ Base64.decode($0.utf8) }),
            let data = try? JSONValue(parsing: bytes), data["type"]?.string == type,
            data["challenge"]?.string == ceremony.challenge
        else { return false }
        let origin = data["origin"]?.string ?? ""
        let host = origin.split(separator: "/").last.map { String($0.prefix { $0 != ":" }) } ?? ""
        return host == exchange.host || host.hasSuffix("." + exchange.host)
    }
}

extension Auth0Exchange {
    /// The tenant's host, which is the relying party.
    var host: String {
        let authority = tenant.split(separator: "/").dropFirst().first ?? ""
        return String(authority.prefix { $0 != ":" })
    }
}
