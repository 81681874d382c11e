import HTTPRecovery

// Captchas, and proofs against abuse.
extension ClerkWorld {
    // MARK: Captchas

    /// Refuses somebody who may be a robot, if the instance wants to know before anything begins, or is done to an account.
    func checkHuman(_ call: ClerkCall, before what: String = "always") throws(ClerkFailure) {
        guard call.settings.captcha == what, !isHuman(call) else { return }
        throw .captchaRequired
    }

    /// Refuses a sign-up without a captcha or a proof, if the instance wants them; neither is used up by what lacks the other.
    mutating func checkSignUp(_ call: ClerkCall) throws(ClerkFailure) {
        let wantsCaptcha = call.settings.captcha == "sign_up" && !isHuman(call)
        if wantsCaptcha, call.field("captcha_token") == nil { throw .captchaMissing }
        try checkProtected("sign_up", call)
        if wantsCaptcha { try takeCaptcha(call) }
    }

    private func isHuman(_ call: ClerkCall) -> Bool { call.client.flatMap { clients[$0]?.isHuman } ?? false }

    /// Takes the token of a captcha, which cannot be taken again.
    private mutating func takeCaptcha(_ call: ClerkCall) throws(ClerkFailure) {
        let token = try call.required("captcha_token")
        let widget = try call.required("captcha_widget_type")
        guard ["smart", "invisible"].contains(widget) else { throw .invalidValue("captcha_widget_type", widget) }
        guard !token.hasPrefix("wrong"), captchas.insert(token).inserted else { throw .captchaInvalid }
    }

    mutating func verifyCaptcha(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        try takeCaptcha(call)
        let client = ensureClient(call)
        clients[client]?.isHuman = true
        return wrapped(clientView(client), nil)
    }

    // MARK: Proofs

    /// Something to prove, within a quarter of an hour.
    mutating func makeCheck(_ call: ClerkCall) -> ClerkProtectCheck {
        let check = ClerkProtectCheck(token: call.context.random.letters(24), expiresAt: call.now + 900_000)
        checks[check.token] = check
        return check
    }

    /// Refuses a creation that brings no proof, if the instance wants one.
    mutating func checkProtected(_ what: String, _ call: ClerkCall) throws(ClerkFailure) {
        guard call.settings.protects.contains(what) else { return }
        if let proof = call.field("proof_token"), takeProof(proof, call) { return }
        throw .protectCheckRequired(makeCheck(call))
    }

    /// Whether a proof belongs to a check that is not over; it does so once.
    private mutating func takeProof(_ proof: String, _ call: ClerkCall) -> Bool {
        guard proof.hasPrefix("proof-of-"), let check = checks.removeValue(forKey: String(proof.dropFirst(9))) else {
            return false
        }
        return check.expiresAt > call.now
    }

    /// Takes the proof that a sign-in waits for, and goes on.
    mutating func proveSignIn(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let signIn = try currentSignIn(call)
        let proof = try call.required("proof_token")
        guard let check = signIn.check else { throw .protectCheckResolved }
        guard takeProof(proof, call) else { throw .protectCheckRequired(check) }
        signIns[signIn.id]?.check = nil
        if signIn.status == "needs_protect_check" { afterPassword(signIn.id, call) }
        return wrapped(signInView(signIn.id), signIn.client)
    }

    /// Takes the proof that a sign-up waits for, and goes on.
    mutating func proveSignUp(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        var signUp = try currentSignUp(call)
        let proof = try call.required("proof_token")
        guard let check = signUp.check else { throw .protectCheckResolved }
        guard takeProof(proof, call) else { throw .protectCheckRequired(check) }
        signUp.check = nil
        return try goOn(with: signUp, call)
    }
}
