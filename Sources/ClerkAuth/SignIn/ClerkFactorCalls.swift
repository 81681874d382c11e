import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The calls that prepare and attempt a factor, alike for a sign-in and for the verification of a session.
struct ClerkFactorCalls: Sendable, ClientBound {
    var api: ClerkAPI
    /// Whose lockout holds for the attempts.
    var account: String?
    /// The session that is verified; nil in a sign-in.
    var sessionID: String?

    var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }

    /// The factors that can be used here: some need an address to come back to.
    func usable(_ factors: [Factor]) -> [Factor] {
        api.configuration.redirectURL == nil ? factors.filter { !$0.key.wantsWayBack } : factors
    }

    /// Why it cannot go on with the factors that the server offers: none can be carried out, or only the address to come
    /// back to is missing.
    func withoutWay(_ factors: [Factor], _ answer: ClerkAnswer) -> RecoveryError {
        factors.contains(where: \.key.wantsWayBack)
            ? answer.failure(.misconfigured, [.fixRequest], parameter: "redirect_url")
            : answer.failure(.factorUnavailable, [.contactAdmin])
    }

    /// Has a code or link sent, or a challenge made.
    ///
    /// - Parameters:
    ///   - factor: The factor.
    ///   - base: The path of the sign-in, or of the verification.
    ///   - isSecond: Whether it is a second factor.
    ///   - proof: The key that the answer to a link will be bound to; nil binds it to nothing.
    ///   - visit: What is wanted of another provider.
    func prepare(
        _ factor: Factor,
        at base: String,
        isSecond: Bool,
        proof: OAuthClient.ProofKey? = nil,
        visit: ClerkRedirect? = nil
    ) async throws -> ClerkAnswer {
        var form = FormFields()
        form.add("strategy", factor.providerName)
        switch factor.key {
        case .emailCode: form.add("email_address_id", factor.id)
        case .phoneCode: form.add("phone_number_id", factor.id)
        case .emailLink:
            form.add("email_address_id", factor.id)
            form.add(proof == nil ? "redirect_url" : "redirect_uri", api.configuration.redirectURL)
            form.add("code_challenge", proof?.challenge)
            form.add("code_challenge_method", proof.map { _ in OAuthClient.ProofKey.method })
        case .redirect:
            form.add("enterprise_connection_id", factor.id)
            form.add("redirect_url", api.configuration.redirectURL)
            visit?.addHints(to: &form)
        default: break
        }
        return try await perform(spending("\(base)/prepare_\(isSecond ? "second" : "first")_factor", form))
    }

    /// Until when the code that was sent may be presented; nil if that is not stated, or was over when it was.
    func limit(of verification: ClerkVerification?, for factor: Factor) -> RequestOptions.SendBy? {
        guard let verification, verification.strategy == factor.providerName,
            let left = verification.expireAt?.elapsed(since: api.now), left > .zero
        else { return nil }
        // What the server would say.
        var outcome = Outcome(.challengeExpired, processed: .no, remedies: [.newChallenge])
        outcome.code = "verification_expired"
        return RequestOptions.SendBy(api.client.runtime.time.wallTime.advanced(by: left), orElse: outcome)
    }

    /// Submits an answer.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - factor: The factor.
    ///   - base: The path of the sign-in, or of the verification.
    ///   - isSecond: Whether it is a second factor.
    ///   - limit: Until when it may be presented.
    func attempt(
        _ answer: Secret,
        to factor: Factor,
        at base: String,
        isSecond: Bool,
        until limit: RequestOptions.SendBy?
    ) async throws -> ClerkAnswer {
        var form = FormFields()
        form.add("strategy", factor.providerName)
        switch factor.key {
        case .password: form.add("password", secret: answer)
        case .webauthn: form.add("public_key_credential", secret: answer)
        default: form.add("code", secret: answer)
        }
        var call = spending("\(base)/attempt_\(isSecond ? "second" : "first")_factor", form)
        call.sendBy = limit
        if factor.key == .webauthn { call.account = call.account ?? Self.account(ofPasskey: answer) }
        return try await perform(call)
    }

    /// What a lockout holds for if a passkey alone tells who signs in.
    static func account(ofPasskey credential: Secret) -> String? {
        let id = (try? JSONValue(parsing: credential.reveal()))?["id"]?.string?.nonEmpty
        return id.map { "passkey \(Fingerprint.text(of: $0))" }
    }

    /// A call that spends what it carries: it is sent again only if the server certainly has not processed it.
    func spending(_ path: String, _ form: FormFields) -> ClerkAPI.Call {
        ClerkAPI.Call(
            method: .post,
            path: path,
            body: .form(form),
            resend: .spending,
            concerns: sessionID,
            account: account
        )
    }

    func perform(_ call: ClerkAPI.Call) async throws -> ClerkAnswer {
        do {
            return try await api.perform(call)
        } catch let error as RecoveryError {
            // Not refused: a sign-in or a sign-up stands at a proof against abuse, which can be given.
            guard sessionID == nil, let response = error.response, error.kind == .challengeRequired,
                (200..<300).contains(response.status.code)
            else { throw error }
            return ClerkAnswer(json: try await response.json(), response: response)
        }
    }

    // MARK: Passkeys

    /// What a passkey factor wants next.
    enum PasskeyStep {
        /// The proof, ready to be submitted.
        case proof(Secret)
        /// Somebody else's ceremony with this challenge.
        case ask(Challenge)
    }

    /// Has the challenge signed by the authenticator; without one the responder is asked.
    ///
    /// - Throws: `RecoveryError`: of the kind `declined` if the person has cancelled, else `factor_unavailable`.
    ///   `CancellationError` as soon as the task is cancelled.
    func sign(_ nonce: Secret?, for factor: Factor) async throws -> PasskeyStep {
        guard let nonce else { throw WebAuthn.Failure.badData().refusal }
        guard let authenticator = api.configuration.authenticator else {
            return .ask(Challenge(factor: factor, hint: nonce.reveal()))
        }
        let ceremony = PasskeyCeremony(authenticator: authenticator, time: api.client.runtime.time)
        return .proof(try await ceremony.sign(nonce, origin: api.configuration.origin))
    }
}

extension Factor.Key {
    /// Whether a browser has to come back from it.
    fileprivate var wantsWayBack: Bool { self == .emailLink || self == .redirect }
}
