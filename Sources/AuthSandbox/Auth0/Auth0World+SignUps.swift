import HTTPRecovery

// Accounts that people make for themselves.
extension Auth0World {
    mutating func signUp(
        _ exchange: Auth0Exchange,
        _ context: inout SandboxContext
    ) throws(Auth0Failure) -> SandboxResponse {
        func refused(_ code: String, _ text: String) -> Auth0Failure {
            var failure = Auth0Failure(400, code, text)
            failure.isOfDatabase = true
            return failure
        }
        guard exchange["client_id"] == exchange.settings.clientID else {
            throw refused("invalid_client", "Unknown client.")
        }
        guard exchange.settings.allowsSignUp else {
            // A sentence, and nothing else.
            return .json(["error": "Public signup is disabled"], status: 400)
        }
        guard exchange.settings.connections.contains(try exchange.required("connection")) else {
            throw refused("bad.connection", "The connection does not exist.")
        }
        let (email, password) = (try exchange.required("email"), try exchange.required("password"))
        try admit(to: "signup \(exchange.address)", .signUps, exchange)
        spend("password", password)
        if let weak = exchange.settings.weakness(of: password) {
            return .json(
                [
                    "name": "PasswordStrengthError", "message": "Password is too weak", "code": "invalid_password",
                    "description": ["rules": .array(weak.rules), "verified": false], "policy": .string(weak.policy),
                    "statusCode": 400,
                ],
                status: 400
            )
        }
        guard !Self.isLeaked(password) else { throw refused("password_leaked", "This password has been leaked.") }
        // Whether it is taken is not told.
        guard person(named: email) == nil else { throw refused("invalid_signup", "Invalid sign up") }
        var user = SandboxUser(email: email, password: password)
        user.username = exchange["username"]
        add(user, context: &context)
        let id = person(named: email)?.id.split(separator: "|").last.map(String.init) ?? ""
        return .json(["_id": .string(id), "email": .string(email), "email_verified": false])
    }
}

extension SandboxAuth0Settings {
    /// What is wrong with a password, as the tenant's rules and as one text; nil for nothing.
    func weakness(of password: String) -> (rules: [JSONValue], policy: String)? {
        var rules: [JSONValue] = []
        var policy: [String] = []
        var isGood = true
        func add(_ code: String, _ message: String, _ format: [Int64], items: [JSONValue]? = nil, isMet: Bool) {
            rules.append(
                .present([
                    "message": .string(message), "format": .array(format.map { .int($0) }), "code": .string(code),
                    "items": items.map(JSONValue.array), "verified": .bool(isMet),
                ])
            )
            isGood = isGood && isMet
        }
        let length = Int64(password.utf8.count)
        add("lengthAtLeast", "At least %d characters in length", [shortestPassword], isMet: length >= shortestPassword)
        policy.append("* At least \(shortestPassword) characters in length")
        if passwordTypes > 0 {
            let types: [(code: String, text: String, isOne: (Character) -> Bool)] = [
                ("lowerCase", "lower case letters (a-z)", { ("a"..."z").contains($0) }),
                ("upperCase", "upper case letters (A-Z)", { ("A"..."Z").contains($0) }),
                ("numbers", "numbers (i.e. 0-9)", { ("0"..."9").contains($0) }),
                ("specialCharacters", "special characters (e.g. !@#$%^&*)", { !$0.isLetter && !$0.isNumber }),
            ]
            let met = types.map { password.contains(where: $0.isOne) }
            let items = zip(types, met).map { type, isMet -> JSONValue in
                [
                    "message": .string(type.text), "code": .string(type.code), "format": [], "verified": .bool(isMet),
                ]
            }
            let count = Int64(met.count { $0 })
            add(
                "containsAtLeast",
                "Contain at least %d of the following %d types of characters:",
                [passwordTypes, 4],
                items: items,
                isMet: count >= passwordTypes
            )
            policy.append("* At least \(passwordTypes) of 4 types of characters")
        }
        return isGood ? nil : (rules, policy.joined(separator: "\n"))
    }
}
