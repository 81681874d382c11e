import HTTPRecovery
import HTTPRecoveryTesting

// Direct Authentication: security keys, and the recovery of a forgotten password.
extension OktaWorld {
    // MARK: Security keys

    /// What a key has to sign; nobody is disturbed by it.
    mutating func challenge(
        _ keys: [OktaFactor],
        of account: OktaAccount,
        _ form: [String: String],
        _ isSecond: Bool
    ) -> SandboxResponse {
        let nonce = makeNonce()
        // Without a proof it is the name that it belongs to.
        if let token = form["mfa_token"] { directProofs[token]?.nonce = nonce } else { keyNonces[account.id] = nonce }
        let credentials: [JSONValue] = keys.map { key in
            ["type": "public-key", "id": .string(key.credential)]
        }
        let enrollments: [JSONValue] = keys.map { key in
            ["credentialId": .string(key.credential), "displayName": .optional(key.setup.name)]
        }
        let options: JSONValue = [
            "challenge": .string(nonce), "allowCredentials": .array(credentials), "timeout": 60_000,
            "userVerification": "preferred", "extensions": [:],
        ]
        let type = "urn:okta:params:oauth:grant-type:" + (isSecond ? "mfa-webauthn" : "webauthn")
        return .json([
            "challengeType": .string(type), "publicKey": options, "authenticatorEnrollments": .array(enrollments),
        ])
    }

    /// What a key has signed.
    mutating func direct(
        key form: [String: String],
        context: inout SandboxContext
    ) throws(OAuthFailure) -> OktaAccount {
        counters.codeAttempts += 1
        let token = form["mfa_token"]
        let name = token.flatMap { directProofs[$0]?.account } ?? form["login_hint"] ?? ""
        let nonce = token.flatMap { directProofs[$0]?.nonce } ?? (token == nil ? keyNonces.first?.value : nil)
        guard let nonce else {
            throw OAuthFailure("invalid_grant", "There is no pending WebAuthn challenge for the user.")
        }
        if let token { directProofs[token]?.nonce = nil }
        // As the first factor the assertion alone says whose it is.
        let holder = keyNonces.first { $0.value == nonce }?.key
        if let holder { keyNonces[holder] = nil }
        let wrong = OAuthFailure("invalid_grant", "The server wasn't able to validate the assertion.")
        guard let account = account(named: token == nil ? holder ?? "" : name), !isHeld(account, form, context) else {
            throw wrong
        }
        let data = form["clientDataJSON"] ?? ""
        // Whichever of the person's keys it is.
        let isMade = account.factors.contains { factor in
            factor.type == "webauthn" && factor.hasMade(form["signature"], over: form["authenticatorData"], data)
        }
        guard isMade, Self.isFor("webauthn.get", nonce, data) else {
            _ = noteFactorFailure(account.id, &context)
            throw wrong
        }
        return account
    }

    // MARK: A forgotten password

    /// What reaches somebody: their factors, and in a recovery their phone too.
    func reachable(_ account: OktaAccount, _ intent: String?) -> [OktaFactor] {
        guard intent == "recovery", let phone = account.user.phones.first else { return account.factors }
        let more = ["sms", "call"].map { type in
            var setup = SandboxOktaUser.Factor(type)
            setup.destination = phone
            return OktaFactor(id: "mblrecovery", setup: setup)
        }
        return account.factors + more
    }

    /// One factor is enough for the token that sets a new password, and for nothing else.
    mutating func recover(
        _ account: OktaAccount,
        _ form: [String: String],
        _ context: SandboxContext
    ) throws(OAuthFailure) -> SandboxResponse {
        guard form["scope"] == Self.recoveryScope else {
            throw OAuthFailure("invalid_scope", "The scope does not suit the intent.")
        }
        guard account.user.okta.mayRecover, form["grant_type"] != "password" else {
            throw OAuthFailure("access_denied", "The recovery is not enabled for the user.", status: 403)
        }
        let token = "at_" + random.letters(40)
        recoveryAccess[token] = OktaOneTimeToken(account: account.id, expiresAt: context.now + 900_000)
        return .json([
            "token_type": "Bearer", "expires_in": 900, "access_token": .string(token),
            "scope": .string(Self.recoveryScope),
        ])
    }

    private static let recoveryScope = "okta.myAccount.password.manage"

    /// What people may change of their own account: the password, with a token of a recovery.
    mutating func account(_ exchange: OktaExchange) throws(OktaFailure) -> SandboxResponse {
        guard exchange.okta.isIdentityEngine, exchange.route.parts == ["password"] else { throw .path }
        guard exchange.request.method == "PUT" else { throw .method }
        guard exchange.request.header("accept")?.contains("okta-version=1.0.0") == true else { throw .contentType }
        let words = (exchange.request.header("authorization") ?? "").split(separator: " ").map(String.init)
        guard words.count == 2, words[0].lowercased() == "bearer", let token = recoveryAccess[words[1]],
            token.expiresAt > exchange.now, let account = accounts[token.account]
        else { throw .token }
        guard let password = exchange.body["profile"]?["password"]?.string, !password.isEmpty else {
            throw .validation("password", "The field cannot be left blank")
        }
        try set(password, of: account, exchange)
        unlock(account.id)
        return .json(["id": .string("lae" + account.id.suffix(17)), "status": "ACTIVE"])
    }
}
