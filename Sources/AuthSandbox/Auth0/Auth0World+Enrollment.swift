import HTTPRecovery

extension Auth0World.Person {
    /// Has them use a factor from now on, beside the recovery code that came with the first.
    mutating func enroll(_ factor: String) {
        let factors = user.auth0Factors.filter { $0 != factor && $0 != "recovery-code" }
        user.auth0.factors = factors + [factor] + (recoveryCode == nil ? [] : ["recovery-code"])
        user.auth0.enrollments = []
    }
}

// Setting up a factor where one is wanted and there is none, or beside others with an access token for that.
extension Auth0World {
    private static let base32 = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")

    mutating func associate(
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> JSONValue {
        try exchange.checkClient()
        let (token, person) = try flow(exchange.bearer, exchange)
        let management = flows[token] == nil ? management(token, exchange) : nil
        if let management, !management.grant.has("enroll") {
            throw Auth0Failure(403, "insufficient_scope", "Insufficient scope, expected: enroll")
        }
        guard person.user.auth0Factors.isEmpty || management != nil else {
            throw Auth0Failure(403, "access_denied", "User is already enrolled.")
        }
        let types = exchange.json["authenticator_types"]?.array?.compactMap(\.string) ?? []
        let channels = exchange.json["oob_channels"]?.array?.compactMap(\.string) ?? []
        let factor = types.first == "otp" ? "otp" : ["auth0": "push"][channels.first ?? ""] ?? channels.first
        let isOffered =
            factor.map { factor in
                management == nil
                    ? person.user.auth0.enrollments.contains(factor) : !person.user.auth0Factors.contains(factor)
            } ?? false
        guard let factor, isOffered else {
            throw Auth0Failure(400, "unsupported_challenge_type", "The tenant does not offer this authenticator.")
        }
        var answer: JSONValue
        if factor == "otp" {
            let key = String((0..<32).map { _ in Self.base32[Int.random(in: 0..<32, using: &random)] })
            if management == nil { flows[token]?.newKey = key } else { people[person.id]?.newKey = key }
            answer = [
                "authenticator_type": "otp", "secret": .string(key),
                "barcode_uri": .string("otpauth://totp/sandbox:\(person.id)?secret=\(key)&issuer=sandbox"),
            ]
        } else {
            let phone = ["sms", "voice"].contains(factor) ? try exchange.required("phone_number") : nil
            let address = phone ?? (factor == "email" ? exchange["email"] ?? person.user.emails.first : nil)
            let name = try send(factor, to: address, enrolling: (factor, phone), token, person, exchange, &context)
            answer = .present([
                "authenticator_type": "oob", "oob_channel": .string(channels[0]), "oob_code": .string(name),
                "binding_method": address == nil ? nil : "prompt",
                "barcode_uri": address == nil
                    ? .string("otpauth://totp/sandbox:\(person.id)?enrollment_tx_id=\(name)") : nil,
            ])
        }
        guard person.recoveryCode == nil else { return answer }
        // It is shown this once, whatever becomes of the factor.
        let code = random.letters(24).uppercased()
        people[person.id]?.recoveryCode = code
        return answer.adding("recovery_codes", .texts([code]))
    }

    /// Sends a code, or a push if there is no address; a new one is the end of the one before.
    mutating func send(
        _ factor: String,
        to address: String?,
        enrolling enrollment: (factor: String, phone: String?)? = nil,
        _ token: String,
        _ person: Person,
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> String {
        if ["sms", "voice"].contains(factor) { try admit(to: "phone \(person.id)", .textMessages, exchange) }
        if factor == "email" { try admit(to: "email \(person.id)", .mails, exchange) }
        lastChallenge += 1
        let name = random.letters(24)
        let code = address == nil ? nil : context.codes.sixDigits()
        challenges = challenges.filter { $0.value.token != token }
        challenges[name] = Challenge(
            number: lastChallenge,
            token: token,
            person: person.id,
            code: code,
            endsAt: exchange.now + 300_000,
            enrollment: enrollment
        )
        if let code, let address {
            let channel = factor == "email" ? "email" : "phone"
            context.send(message(to: address, channel, "mfa_\(factor)", code, of: person, exchange.now))
        }
        return name
    }
}
