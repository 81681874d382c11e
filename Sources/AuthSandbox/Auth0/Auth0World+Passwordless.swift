import HTTPRecovery

// Codes and links that stand in for a password.
extension Auth0World {
    /// A code, or a link, that was sent; only the newest of an address counts.
    struct Code: Sendable {
        /// Nil for an address that nobody has.
        let person: String?
        /// Who gets an account by it; nil for who has one, and where none is made.
        var newcomer: SandboxUser?
        let code: String
        let endsAt: Int64
        var attempts = 0
        /// Where a link leads, and what the tokens will be for; nil for a code.
        var link: (redirectURI: String, state: String?, grant: Auth0Grant)?
    }

    private static let codeLife: Int64 = 180_000

    mutating func startPasswordless(
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> JSONValue {
        try exchange.checkClient()
        let connection = try exchange.required("connection")
        guard exchange.settings.passwordless.contains(connection) else { throw .noConnection }
        let isEmail = connection == "email"
        let address = try exchange.required(isEmail ? "email" : "phone_number")
        try admit(to: "start \(exchange.address)", .codes, exchange)
        let person = person(named: address)
        if let person, person.user.state != "active" { throw .blocked }
        let answer: JSONValue = [
            "_id": .string(random.letters(24).lowercased()), (isEmail ? "email" : "phone_number"): .string(address),
            (isEmail ? "email_verified" : "phone_verified"): false,
        ]
        guard isEmail, exchange["send"] != "code" else {
            sendCode(named: "\(connection)|\(address.lowercased())", to: address, person, exchange, &context)
            return answer
        }
        let parameters = exchange.json["authParams"]
        let redirectURI = parameters?["redirect_uri"]?.string ?? exchange.settings.callbacks.first ?? ""
        guard exchange.isCallback(redirectURI) else {
            throw Auth0Failure(400, "bad.authParams", "The redirect_uri is not one of the application's.")
        }
        let grant = try exchange.grant(
            scope: parameters?["scope"]?.string,
            audience: parameters?["audience"]?.string
        )
        let ticket = random.letters(32)
        var code = Code(person: person?.id, code: ticket, endsAt: exchange.now + Self.codeLife)
        code.link = (redirectURI, parameters?["state"]?.string, grant)
        codes[ticket] = code
        if let person {
            let link = "\(exchange.tenant)/passwordless/verify_redirect?ticket=\(ticket)"
            context.send(message(to: address, "email", "passwordless_link", link, of: person, exchange.now))
        }
        return answer
    }

    /// Sends a code to somebody of a database; who is not known learns nothing by it.
    mutating func challengeCode(
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> JSONValue {
        try exchange.checkClient()
        guard exchange.settings.connections.contains(try exchange.required("connection")) else {
            throw Auth0Failure(400, "invalid_request", "the connection was not found")
        }
        guard let address = exchange["email"] ?? exchange["phone_number"] else { throw .missing("email") }
        try admit(to: "challenge \(exchange.address)", .challenges, exchange)
        let session = "as_" + random.letters(40)
        let person = person(named: address)
        // Who is blocked is sent nothing, and nobody learns of it.
        guard person.map({ $0.user.state == "active" }) ?? true else { return ["auth_session": .string(session)] }
        sendCode(named: session, to: address, person, exchange, &context)
        if person == nil, exchange.settings.allowsSignUp, exchange.json["allow_signup"]?.bool == true {
            var user = SandboxUser(email: address)
            if exchange["email"] == nil { (user.emails, user.phones) = ([], [address]) }
            codes[session]?.newcomer = user
            let newcomer = Person(id: "", user: user)
            tell(codes[session]?.code ?? "", to: address, newcomer, exchange, &context)
        }
        return ["auth_session": .string(session)]
    }

    private mutating func sendCode(
        named name: String,
        to address: String,
        _ person: Person?,
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) {
        let code = context.codes.sixDigits()
        codes[name] = Code(person: person?.id, code: code, endsAt: exchange.now + Self.codeLife)
        if let person { tell(code, to: address, person, exchange, &context) }
    }

    private func tell(
        _ code: String,
        to address: String,
        _ person: Person,
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) {
        let isEmail = address.contains("@")
        let (channel, strategy) = isEmail ? ("email", "email_code") : ("phone", "phone_code")
        context.send(message(to: address, channel, strategy, code, of: person, exchange.now))
    }

    /// Takes a code: three wrong ones are the end of it.
    mutating func passwordless(
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> JSONValue {
        let given = try exchange.required("otp")
        spend("otp", given)
        let realm = exchange["realm"]
        let name: String
        if let session = exchange["auth_session"] {
            name = session
        } else {
            name = "\(try exchange.required("realm"))|\(try exchange.required("username").lowercased())"
        }
        let wrong = Auth0Failure(
            403,
            "invalid_grant",
            realm == "sms" ? "Wrong phone number or verification code." : "Wrong email or verification code."
        )
        let grant = try exchange.grant()
        guard var code = codes[name], code.link == nil else { throw wrong }
        guard code.endsAt > exchange.now else { throw .codeExpired }
        guard code.attempts < 3 else { throw .tooManyGuesses }
        if given == code.code, let newcomer = code.newcomer {
            if person(named: newcomer.identifier) == nil { add(newcomer, context: &context) }
            codes[name] = nil
            guard let person = person(named: newcomer.identifier) else { throw wrong }
            return try finish(person, grant, exchange)
        }
        guard given == code.code, let person = code.person.flatMap({ people[$0] }) else {
            code.attempts += 1
            codes[name] = code
            throw wrong
        }
        codes[name] = nil
        return try finish(person, grant, exchange)
    }

    /// What a link leads to: back to the app, with a code of the authorization endpoint's.
    mutating func followLink(_ exchange: Auth0Exchange) throws(Auth0Failure) -> SandboxResponse {
        guard let ticket = exchange.request.queryItem("ticket"), let code = codes[ticket], let link = code.link,
            code.endsAt > exchange.now, let person = code.person.flatMap({ people[$0] })
        else { return Self.page("This link has been used, or is too old.", "", status: 400) }
        codes[ticket] = nil
        let authorization = Authorization(
            person: person.id,
            grant: link.grant,
            redirectURI: link.redirectURI,
            endsAt: exchange.now + Self.codeLife
        )
        return callBack(authorization, state: link.state)
    }
}
