import AuthRecovery
import HTTPRecovery

/// Preparing and attempting factors.
extension ClerkSignInMachine {
    func path() throws -> String {
        guard let id = signIn?.id else {
            throw RecoveryError(outcome: Outcome(.flowExpired, remedies: [.restartFlow]), reason: .notRecoverable)
        }
        return "/client/sign_ins/\(FormFields.encode(segment: id))"
    }

    /// The question whose message is on its way already, so that no other is sent.
    mutating func prepared(in current: ClerkSignIn) -> Challenge? {
        guard let factor = chosen, factor.key.isSent, current.status == signIn?.status else { return nil }
        let verification = isSecondFactor ? current.secondFactorVerification : current.firstFactorVerification
        guard verification?.strategy == factor.providerName, verification?.status == "unverified" else { return nil }
        signIn = current
        codeLimit = calls.limit(of: verification, for: factor)
        return Challenge(factor: factor)
    }

    /// How long it is waited between two questions whether a link was opened.
    private static let linkPause = SignInContext.Pause(.seconds(3))

    /// What is wanted of a factor whose code or link is on its way: a link that is bound to nobody is opened anywhere, and
    /// waited for.
    func wanted(of factor: Factor) -> ClerkStep {
        factor.key == .emailLink && proof == nil
            ? .pending(Challenge(factor: factor), Self.linkPause) : .ask(Challenge(factor: factor))
    }

    /// Asks whether the link that was sent was opened.
    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> ClerkStep {
        if let bound { throw bound }
        if let step = early.question() { return step }
        let before = signIn?.status
        let answer = try await calls.perform(ClerkAPI.Call(path: path()))
        guard let updated = answer.signIn, let factor = chosen else { throw answer.failure(.unreadable) }
        guard updated.status == before else { return try await follow(updated, answer) }
        let verification = isSecondFactor ? updated.secondFactorVerification : updated.firstFactorVerification
        // Another link, or another way, has taken the place of this one.
        guard verification?.strategy == factor.providerName else { return try await follow(updated, answer) }
        if let end = verification?.expireAt, end <= api.now { throw answer.failure(.challengeExpired, [.newChallenge]) }
        return wanted(of: factor)
    }

    mutating func prepare(_ factor: Factor) async throws -> ClerkStep {
        chosen = factor
        let before = signIn?.status
        proof =
            factor.key == .emailLink && !isSecondFactor && !api.configuration.waitsForLinks
            ? OAuthClient.ProofKey(random: api.client.runtime.random) : nil
        let answer = try await calls.prepare(
            factor,
            at: path(),
            isSecond: isSecondFactor,
            proof: proof,
            visit: goal.visit
        )
        if let updated = answer.signIn {
            // Somebody else may have led the sign-in on meanwhile.
            if updated.status != before { return try await follow(updated, answer) }
            signIn = updated
            let verification = isSecondFactor ? updated.secondFactorVerification : updated.firstFactorVerification
            codeLimit = calls.limit(of: verification, for: factor)
            if factor.key == .redirect {
                guard let url = verification?.openRedirect else { throw answer.failure(.unreadable) }
                return .ask(Challenge(factor: factor, url: url))
            }
        }
        return wanted(of: factor)
    }

    /// Goes on with where the browser came back from another provider.
    mutating func comeBack(to address: Secret, of challenge: Challenge) async throws -> ClerkStep {
        let answer = try await calls.read(path(), after: address)
        // Nobody has been there yet, or that was no address of the way back.
        if let open = answer.signIn?.firstFactorVerification?.openRedirect, open == challenge.url {
            var error = answer.failure(.challengeIncorrect, [.askUser])
            error.outcome.userMessage = "The sign-in at the other provider is not finished. Please finish it there."
            throw error
        }
        return try await advance(answer)
    }

    /// What the link that was sent last is bound to.
    var pendingLink: ClerkEmailLink? { proof.map { ClerkEmailLink(proof: $0) } }

    mutating func attempt(_ answer: Secret, to factor: Factor) async throws -> ClerkStep {
        do {
            return try await advance(
                calls.attempt(answer, to: factor, at: path(), isSecond: isSecondFactor, until: codeLimit)
            )
        } catch let error as RecoveryError {
            return try early.wait(after: error, of: factor)
        }
    }

    /// Signs with a passkey, on a challenge that is there already or one that is made now.
    mutating func sign(_ factor: Factor) async throws -> ClerkStep {
        var verification = signIn?.firstFactorVerification
        if verification?.strategy != factor.providerName || verification?.nonce == nil {
            let answer = try await calls.prepare(factor, at: path(), isSecond: isSecondFactor)
            signIn = answer.signIn ?? signIn
            verification = isSecondFactor ? signIn?.secondFactorVerification : signIn?.firstFactorVerification
        }
        // A challenge is signed once.
        signIn?.firstFactorVerification?.nonce = nil
        switch try await calls.sign(verification?.nonce, for: factor) {
        case .ask(let challenge): return .ask(challenge)
        case .proof(let proof): return try await attempt(proof, to: factor)
        }
    }

    /// Has the key of this device sign the challenge of a new sign-in; what was signed is presented once.
    mutating func signWithDevice(_ id: String) async throws -> ClerkStep {
        guard let key = api.configuration.trustedDevice else { throw RecoveryError.missing("trusted_device") }
        signIn = nil
        let answer = try await calls.perform(
            calls.spending("/client/sign_ins", ["strategy": "trusted_device", "trusted_device_id": id])
        )
        guard let begun = answer.signIn, begun.status == .needsFirstFactor, begun.check == nil,
            let data = begun.firstFactorVerification?.deviceData
        else { return try await advance(answer) }
        signIn = begun
        if let name = begun.identifier { calls.account = LockoutLedger.account(for: name) }
        var form: FormFields = ["strategy": "trusted_device", "algorithm": "ES256"]
        form.add("client_data", data)
        form.add("signature", secret: try await key.signature(of: data))
        return try await advance(calls.perform(calls.spending("\(path())/attempt_first_factor", form)))
    }

    /// Goes on with what a link has led to; with anything else the server is asked whether the link was opened.
    mutating func open(_ answer: Secret, of challenge: Challenge) async throws -> ClerkStep {
        if let proof, let callback = EmailLinkCallback(answer) {
            // It can be presented once; another link has another proof.
            self.proof = nil
            let ticket = try await calls.ticket(for: callback, proof: proof, until: codeLimit)
            approval = ticket
            return try await redeem(ticket)
        }
        if let approval { return try await redeem(approval) }
        let before = signIn?.status
        let read = try await calls.perform(ClerkAPI.Call(path: try path()))
        guard let updated = read.signIn, updated.status != before else {
            throw read.failure(.challengeIncorrect, [.askUser])
        }
        return try await follow(updated, read)
    }
}

extension Outcome {
    /// Whether what can be presented once was not looked at, so that it can be presented still.
    ///
    /// A client token that was refused before that is superseded by the one that is read next, and a robot's creation is looked
    /// at when a person has proved to be there.
    var hasLookedAtNothing: Bool {
        guard provesNothingSpent, code != "verification_already_verified", status != 410 else { return false }
        switch kind {
        case .rateLimited, .quotaExhausted, .unavailable, .transport, .timedOut, .accountLocked: return true
        default: return remedies.first == .resync || isAboutRobots
        }
    }

    /// Whether an error leaves it open what became of the request; a state that the flow is in does not.
    var leavesInDoubt: Bool { !provesNothingSpent && code != nil }

    /// Whether the server has judged the password, or would not take it.
    var isAboutThePassword: Bool {
        switch kind {
        case .invalidCredentials, .passwordCompromised, .passwordExpired, .passwordRejected, .factorUnavailable,
            .invalidRequest:
            true
        default: false
        }
    }
}
