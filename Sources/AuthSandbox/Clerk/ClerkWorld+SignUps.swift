import HTTPRecovery

/// An attempt to sign up.
struct ClerkSignUp: Sendable {
    let id: String
    let client: String
    let abandonAt: Int64
    var fields: [String: String] = [:]
    /// The proofs of the address and the number.
    var proofs: [String: ClerkSignIn.Verification] = [:]
    var createdSession: String?
    var createdUser: String?

    var isComplete: Bool { createdSession != nil }

    func isVerified(_ field: String) -> Bool { proofs[field]?.status == "verified" }

    /// What is given and not proved yet.
    var unverified: [String] {
        ["email_address", "phone_number"].filter { fields[$0] != nil && !isVerified($0) }
    }

    func missing(_ settings: SandboxSettings) -> [String] {
        (["email_address"] + settings.requiredFields).filter { fields[$0] == nil }
    }
}

extension ClerkWorld {
    private static let fieldNames: Set<String> = [
        "email_address", "phone_number", "username", "password", "first_name", "last_name", "legal_accepted",
        "unsafe_metadata",
    ]

    mutating func createSignUp(
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        try limit(context.settings.rateLimits.createSignUp, "create_sign_up", exchange, now: context.now)
        if exchange.field("transfer") == "true" { throw Self.noTransfer }
        let client = ensureClient(&exchange, context: &context)
        if context.settings.isSingleSession, clients[client]?.sessions.isEmpty == false { throw .sessionExists }
        var signUp = ClerkSignUp(
            id: context.random.identifier("sua_"),
            client: client,
            abandonAt: context.now + context.settings.signInLife
        )
        if exchange.field("strategy") == "ticket" {
            guard let email = try takeTicket(exchange, now: context.now).email else {
                throw ClerkFailure(400, "ticket_invalid_code", "Ticket is invalid", long: "This is no invitation.")
            }
            signUp.fields["email_address"] = email
            signUp.proofs["email_address"] = .init(strategy: "ticket", status: "verified", attempts: 1)
        }
        try fill(&signUp, exchange, context: context)
        signUps[signUp.id] = signUp
        clients[client]?.signUp = signUp.id
        try finishSignUp(signUp.id, &exchange, context: &context)
        return wrapped(signUpView(signUp.id, context.settings), client)
    }

    /// Nobody has proved themselves to another provider: there is nothing to take over.
    static let noTransfer = ClerkFailure(
        400,
        "account_transfer_invalid",
        "Invalid account transfer",
        long: "There is no account to transfer."
    )

    /// The sign-up in the path, which has to be the client's own and still open.
    private func currentSignUp(_ exchange: ClerkExchange, now: Int64) throws(ClerkFailure) -> ClerkSignUp {
        let signUp = try ownSignUp(exchange)
        if signUp.isComplete { throw .verificationAlreadyVerified }
        if signUp.abandonAt <= now { throw .clientStateInvalid("This sign-up was left alone for too long.") }
        return signUp
    }

    private func ownSignUp(_ exchange: ClerkExchange) throws(ClerkFailure) -> ClerkSignUp {
        guard let client = exchange.client else { throw .clientNotFound }
        guard let signUp = signUps[exchange.id], signUp.client == client else { throw .notFound("sign-up") }
        return signUp
    }

    func getSignUp(_ exchange: ClerkExchange) throws(ClerkFailure) -> JSONValue {
        let signUp = try ownSignUp(exchange)
        return wrapped(signUpView(signUp.id), signUp.client)
    }

    mutating func updateSignUp(
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        var signUp = try currentSignUp(exchange, now: context.now)
        try fill(&signUp, exchange, context: context)
        signUps[signUp.id] = signUp
        try finishSignUp(signUp.id, &exchange, context: &context)
        return wrapped(signUpView(signUp.id, context.settings), signUp.client)
    }

    /// Takes over the fields of a form.
    private func fill(
        _ signUp: inout ClerkSignUp,
        _ exchange: ClerkExchange,
        context: SandboxContext
    ) throws(ClerkFailure) {
        for field in exchange.form where !["strategy", "ticket", "locale"].contains(field.name) {
            guard Self.fieldNames.contains(field.name) else { throw .unknown(field.name) }
            if field.value.isEmpty { throw .null(field.name) }
            switch field.name {
            case "email_address" where !field.value.contains("@"):
                throw ClerkFailure(422, "form_param_format_invalid", "is invalid", parameter: field.name)
            case "email_address", "phone_number", "username":
                if accountsByIdentifier[field.value.lowercased()] != nil {
                    throw ClerkFailure(
                        422,
                        "form_identifier_exists",
                        "That \(field.name) is taken. Please try another.",
                        parameter: field.name
                    )
                }
                if signUp.fields[field.name] != field.value { signUp.proofs[field.name] = nil }
            case "password":
                let somebody = account(for: signUp.fields.merging(["password": field.value]) { $1 })
                try check(field.value, somebody, context.settings.passwordPolicy)
            default: break
            }
            signUp.fields[field.name] = field.value
        }
    }

    /// Somebody with these fields, before there is an account.
    private func account(for fields: [String: String]) -> ClerkAccount {
        let emails = [fields["email_address"]].compactMap { $0 }
        return ClerkAccount(
            id: "",
            user: SandboxUser(email: emails.first ?? ""),
            emails: emails.map { .init(id: "", address: $0) },
            phones: [],
            createdAt: 0,
            backupCodes: []
        )
    }

    mutating func prepareSignUp(
        _ exchange: ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        let signUp = try currentSignUp(exchange, now: context.now)
        let strategy = try exchange.required("strategy")
        let field = try Self.field(for: strategy)
        guard let address = signUp.fields[field] else { throw .missing(field) }
        if signUp.isVerified(field) { throw .verificationAlreadyVerified }
        let window = context.settings.resendWindow
        if let former = signUp.proofs[field], former.sentAt > context.now - window, former.sentAt > 0 {
            throw .resendTooSoon(milliseconds: former.sentAt + window - context.now)
        }
        let code = Self.isTestAddress(address) ? "424242" : context.codes.sixDigits()
        signUps[signUp.id]?.proofs[field] = .init(
            strategy: strategy,
            expireAt: context.now + context.settings.codeLife,
            code: code,
            sentAt: context.now
        )
        context.send(
            SandboxMessage(
                to: address,
                channel: field == "phone_number" ? "phone" : "email",
                strategy: strategy,
                code: code,
                sentAt: context.now,
                signIn: signUp.id
            )
        )
        return wrapped(signUpView(signUp.id, context.settings), signUp.client)
    }

    mutating func attemptSignUp(
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        try limit(context.settings.rateLimits.attemptSignUp, "attempt_sign_up", exchange, now: context.now)
        let signUp = try currentSignUp(exchange, now: context.now)
        let field = try Self.field(for: try exchange.required("strategy"))
        let code = try exchange.required("code")
        guard var proof = signUp.proofs[field] else { throw .verificationMissing }
        if proof.status == "verified" { throw .verificationAlreadyVerified }
        if proof.status == "failed" { throw .verificationFailed }
        if let expireAt = proof.expireAt, expireAt <= context.now { throw .verificationExpired }
        proof.attempts += 1
        let isRight = code == proof.code
        if isRight {
            proof.status = "verified"
        } else if proof.attempts >= context.settings.codeAttempts {
            proof.status = "failed"
        }
        signUps[signUp.id]?.proofs[field] = proof
        if !isRight { throw proof.status == "failed" ? .verificationFailed : .codeIncorrect }
        try finishSignUp(signUp.id, &exchange, context: &context)
        return wrapped(signUpView(signUp.id, context.settings), signUp.client)
    }

    private static func field(for strategy: String) throws(ClerkFailure) -> String {
        switch strategy {
        case "email_code": return "email_address"
        case "phone_code": return "phone_number"
        default: throw .invalidValue("strategy", strategy)
        }
    }

    /// Makes the account and the session, once nothing is missing.
    private mutating func finishSignUp(
        _ id: String,
        _ exchange: inout ClerkExchange,
        context: inout SandboxContext
    ) throws(ClerkFailure) {
        guard let signUp = signUps[id], signUp.missing(context.settings).isEmpty, signUp.unverified.isEmpty,
            let email = signUp.fields["email_address"]
        else { return }
        // Somebody else may have been faster.
        for name in ["email_address", "phone_number", "username"] {
            guard let value = signUp.fields[name], accountsByIdentifier[value.lowercased()] != nil else { continue }
            throw ClerkFailure(422, "form_identifier_exists", "is taken", parameter: name)
        }
        var user = SandboxUser(email: email, password: signUp.fields["password"])
        user.phones = [signUp.fields["phone_number"]].compactMap { $0 }
        user.username = signUp.fields["username"]
        user.firstName = signUp.fields["first_name"]
        user.lastName = signUp.fields["last_name"]
        let account = makeAccount(user, context: &context)
        signUps[id]?.createdUser = account
        let session = openSession(of: account, on: signUp.client, hasSecond: false, context: &context)
        signUps[id]?.createdSession = session
        clients[signUp.client]?.signUp = nil
        rotateToken(of: signUp.client, &exchange, context: &context)
    }

    func signUpView(_ id: String) -> JSONValue { signUpView(id, nil) }

    private func signUpView(_ id: String, _ settings: SandboxSettings?) -> JSONValue {
        guard let signUp = signUps[id] else { return .null }
        let settings = settings ?? SandboxSettings()
        func text(_ name: String) -> JSONValue { .optional(signUp.fields[name]) }
        return [
            "object": "sign_up_attempt",
            "id": .string(id),
            "status": signUp.isComplete ? "complete" : "missing_requirements",
            "required_fields": .array((["email_address"] + settings.requiredFields).map(JSONValue.string)),
            "optional_fields": ["phone_number", "username", "first_name", "last_name"],
            "missing_fields": .array(signUp.isComplete ? [] : signUp.missing(settings).map(JSONValue.string)),
            "unverified_fields": .array(signUp.unverified.map(JSONValue.string)),
            "verifications": [
                "email_address": verificationView(signUp.proofs["email_address"]),
                "phone_number": verificationView(signUp.proofs["phone_number"]), "external_account": .null,
            ],
            "email_address": text("email_address"),
            "phone_number": text("phone_number"),
            "username": text("username"),
            "first_name": text("first_name"),
            "last_name": text("last_name"),
            "has_password": .bool(signUp.fields["password"] != nil),
            "created_session_id": .optional(signUp.createdSession),
            "created_user_id": .optional(signUp.createdUser),
            "abandon_at": .int(signUp.abandonAt),
        ]
    }
}
