import HTTPRecovery

// Identity providers: their page, the way back from it, and proofs that a sign-in and a sign-up take over from each other.
extension ClerkWorld {
    /// Whether a strategy is a visit to an identity provider.
    static func isVisit(_ strategy: String) -> Bool {
        strategy == "enterprise_sso" || strategy.hasPrefix("oauth_") && !strategy.hasPrefix("oauth_token_")
    }

    /// Whether a strategy is a provider's token, which the program has got itself.
    static func isToken(_ strategy: String) -> Bool {
        strategy == "google_one_tap" || strategy.hasPrefix("oauth_token_")
    }

    /// Refuses a provider that the instance does not have.
    func checkProvider(_ strategy: String, _ call: ClerkCall) throws(ClerkFailure) {
        let name =
            strategy == "google_one_tap" ? "oauth_google" : strategy.replacing("oauth_token_", with: "oauth_")
        guard strategy == "enterprise_sso" || call.settings.socialStrategies.contains(name) else {
            throw .notAllowed("strategy", strategy)
        }
    }

    /// What a provider's token proves, and whose account it is; nobody's if the proof is a sign-up's.
    func identity(_ strategy: String, _ call: ClerkCall) throws(ClerkFailure) -> (ClerkProof, account: String?) {
        let token = try call.required("token")
        let provider = strategy == "google_one_tap" ? "google" : String(strategy.dropFirst("oauth_token_".count))
        guard let told = identities[token], told.provider == provider else { throw .identityTokenInvalid(strategy) }
        var proof = ClerkProof(strategy: strategy, attempts: 1)
        let failure = refusal(of: told.email, call)
        if let failure, failure != .externalAccountUnknown { throw failure }
        Self.judge(&proof, told.email, failure, orTransfer: true)
        return (proof, failure == nil ? accountsByIdentifier[told.email.lowercased()] : nil)
    }

    /// Has the person visit a provider's page.
    mutating func beginVisit(
        _ strategy: String,
        signIn: String? = nil,
        signUp: String? = nil,
        _ call: ClerkCall
    ) throws(ClerkFailure) -> ClerkProof {
        let target = try call.required("redirect_url")
        try checkProvider(strategy, call)
        let state = call.context.random.letters(40)
        visits[state] = ClerkVisit(strategy: strategy, signIn: signIn, signUp: signUp, target: target)
        var proof = ClerkProof(strategy: strategy, expireAt: call.now + call.settings.codeLife)
        proof.page = "http://\(call.host)\(Self.visitPath)?state=\(state)"
        return proof
    }

    /// Where the page of the identity provider is.
    static let visitPath = "/v1/identity_provider"

    /// The page of the identity provider, and the answer to it: a browser's, which has no client token.
    mutating func visit(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        let state = call.request.queryItem("state") ?? ""
        guard let visit = visits[state], !visit.isOver else {
            throw ClerkFailure(400, "oauth_callback_invalid", "Invalid callback").saying(
                "This page is no longer valid."
            )
        }
        guard let decision = call.field("decision") else {
            call.page = Self.page(visit.strategy)
            return .null
        }
        visits[state]?.isOver = true
        var nonce: String?
        if let id = visit.signIn, var signIn = signIns[id], var proof = signIn.proofs[.first] {
            let failure = decision == "allow" ? refusal(of: call.field("email"), call) : .externalAccessDenied
            Self.judge(&proof, call.field("email"), failure, orTransfer: failure == .externalAccountUnknown)
            let visitor = proof.visitor.flatMap { accountsByIdentifier[$0.lowercased()] }
            let isOther = visitor != signIn.account
            if proof.status == "verified", signIn.reverification == nil {
                signIn.account = visitor
                signIn.identifier = account(of: signIn)?.user.identifier
                nonce = call.context.random.letters(32)
                signIn.rotatingNonce = nonce
            }
            // Somebody else's account there neither proves who has the session nor makes anybody a new one.
            if signIn.reverification != nil, proof.status != "failed", proof.status == "transferable" || isOther {
                Self.judge(&proof, call.field("email"), .externalAccountUnknown, orTransfer: false)
            }
            signIn.proofs[.first] = proof
            signIns[id] = signIn
            if signIn.reverification != nil, proof.status == "verified" { afterVerified(.first, of: id, call) }
        } else if let id = visit.signUp, var signUp = signUps[id], var proof = signUp.external {
            let isTaken = call.field("email").map { accountsByIdentifier[$0.lowercased()] != nil } ?? true
            let failure: ClerkFailure? =
                decision == "allow" ? (isTaken ? .externalAccountExists : nil) : .externalAccessDenied
            Self.judge(&proof, call.field("email"), failure, orTransfer: failure == .externalAccountExists)
            if proof.status == "verified" {
                take(proof, into: &signUp)
                nonce = call.context.random.letters(32)
                signUp.rotatingNonce = nonce
            }
            signUp.external = proof
            signUps[id] = signUp
        }
        // Elsewhere the way back belongs to a browser that has the client's cookie.
        let allowed = call.settings.redirectURLs
        if !allowed.isEmpty, !allowed.contains(visit.target) { nonce = nil }
        let mark = visit.target.contains("?") ? "&" : "?"
        call.redirect = visit.target + (nonce.map { "\(mark)rotating_token_nonce=\($0)" } ?? "")
        return .null
    }

    /// Why somebody whom the provider knows cannot sign in here; nil if they can.
    private func refusal(of email: String?, _ call: ClerkCall) -> ClerkFailure? {
        guard let id = email.flatMap({ accountsByIdentifier[$0.lowercased()] }), let account = accounts[id] else {
            return .externalAccountUnknown
        }
        if let refusal = ClerkFailure.states[account.user.state] { return refusal }
        let format = (account.user.lockout ?? call.settings.lockout).format
        switch account.lock {
        case .indefinite: return .locked(milliseconds: nil, format: format)
        case .until(let time) where time > call.now: return .locked(milliseconds: time - call.now, format: format)
        case .open, .until: return nil
        }
    }

    private static func judge(
        _ proof: inout ClerkProof,
        _ email: String?,
        _ failure: ClerkFailure?,
        orTransfer isTransferable: Bool
    ) {
        proof.page = nil
        proof.visitor = email
        proof.refusal = failure
        proof.status = failure == nil ? "verified" : isTransferable ? "transferable" : "failed"
    }

    // MARK: Taking a proof over

    /// What a sign-up has proved of somebody who has an account.
    func proofToTransfer(toSignIn client: String) throws(ClerkFailure) -> ClerkProof {
        let proof = clients[client]?.signUp.flatMap { signUps[$0]?.external }
        guard let proof, proof.status == "transferable" else { throw .noTransfer }
        return proof
    }

    /// What a sign-in has proved of somebody who has no account.
    func proofToTransfer(toSignUp client: String) throws(ClerkFailure) -> ClerkProof {
        let proof = clients[client]?.signIn.flatMap { signIns[$0]?.proofs[.first] }
        guard let proof, proof.status == "transferable" else { throw .noTransfer }
        return proof
    }

    /// Fills in what a provider has proved, or a code that went to who wants to sign up.
    func take(_ proof: ClerkProof, into signUp: inout ClerkSignUp) {
        let isElsewhere = Self.isVisit(proof.strategy) || Self.isToken(proof.strategy)
        if isElsewhere { signUp.external = .verified(proof.strategy) }
        let field = proof.strategy == "phone_code" ? "phone_number" : "email_address"
        signUp.fields[field] = proof.visitor
        signUp.proofs[field] = .verified(isElsewhere ? "from_" + proof.strategy : proof.strategy)
    }

    private static func page(_ strategy: String) -> String {
        """
        <!doctype html><html><head><title>Sandbox identity provider</title></head><body>
        <h1>Sign in with \(strategy.filter { $0.isLetter || $0 == "_" })</h1>
        <form method="post"><label>E-mail <input id="email" name="email" type="email" value="ada@example.com"></label>
        <button id="allow" name="decision" value="allow">Allow</button>
        <button id="deny" name="decision" value="deny">Deny</button></form></body></html>

        """
    }
}
