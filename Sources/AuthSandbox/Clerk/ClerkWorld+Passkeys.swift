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

    /// Checks all of a passkey's proof but its signature, for which there is no key here.
    mutating func attemptPasskey(_ signIn: ClerkSignIn, _ call: ClerkCall) throws(ClerkFailure) {
        guard var proof = signIn.proofs[.first], proof.strategy == "passkey", let nonce = proof.nonce else {
            throw .verificationMissing
        }
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
        guard let owner, signIn.account == nil || signIn.account == owner.id else { throw .strategyInvalid }
        guard Self.proves(credential["response"], options, call) else { throw .verificationFailed }
        try checkLock(owner.id, call)
        signIns[signIn.id]?.account = owner.id
        signIns[signIn.id]?.identifier = owner.user.identifier
        proof.status = "verified"
    }

    private static func proves(_ response: JSONValue?, _ options: JSONValue, _ call: ClerkCall) -> Bool {
        func bytes(_ name: String) -> [UInt8]? { response?[name]?.string.flatMap { Base64.decode($0.utf8) } }
        guard let data = bytes("clientDataJSON").flatMap({ try? JSONValue(parsing: $0) }),
            data["type"]?.string == "webauthn.get", let challenge = options["challenge"]?.string,
            data["challenge"]?.string == challenge, let signed = bytes("authenticatorData"), signed.count >= 37,
            let signature = response?["signature"]?.string, !signature.isEmpty
        else { return false }
        let party = relyingParty(call)
        let origin = data["origin"]?.string ?? ""
        let host = origin.split(separator: "/").last.map { String($0.prefix { $0 != ":" }) } ?? ""
        // The person was there, and was verified.
        return Array(signed[..<32]) == SHA256.hash(Array(party.utf8)) && signed[32] & 0x05 == 0x05
            && (host == party || host.hasSuffix("." + party))
    }
}
