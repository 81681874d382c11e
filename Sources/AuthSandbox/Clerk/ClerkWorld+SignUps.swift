import HTTPRecovery

extension ClerkWorld {
    private static let fieldNames: Set<String> = [
        "email_address", "phone_number", "username", "password", "first_name", "last_name", "legal_accepted",
        "unsafe_metadata",
    ]

    /// What a form says beside the fields of the person.
    private static let ownNames: Set<String> = [
        "strategy", "ticket", "locale", "transfer", "redirect_url", "oidc_prompt", "oidc_login_hint", "captcha_token",
        "captcha_widget_type", "captcha_error", "proof_token",
    ]

    mutating func createSignUp(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        try limit(\.createSignUp, "create_sign_up", call)
        try checkHuman(call)
        if call.field("strategy") != "ticket" {
            switch call.settings.signUpMode {
            case "restricted": throw .signUpRestricted
            case "waitlist": throw .signUpWaitlist
            default: break
            }
        }
        try checkSignUp(call)
        let client = try clientToBegin(call)
        let end = call.now + call.settings.signInLife
        var signUp = ClerkSignUp(id: call.context.random.identifier("sua_"), client: client, abandonAt: end)
        if call.field("strategy") == "ticket" {
            guard let email = try takeTicket(call).email else { throw .ticketInvalid("This is no invitation.") }
            signUp.fields["email_address"] = email
            signUp.proofs["email_address"] = .verified("ticket")
        }
        if call.field("transfer") == "true" {
            try take(proofToTransfer(toSignUp: client), into: &signUp)
        } else if let strategy = call.field("strategy"), Self.isVisit(strategy) {
            // By its domain the connection is found.
            if strategy == "enterprise_sso" { _ = try call.required("email_address") }
            signUp.external = try beginVisit(strategy, signUp: signUp.id, call)
        }
        try fill(&signUp, call)
        if call.settings.protects.contains("sign_up_flow") { signUp.check = makeCheck(call) }
        clients[client]?.signUp = signUp.id
        return try goOn(with: signUp, call)
    }

    /// Puts somebody on the waitlist; who is on it stays.
    mutating func joinWaitlist(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let address = try call.required("email_address")
        guard call.settings.signUpMode == "waitlist" else { throw .waitlistClosed }
        let id = waitlist[address.lowercased()] ?? call.context.random.identifier("wle_")
        waitlist[address.lowercased()] = id
        return ["object": "waitlist_entry", "id": .string(id)]
    }

    /// The sign-up in the path, which has to be the client's own and still open.
    func currentSignUp(_ call: ClerkCall) throws(ClerkFailure) -> ClerkSignUp {
        let signUp = try own(signUps, "sign-up", call)
        if signUp.isComplete { throw .verificationAlreadyVerified }
        if signUp.abandonAt <= call.now { throw .clientStateInvalid("This sign-up was left alone for too long.") }
        return signUp
    }

    mutating func getSignUp(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let signUp = try own(signUps, "sign-up", call)
        if let nonce = call.request.queryItem("rotating_token_nonce") {
            guard nonce == signUp.rotatingNonce else { throw .nonceConsumed }
            var signUp = signUp
            signUp.rotatingNonce = nil
            return try goOn(with: signUp, call)
        }
        return wrapped(signUpView(signUp.id), signUp.client)
    }

    mutating func updateSignUp(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        var signUp = try currentSignUp(call)
        try fill(&signUp, call)
        return try goOn(with: signUp, call)
    }

    /// Takes over the fields of a form.
    private func fill(_ signUp: inout ClerkSignUp, _ call: ClerkCall) throws(ClerkFailure) {
        for field in call.form where !Self.ownNames.contains(field.name) {
            guard Self.fieldNames.contains(field.name) else { throw .unknown(field.name) }
            if field.value.isEmpty { throw .null(field.name) }
            switch field.name {
            case "email_address" where !field.value.contains("@"):
                throw ClerkFailure(field.name, "form_param_format_invalid", "is invalid")
            case "email_address", "phone_number", "username":
                if accountsByIdentifier[field.value.lowercased()] != nil {
                    throw .taken(field.name, "That \(field.name) is taken. Please try another.")
                }
                if signUp.fields[field.name] != field.value { signUp.proofs[field.name] = nil }
            case "password":
                try check(field.value, of: SandboxUser(email: signUp.fields["email_address"] ?? ""), call)
            case "legal_accepted" where field.value != "true":
                if call.settings.requiredFields.contains("legal_accepted") { throw .legalNotAccepted }
            default: break
            }
            signUp.fields[field.name] = field.value
        }
    }

    mutating func prepareSignUp(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        var signUp = try currentSignUp(call)
        let field = try Self.field(of: call)
        guard let address = signUp.fields[field] else { throw .missing(field) }
        if signUp.isVerified(field) { throw .verificationAlreadyVerified }
        try signUp.proofs[field]?.checkResend(call)
        signUp.proofs[field] = sendCode(to: address, for: signUp.id, call)
        signUps[signUp.id] = signUp
        return wrapped(signUpView(signUp.id, call.settings), signUp.client)
    }

    mutating func attemptSignUp(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        try limit(\.attemptSignUp, "attempt_sign_up", call)
        var signUp = try currentSignUp(call)
        let field = try Self.field(of: call)
        let code = try call.required("code")
        guard var proof = signUp.proofs[field] else { throw .verificationMissing }
        let isRight = try proof.attempt(code, call)
        signUp.proofs[field] = proof
        signUps[signUp.id] = signUp
        if !isRight { throw proof.failure }
        return try goOn(with: signUp, call)
    }

    /// The field that the strategy of a form proves.
    private static func field(of call: ClerkCall) throws(ClerkFailure) -> String {
        let fields = ["email_code": "email_address", "phone_code": "phone_number"]
        guard let field = fields[try call.required("strategy")] else { throw .invalidValue("strategy", call.strategy) }
        return field
    }

    /// Keeps a sign-up, and makes the account and the session once nothing is missing.
    mutating func goOn(with signUp: ClerkSignUp, _ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        signUps[signUp.id] = signUp
        if signUp.missing(call.settings).isEmpty, signUp.unverified.isEmpty, signUp.check == nil,
            let email = signUp.fields["email_address"]
        {
            // Somebody else may have been faster.
            for name in ["email_address", "phone_number", "username"] {
                guard let value = signUp.fields[name], accountsByIdentifier[value.lowercased()] != nil else { continue }
                throw .taken(name, "is taken")
            }
            var user = SandboxUser(email: email, password: signUp.fields["password"])
            user.phones = [signUp.fields["phone_number"]].compactMap { $0 }
            user.username = signUp.fields["username"]
            user.firstName = signUp.fields["first_name"]
            user.lastName = signUp.fields["last_name"]
            let account = makeAccount(user, context: &call.context)
            let session = openSession(of: account, on: signUp.client, hasSecond: false, call)
            signUps[signUp.id]?.createdUser = account
            signUps[signUp.id]?.createdSession = session
            clients[signUp.client]?.signUp = nil
            rotateToken(of: signUp.client, call)
        }
        return wrapped(signUpView(signUp.id, call.settings), signUp.client)
    }
}
