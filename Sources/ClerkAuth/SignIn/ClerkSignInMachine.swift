import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Clerk's sign-in as a part of the whole: its states, and the calls that lead from one to the next.
struct ClerkSignInMachine: ClerkStage {
    var calls: ClerkFactorCalls
    private(set) var goal: ClerkSignInMethod

    /// What ``begin()`` presents; forgotten once it was refused, learned once it was accepted.
    private var password: Secret?
    /// The refusal of what can be presented only once: a ticket, an approval.
    private var isOpeningSpent = false
    private var openingRefusal: RecoveryError?
    /// Whether the person was told that the password cannot stay.
    private var isToldOfPassword = false
    /// What the link that was sent last is bound to.
    var proof: OAuthClient.ProofKey?
    /// The ticket that an opened link has led to, while it is not redeemed.
    var approval: Secret?
    /// The proofs against abuse that were presented.
    private var checks = ProtectCheck()
    /// The factor whose code or link was asked for last.
    var chosen: Factor?
    /// Until when the code that was sent last may be presented.
    var codeLimit: RequestOptions.SendBy?
    /// Whether its code was presented before its message had left.
    var early = EarlyCode()
    /// The sign-in under way, as the server told it last.
    var signIn: ClerkSignIn?
    /// Whether a session that is there already is a finished sign-in.
    private var acceptsExistingSession = true

    /// - Parameter account: Whose lockout holds, if the goal does not tell.
    init(api: ClerkAPI, goal: ClerkSignInMethod, account: String? = nil) {
        calls = ClerkFactorCalls(api: api, account: goal.account ?? account)
        self.goal = goal
        if case .identifier(_, let password) = goal { self.password = password }
    }

    var api: ClerkAPI {
        get { calls.api }
        set { calls.api = newValue }
    }

    var signUpRequest: ClerkSignUpRequest? { goal.signUpRequest }

    var placeOfProofs: AbuseQuestion.Place? {
        approval == nil ? (try? path()).map { .flow(path: $0) } ?? .creation : .creation
    }

    mutating func enter(_ context: SignInContext) {
        calls.api = api.within(context.operation)
        acceptsExistingSession = context.acceptsExistingSession
    }

    var openingFactor: Factor? {
        password.map { _ in Factor(key: .password, providerName: "password") }
    }

    mutating func begin() async throws -> ClerkStep {
        try await api.finishSignOuts()
        switch goal {
        case .identifier: return try await create(password: password)
        case .identifierOrNew, .newPassword, .passkey: return try await create(password: nil)
        case .transfer:
            if calls.account == nil { calls.account = try await api.accountToTransfer() }
            return try await create(password: nil)
        case .trustedDevice(let id): return try await signWithDevice(id)
        case .ticket, .link, .token: return try await open()
        case .redirect(let redirect):
            guard api.configuration.redirectURL != nil else { throw RecoveryError.missing("redirect_url") }
            signIn = nil
            var form = FormFields()
            redirect.add(to: &form, api.configuration)
            return try await create(form)
        }
    }

    /// What can be presented once leaves nothing to be asked for before the server has told of a sign-in.
    var canBeLookedUp: Bool { signIn != nil || goal.identifier != nil }

    mutating func resync(after doubt: RecoveryError?) async throws -> ClerkStep {
        let json = try await calls.perform(ClerkAPI.Call(path: "/client")).json
        let (client, answer) = (ClerkClient.find(in: json), ClerkAnswer(json: json, response: nil))
        if let id = signIn?.id {
            if let current = client?.signIn, current.id == id {
                if doubt != nil, let question = prepared(in: current) { return wanted(of: question.factor) }
                return try await follow(current, answer)
            }
            // A client does not show a sign-in that is complete: its session would be found by beginning again, but that is
            // no proof of this sign-in.
            guard doubt != nil || !acceptsExistingSession else { return try await begin() }
            do {
                return try await advance(calls.perform(ClerkAPI.Call(path: path())))
            } catch let refusal as RecoveryError
                where [.notFound, .stateConflict, .credentialRejected].contains(refusal.kind)
            {
                // The lost answer may have held the client's new token: to the old one nothing is told.
                guard let doubt else { return try await begin() }
                throw doubt
            }
        }
        guard let doubt else { return try await begin() }
        if let found = client?.signIn, found.identifier.map({ LockoutLedger.account(for: $0) }) == calls.account {
            return try await follow(found, answer)
        }
        guard acceptsExistingSession, let session = client?.currentSession, let name = goal.identifier,
            !session.identifiers.isEmpty, session.mayBelong(to: name)
        else { throw doubt }
        return .finished(try await api.adopt(session))
    }

    mutating func choose(_ factor: Factor) async throws -> ClerkStep {
        (codeLimit, approval) = (nil, nil)
        early = EarlyCode()
        switch factor.key {
        case .emailCode, .phoneCode, .emailLink, .redirect: return try await prepare(factor)
        case .webauthn: return try await sign(factor)
        default: return .ask(Challenge(factor: factor))
        }
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> ClerkStep {
        switch challenge.key {
        case .newPassword:
            var form = FormFields()
            form.add("password", secret: answer)
            if case .newPassword(_, endsOtherSessions: true) = goal { form.add("sign_out_of_other_sessions", "true") }
            let path = try path()
            return try await advance(calls.perform(calls.spending("\(path)/reset_password", form)))
        case .password:
            // Without a sign-in (its creation was refused with the password before), one is created with this one.
            guard signIn != nil else { return try await create(password: answer) }
            let step = try await attempt(answer, to: challenge.factor)
            password = answer
            return step
        case .emailLink:
            return try await open(answer, of: challenge)
        case .redirect:
            return try await comeBack(to: answer, of: challenge)
        case .webauthn where answer.reveal() == "unsupported":
            throw WebAuthn.Failure.unsupported().refusal
        default:
            return try await attempt(answer, to: challenge.factor)
        }
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> ClerkStep {
        let unbounded = calls
        calls = calls.waiting(atMost: limit)
        defer { calls.api.client = unbounded.api.client }
        return try await choose(factor)
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> ClerkStep {
        if refusal?.kind == .passwordCompromised || refusal?.kind == .passwordExpired { isToldOfPassword = true }
        // A create that was refused may have left no sign-in behind that tells the factors, and a passkey's challenge may
        // tell of nothing else: a new sign-in without a password does.
        let tellsNothing = offered.allSatisfy { $0.isSame(as: factor) && factor.key == .webauthn }
        if tellsNothing, goal.identifier != nil {
            let step = try await create(password: nil)
            guard case .choose = step else { return step }
        }
        return .choose(refusal?.kind == .passwordExpired ? usable.filter(\.resetsPassword) : offered)
    }

    // MARK: Beginning

    private mutating func create(password: Secret?) async throws -> ClerkStep {
        signIn = nil
        self.password = password ?? self.password
        var form = FormFields()
        form.add("identifier", goal.identifier)
        if let password {
            form.add("strategy", "password")
            form.add("password", secret: password)
        } else if case .passkey = goal {
            form.add("strategy", "passkey")
        } else if case .transfer = goal {
            form.add("transfer", "true")
        } else if case .identifierOrNew = goal {
            form.add("sign_up_if_missing", "true")
        }
        do {
            return try await create(form)
        } catch let error as RecoveryError {
            if error.outcome.isAboutThePassword {
                self.password = nil
                signIn = left(by: error)
            } else if error.outcome.leavesInDoubt {
                // A new sign-in asks for it.
                self.password = nil
            }
            throw error
        }
    }

    private mutating func create(_ form: FormFields) async throws -> ClerkStep {
        var form = form
        form.add("locale", api.configuration.locale)
        do {
            return try await advance(calls.perform(calls.spending("/client/sign_ins", form)))
        } catch let error as RecoveryError where error.outcome.kind == .alreadySignedIn {
            return .finished(try await existingSession(error))
        }
    }

    /// Begins with what can be presented once; a second time the first refusal stands.
    private mutating func open() async throws -> ClerkStep {
        guard !isOpeningSpent else {
            throw openingRefusal
                ?? RecoveryError(outcome: Outcome(.flowExpired, processed: .no), reason: .notRecoverable)
        }
        isOpeningSpent = true
        do {
            switch goal {
            case .link(let link, let address):
                guard let callback = EmailLinkCallback(address) else {
                    throw RecoveryError(
                        outcome: Outcome(.invalidRequest, processed: .no, remedies: [.fixRequest]),
                        reason: .notRecoverable
                    )
                }
                let ticket = try await calls.ticket(for: callback, proof: link.proof)
                // The link is used up by that.
                goal = .ticket(ticket)
                return try await redeem(ticket)
            case .ticket(let ticket):
                return try await redeem(ticket)
            case .token(let token, let strategy):
                var form = FormFields()
                form.add("strategy", strategy)
                form.add("token", secret: token)
                return try await create(form)
            case .identifier, .identifierOrNew, .newPassword, .passkey, .transfer, .redirect, .trustedDevice:
                return try await create(password: password)
            }
        } catch let error as RecoveryError {
            if error.outcome.hasLookedAtNothing { isOpeningSpent = false }
            openingRefusal = error
            throw error
        }
    }

    mutating func redeem(_ ticket: Secret) async throws -> ClerkStep {
        var form = FormFields()
        form.add("strategy", "ticket")
        form.add("ticket", secret: ticket)
        do {
            let step = try await create(form)
            approval = nil
            return step
        } catch let error as RecoveryError {
            if !error.outcome.hasLookedAtNothing { approval = nil }
            throw error
        }
    }

    // MARK: Where the sign-in stands

    var isSecondFactor: Bool {
        signIn?.status == .needsSecondFactor || signIn?.status == .needsClientTrust
    }

    /// The factors that the server offers now and that this client can carry out.
    private var listed: [Factor] {
        let listed = isSecondFactor ? signIn?.supportedSecondFactors : signIn?.supportedFirstFactors
        var factors = (listed ?? []).compactMap(\.factor)
        if factors.isEmpty, !isSecondFactor, signIn?.firstFactorVerification?.strategy == "passkey" {
            factors = [Factor(key: .webauthn, providerName: "passkey")]
        }
        return factors
    }

    /// Those of them that can be used here.
    private var usable: [Factor] { calls.usable(listed) }

    /// The factors to sign in with; resetting a password is no way to sign in unless it is wanted, or the only one.
    private var offered: [Factor] { wanted(among: usable) }

    private func wanted(among factors: [Factor]) -> [Factor] {
        if case .newPassword = goal, !isSecondFactor { return factors.filter(\.resetsPassword) }
        let direct = factors.filter { !$0.resetsPassword }
        return direct.isEmpty ? factors : direct
    }

    mutating func follow(_ answer: ClerkAnswer) async throws -> ClerkStep { try await advance(answer) }

    mutating func advance(_ answer: ClerkAnswer) async throws -> ClerkStep {
        guard let updated = answer.signIn else { throw answer.failure(.unreadable) }
        return try await follow(updated, answer)
    }

    /// Says what the sign-in wants.
    mutating func follow(
        _ updated: ClerkSignIn,
        _ answer: ClerkAnswer
    ) async throws -> ClerkStep {
        signIn = updated
        if let name = updated.identifier { calls.account = LockoutLedger.account(for: name) }
        if let check = updated.check {
            var checks = checks
            let proved = try await checks.prove(check, of: path(), calls)
            self.checks = checks
            guard let proved else {
                return .prove(check, orElse: answer.failure(.challengeRequired, [.solveChallenge]))
            }
            return try await advance(proved)
        }
        if updated.status != .complete, updated.firstFactorVerification?.isTransferable == true {
            // Who has proved themselves has no account: a sign-up can take the proof over.
            if let signUpRequest { return .transferToSignUp(signUpRequest) }
            throw answer.failure(.notFound, [], status: updated.status.rawValue)
        }
        if let url = updated.firstFactorVerification?.openRedirect, case .redirect(let redirect) = goal,
            updated.status != .complete
        {
            return .ask(redirect.question(url))
        }
        switch updated.status {
        case .complete:
            return .finished(try await api.adopt(session: updated.createdSessionID, endOf: answer))
        case .needsFirstFactor, .needsSecondFactor, .needsClientTrust:
            guard !offered.isEmpty else { throw withoutWay(updated, answer) }
            return .choose(offered)
        case .needsNewPassword:
            let factor = Factor(key: .newPassword, providerName: "reset_password")
            return .ask(Challenge(factor: factor, occasion: newPasswordOccasion(answer)))
        case .abandoned:
            throw answer.failure(.flowExpired, [.restartFlow])
        case .needsIdentifier where goal.isElsewhere && updated.firstFactorVerification?.isVerified == true:
            // Only a redirect URL that the instance allows brings back what a native client goes on with.
            throw answer.failure(.misconfigured, [.fixRequest], parameter: "redirect_url")
        case .needsIdentifier:
            throw answer.failure(.invalidRequest, [.askUser], parameter: "identifier")
        default:
            throw answer.failure(.unknown, status: updated.status.rawValue)
        }
    }

    /// Why it cannot go on if none of the offered factors can be used here.
    private func withoutWay(_ updated: ClerkSignIn, _ answer: ClerkAnswer) -> RecoveryError {
        guard let url = updated.firstFactorVerification?.openRedirect else {
            return calls.withoutWay(wanted(among: listed), answer)
        }
        // No browser comes back to this program; the person can go there all the same.
        var error = answer.failure(.userActionRequired, [.visitProvider])
        error.outcome.advice = ["url": .string(url.reveal())]
        return error
    }

    /// Why a new password is asked for, unless the person has asked for it, or was told already.
    private func newPasswordOccasion(_ answer: ClerkAnswer) -> Outcome {
        if case .newPassword = goal { return Outcome(.challengeRequired) }
        return isToldOfPassword
            ? Outcome(.challengeRequired) : answer.failure(.passwordExpired, [.changePassword]).outcome
    }

    /// The sign-in that a refused create has left behind, if the error shows one that can go on.
    private func left(by error: RecoveryError) -> ClerkSignIn? {
        guard let bytes = error.response?.body.bytesInMemory, let json = try? JSONValue(parsing: bytes),
            let left = ClerkClient.find(in: json)?.signIn, left.status == .needsFirstFactor,
            left.identifier.map({ LockoutLedger.account(for: $0) }) == calls.account
        else { return nil }
        return left
    }

    /// Uses the session that exists already, instead of failing because it does; but not somebody else's.
    private func existingSession(_ error: RecoveryError) async throws -> ClerkSession {
        // Whose ticket or passkey it is, nobody knows beforehand.
        guard acceptsExistingSession, let identifier = goal.identifier else { throw error }
        let client = try await ClerkClient.find(in: calls.perform(ClerkAPI.Call(path: "/client")).json)
        let named = client?.liveSession(error.outcome.details?["session_id"]?.string)
        guard let session = named ?? client?.currentSession, session.mayBelong(to: identifier) else { throw error }
        return try await api.adopt(session)
    }
}

extension ClerkSignInMachine: RecalledFields {
    static let name = "sign_in"

    static var fields: [RememberedField<ClerkSignInMachine>] {
        [
            .init("goal", \.goal), .init("account", \.calls.account), .init("password", \.password),
            .init("is_opening_spent", \.isOpeningSpent), .init("opening_refusal", \.openingRefusal),
            .init("is_told_of_password", \.isToldOfPassword), .init("proof", \.proof),
            .init("checks", \.checks), .init("chosen", \.chosen), .init("code_limit", \.codeLimit),
            .init("early_answers", \.early.count), .init("early_factor", \.early.factor),
            .init("approval", \.approval), .init("sign_in", \.signIn),
        ]
    }
}

extension Factor {
    /// Whether it ends in setting a new password.
    fileprivate var resetsPassword: Bool {
        providerName.hasPrefix("reset_password")
    }
}
