import HTTPRecovery

extension ClerkWorld {
    /// A challenge for a passkey.
    ///
    /// - Parameters:
    ///   - exchange: The request; its host is the relying party.
    ///   - account: Whose passkeys may sign; nil lets the authenticator find one.
    ///   - context: The time and randomness.
    func challenge(
        _ exchange: ClerkExchange,
        account: String? = nil,
        context: inout SandboxContext
    ) -> ClerkSignIn.Verification {
        let known = account.flatMap { accounts[$0] }?.user.passkeys ?? []
        let options: JSONValue = [
            "challenge": .string(Base64.encodeForURL(Array(context.random.letters(32).utf8))),
            "rpId": .string(Self.relyingParty(exchange)), "timeout": 60_000, "userVerification": "required",
            "allowCredentials": .array(known.map { ["type": "public-key", "id": .string($0)] }),
        ]
        return ClerkSignIn.Verification(
            strategy: "passkey",
            expireAt: context.now + context.settings.codeLife,
            nonce: options.text
        )
    }

    private static func relyingParty(_ exchange: ClerkExchange) -> String {
        let host = exchange.request.header("host") ?? "sandbox.invalid"
        return String(host.prefix { $0 != ":" })
    }

    /// Checks all of a passkey's proof but its signature, for which there is no key here.
    mutating func attemptPasskey(
        _ id: String,
        _ exchange: ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) {
        guard let signIn = signIns[id] else { throw .notFound("sign-in") }
        guard var proof = signIn.first, proof.strategy == "passkey", let nonce = proof.nonce else {
            throw .verificationMissing
        }
        let text = try exchange.required("public_key_credential")
        // A challenge is good for one proof.
        proof.nonce = nil
        proof.attempts += 1
        signIns[id]?.first = proof
        if let expireAt = proof.expireAt, expireAt <= context.now { throw .verificationExpired }
        guard let credential = try? JSONValue(parsing: Array(text.utf8)), credential["type"]?.string == "public-key",
            let name = credential["id"]?.string, credential["rawId"]?.string == name,
            let options = try? JSONValue(parsing: Array(nonce.utf8))
        else { throw .invalidValue("public_key_credential", text) }
        let owner = accounts.values.first { $0.user.passkeys.contains(name) }
        guard let owner, signIn.account == nil || signIn.account == owner.id else { throw .strategyInvalid }
        guard Self.proves(credential["response"], options, exchange) else { throw .verificationFailed }
        try checkLock(owner.id, context: context)
        signIns[id]?.account = owner.id
        signIns[id]?.identifier = owner.user.identifier
        signIns[id]?.first?.status = "verified"
    }

    private static func proves(_ response: JSONValue?, _ options: JSONValue, _ exchange: ClerkExchange) -> Bool {
        guard let client = response?["clientDataJSON"]?.string.flatMap({ Base64.decode($0.utf8) }),
            let data = try? JSONValue(parsing: client), data["type"]?.string == "webauthn.get",
            let challenge = options["challenge"]?.string, data["challenge"]?.string == challenge,
            let signed = response?["authenticatorData"]?.string.flatMap({ Base64.decode($0.utf8) }), signed.count >= 37,
            let signature = response?["signature"]?.string, !signature.isEmpty
        else { return false }
        let party = relyingParty(exchange)
        let origin = data["origin"]?.string ?? ""
        let host = origin.split(separator: "/").last.map { String($0.prefix { $0 != ":" }) } ?? ""
        // The person was there, and was verified.
        let flags = signed[32]
        return Array(signed[..<32]) == SHA256.hash(Array(party.utf8)) && flags & 0x05 == 0x05
            && (host == party || host.hasSuffix("." + party))
    }
}
