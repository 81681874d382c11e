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
        spend("password", password)
        guard password.utf8.count >= exchange.settings.shortestPassword else {
            let shortest = JSONValue.int(exchange.settings.shortestPassword)
            return .json(
                [
                    "name": "PasswordStrengthError", "message": "Password is too weak", "code": "invalid_password",
                    "description": [
                        "rules": [
                            [
                                "message": "At least %d characters in length", "format": [shortest],
                                "code": "lengthAtLeast", "verified": false,
                            ]
                        ], "verified": false,
                    ],
                    "policy": .string("* At least \(exchange.settings.shortestPassword) characters in length"),
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
