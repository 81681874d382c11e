import HTTPRecovery

extension ClerkWorld {
    /// A challenge for a passkey of an account, or for one that the authenticator finds; the host is the relying party.
    func challenge(_ call: ClerkCall, account: String? = nil) -> ClerkProof {
        let known = account.flatMap { accounts[$0] }?.user.passkeys ?? []
        let options: JSONValue = [
            "challenge": .string(Base64.encodeForURL(Array(call.context.random.letters(32).utf8))),
            "rpId": .string(Self.relyingParty(call)), "timeout": 60_000, "userVerification": "required",
            "allowCredentials": .array(known.map { ["type": "public-key", "id": .string($0)] }),
        ]
        return ClerkProof(strategy: "passkey", expireAt: call.now + call.settings.codeLife, nonce: options.text)
    }

    private static func relyingParty(_ call: ClerkCall) -> String { String(call.host.prefix { $0 != ":" }) }

    /// Checks a passkey's proof.
    mutating func attemptPasskey(_ signIn: ClerkSignIn, _ call: ClerkCall) throws(ClerkFailure) {
        guard var proof = signIn.proofs[.first], proof.strategy == "passkey" else { throw .verificationMissing }
        guard let nonce = proof.nonce else { throw .passkeyStale }
        let text = try call.required("public_key_credential")
        // A challenge is good for one proof.
        proof.nonce = nil
        proof.attempts += 1
        defer { signIns[signIn.id]?.proofs[.first] = proof }
        if let expireAt = proof.expireAt, expireAt <= call.now { throw .verificationExpired }
        guard let credential = try? JSONValue(parsing: Array(text.utf8)), credential["type"]?.string == "public-key",
            let name = credential["id"]?.string, credential["rawId"]?.string == name,
            let options = try? JSONValue(parsing: Array(nonce.utf8))
        else { throw .invalidValue("public_key_credential", text) }
        let owner = accounts.values.first { $0.user.passkeys.contains(name) }
        guard let owner, signIn.account == nil || signIn.account == owner.id else { throw .passkeyUnknown }
        let key = owner.passkeyKeys[name]
        guard Self.proves(credential["response"], "webauthn.get", options, by: key, call) else { throw .passkeyWrong }
        try checkLock(owner.id, call)
        signIns[signIn.id]?.account = owner.id
        signIns[signIn.id]?.identifier = owner.user.identifier
        proof.status = "verified"
    }

    private static func proves(
        _ response: JSONValue?,
        _ type: String,
        _ options: JSONValue,
        by key: P256Key? = nil,
        _ call: ClerkCall
    ) -> Bool {
        func bytes(_ name: String) -> [UInt8]? { response?[name]?.string.flatMap { Base64.decode($0.utf8) } }
        guard let data = bytes("clientDataJSON").flatMap({ try? JSONValue(parsing: $0) }),
            data["type"]?.string == type, let challenge = options["challenge"]?.string,
            data["challenge"]?.string == challenge
        else { return false }
        let party = relyingParty(call)
        let origin = data["origin"]?.string ?? ""
        let host = origin.split(separator: "/").last.map { String($0.prefix { $0 != ":" }) } ?? ""
        guard host == party || host.hasSuffix("." + party) else { return false }
        if type == "webauthn.create" { return bytes("attestationObject")?.isEmpty == false }
        guard let signed = bytes("authenticatorData"), signed.count >= 37,
            let signature = bytes("signature"), !signature.isEmpty,
            key?.hasMade(signature, over: signed, bytes("clientDataJSON") ?? []) ?? true
        else { return false }
        // The person was there, and was verified.
        return Array(signed[..<32]) == SHA256.hash(Array(party.utf8)) && signed[32] & 0x05 == 0x05
    }

    // MARK: New ones

    mutating func createPasskey(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        guard let account = accounts[session.account] else { throw .notFound("user") }
        let options: JSONValue = [
            "challenge": .string(Base64.encodeForURL(Array(call.context.random.letters(32).utf8))),
            "rp": ["id": .string(Self.relyingParty(call)), "name": "sandbox"],
            "user": [
                "id": .string(Base64.encodeForURL(Array(account.id.utf8))), "name": .string(account.user.identifier),
                "displayName": .string(account.user.identifier),
            ],
            "pubKeyCredParams": [["type": "public-key", "alg": -7]], "timeout": 60_000,
            "authenticatorSelection": ["residentKey": "required", "userVerification": "required"],
            "excludeCredentials": .array(account.user.passkeys.map { ["type": "public-key", "id": .string($0)] }),
        ]
        let id = call.context.random.identifier("psk_")
        accounts[account.id]?.newPasskeys[id] = options
        return wrapped(
            [
                "object": "passkey", "id": .string(id),
                "verification": ["status": "unverified", "strategy": "passkey", "nonce": .string(options.text)],
            ],
            call.client
        )
    }

    mutating func verifyPasskey(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        let text = try call.required("public_key_credential")
        guard let options = accounts[session.account]?.newPasskeys[call.id] else { throw .notFound("passkey") }
        // A challenge is good for one proof.
        accounts[session.account]?.newPasskeys[call.id] = nil
        guard let credential = try? JSONValue(parsing: Array(text.utf8)), let name = credential["id"]?.string else {
            throw .invalidValue("public_key_credential", text)
        }
        guard Self.proves(credential["response"], "webauthn.create", options, call) else { throw .passkeyWrong }
        accounts[session.account]?.user.passkeys.append(name)
        accounts[session.account]?.passkeys[call.id] = name
        let attestation = credential["response"]?["attestationObject"]?.string.flatMap { Base64.decode($0.utf8) }
        let made = attestation.flatMap { AuthenticatorData(attestation: $0)?.credential }
        accounts[session.account]?.passkeyKeys[name] = made.flatMap { P256Key(cose: $0.publicKey) }
        return wrapped(
            [
                "object": "passkey", "id": .string(call.id),
                "verification": ["status": "verified", "strategy": "passkey"],
            ],
            call.client
        )
    }

    mutating func removePasskey(_ call: ClerkCall, _ session: ClerkSession) throws(ClerkFailure) -> JSONValue {
        guard let name = accounts[session.account]?.passkeys.removeValue(forKey: call.id) else {
            throw .notFound("passkey")
        }
        accounts[session.account]?.user.passkeys.removeAll { $0 == name }
        accounts[session.account]?.passkeyKeys[name] = nil
        return wrapped(["object": "passkey", "id": .string(call.id), "deleted": true], call.client)
    }
}
