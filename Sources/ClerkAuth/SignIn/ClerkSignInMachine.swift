import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Clerk's sign-in as a machine: its states, and the calls that lead from one to the next.
struct ClerkSignInMachine: SignInMachine {
    private let api: ClerkAPI
    private let identifier: String
    private let observer: @Sendable (RecoveryEvent) -> Void

    /// What ``begin()`` presents; forgotten once it was refused, learned once it was accepted.
    private var password: Secret?
    /// The sign-in under way, as the server told it last.
    private var signIn: ClerkSignIn?

    init(
        api: ClerkAPI,
        identifier: String,
        password: Secret?,
        observer: @escaping @Sendable (RecoveryEvent) -> Void
    ) {
        self.api = api
        self.identifier = identifier
        self.password = password
        self.observer = observer
    }

    var openingFactor: Factor? {
        password.map { _ in Factor(key: .password, providerName: "password") }
    }

    mutating func begin() async throws -> SignInStep<ClerkSession> {
        try await create(password: password)
    }

    mutating func resync() async throws -> SignInStep<ClerkSession> {
        let json = try await perform(ClerkAPI.Call(path: "/client")).json
        if let id = signIn?.id, let current = ClerkClient.find(in: json)?.signIn, current.id == id {
            return try await follow(current, ClerkAnswer(json: json, response: nil))
        }
        return try await begin()
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<ClerkSession> {
        guard factor.key == .emailCode || factor.key == .phoneCode else { return .ask(Challenge(factor: factor)) }
        var form = FormFields()
        form.add("strategy", factor.providerName)
        form.add(factor.key == .emailCode ? "email_address_id" : "phone_number_id", factor.id)
        let before = signIn?.status
        let answer = try await post(isSecondFactor ? "prepare_second_factor" : "prepare_first_factor", form)
        if let updated = answer.signIn {
            // Somebody else may have led the sign-in on meanwhile.
            if updated.status != before { return try await follow(updated, answer) }
            signIn = updated
        }
        return .ask(Challenge(factor: factor))
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<ClerkSession> {
        var form = FormFields()
        switch challenge.key {
        case .newPassword:
            form.add("password", secret: answer)
            return try await advance(post("reset_password", form))
        case .password:
            // Without a sign-in (its creation was refused with the password before), one is created with this one.
            guard signIn != nil else { return try await create(password: answer) }
            form.add("strategy", challenge.factor.providerName)
            form.add("password", secret: answer)
            let step = try await advance(post("attempt_first_factor", form))
            password = answer
            return step
        default:
            form.add("strategy", challenge.factor.providerName)
            form.add("code", secret: answer)
            return try await advance(post(isSecondFactor ? "attempt_second_factor" : "attempt_first_factor", form))
        }
    }

    mutating func resend(_ factor: Factor) async throws -> SignInStep<ClerkSession> {
        try await choose(factor)
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<ClerkSession> {
        if offered.isEmpty {
            // A create that was refused may have left no sign-in behind that tells the factors: begin one without a
            // password.
            let step = try await create(password: nil)
            guard case .choose = step else { return step }
        }
        return .choose(refusal?.kind == .passwordExpired ? usable.filter(\.resetsPassword) : offered)
    }

    // MARK: Calls

    private mutating func create(password: Secret?) async throws -> SignInStep<ClerkSession> {
        signIn = nil
        self.password = password ?? self.password
        var form = FormFields()
        form.add("identifier", identifier)
        if let password {
            form.add("strategy", "password")
            form.add("password", secret: password)
        }
        do {
            return try await advance(perform(spending("/client/sign_ins", form)))
        } catch let error as RecoveryError where error.outcome.kind == .alreadySignedIn {
            return .finished(try await existingSession(error))
        } catch let error as RecoveryError {
            if error.outcome.isAboutThePassword {
                self.password = nil
                signIn = left(by: error)
            }
            throw error
        }
    }

    private func post(_ step: String, _ form: FormFields) async throws -> ClerkAnswer {
        guard let id = signIn?.id else {
            throw RecoveryError(outcome: Outcome(.flowExpired, remedies: [.restartFlow]), reason: .notRecoverable)
        }
        return try await perform(spending("/client/sign_ins/\(FormFields.encode(segment: id))/\(step)", form))
    }

    private func spending(_ path: String, _ form: FormFields) -> ClerkAPI.Call {
        ClerkAPI.Call(
            method: .post,
            path: path,
            form: form,
            resend: .spending,
            account: LockoutLedger.account(for: identifier)
        )
    }

    private func perform(_ call: ClerkAPI.Call) async throws -> ClerkAnswer {
        var call = call
        call.observer = observer
        return try await api.perform(call)
    }

    // MARK: Where the sign-in stands

    private var isSecondFactor: Bool {
        signIn?.status == .needsSecondFactor || signIn?.status == .needsClientTrust
    }

    /// The factors that the server offers now and that this version can carry out.
    private var usable: [Factor] {
        let factors = isSecondFactor ? signIn?.supportedSecondFactors : signIn?.supportedFirstFactors
        return (factors ?? []).compactMap(\.factor)
    }

    /// The factors to sign in with; resetting a password is no way to sign in unless it is the only one.
    private var offered: [Factor] {
        let direct = usable.filter { !$0.resetsPassword }
        return direct.isEmpty ? usable : direct
    }

    private mutating func advance(_ answer: ClerkAnswer) async throws -> SignInStep<ClerkSession> {
        guard let updated = answer.signIn else { throw answer.failure(.unreadable) }
        return try await follow(updated, answer)
    }

    /// Says what the sign-in wants.
    private mutating func follow(
        _ updated: ClerkSignIn,
        _ answer: ClerkAnswer
    ) async throws -> SignInStep<ClerkSession> {
        signIn = updated
        switch updated.status {
        case .complete:
            guard let session = answer.session(of: updated) else { throw answer.failure(.unreadable) }
            return .finished(try await api.adopt(session))
        case .needsFirstFactor, .needsSecondFactor, .needsClientTrust:
            guard !offered.isEmpty else { throw answer.failure(.factorUnavailable, [.contactAdmin]) }
            return .choose(offered)
        case .needsNewPassword:
            return .ask(Challenge(factor: Factor(key: .newPassword, providerName: "reset_password")))
        case .needsProtectCheck:
            throw answer.failure(.challengeRequired, [.solveChallenge])
        case .abandoned:
            throw answer.failure(.flowExpired, [.restartFlow])
        case .needsIdentifier:
            throw answer.failure(.invalidRequest, [.askUser], parameter: "identifier")
        default:
            throw answer.failure(.unknown, status: updated.status.rawValue)
        }
    }

    /// The sign-in that a refused create has left behind, if the error shows one that can go on.
    private func left(by error: RecoveryError) -> ClerkSignIn? {
        guard let bytes = error.response?.body.bytesInMemory, let json = try? JSONValue(parsing: bytes),
            let left = ClerkClient.find(in: json)?.signIn, left.status == .needsFirstFactor,
            left.identifier.map({ LockoutLedger.account(for: $0) }) == LockoutLedger.account(for: identifier)
        else { return nil }
        return left
    }

    /// Uses the session that exists already, instead of failing because it does; but not somebody else's.
    private func existingSession(_ error: RecoveryError) async throws -> ClerkSession {
        let client = try await ClerkClient.find(in: perform(ClerkAPI.Call(path: "/client")).json)
        let named = client?.liveSession(error.outcome.details?["session_id"]?.string)
        guard let session = named ?? client?.currentSession, session.mayBelong(to: identifier) else { throw error }
        return try await api.adopt(session)
    }
}

extension Factor {
    /// Whether it ends in setting a new password.
    fileprivate var resetsPassword: Bool {
        providerName.hasPrefix("reset_password")
    }
}

extension Outcome {
    /// Whether the server has judged the password, or would not take it.
    fileprivate var isAboutThePassword: Bool {
        switch kind {
        case .invalidCredentials, .passwordCompromised, .passwordExpired, .passwordRejected, .factorUnavailable,
            .invalidRequest:
            true
        default: false
        }
    }
}
