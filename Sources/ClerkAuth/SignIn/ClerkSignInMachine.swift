import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Clerk's sign-in as a machine: its states, and the calls that lead from one to the next.
struct ClerkSignInMachine: SignInMachine {
    let api: ClerkAPI
    let identifier: String
    let password: Secret?
    let observer: (@Sendable (RecoveryEvent) -> Void)?

    private var signIn: ClerkSignIn?
    /// Whether the sign-in is at its second factor (or the confirmation of a new device, which uses the same calls).
    private var isSecondFactor = false

    init(
        api: ClerkAPI,
        identifier: String,
        password: Secret?,
        observer: (@Sendable (RecoveryEvent) -> Void)?
    ) {
        self.api = api
        self.identifier = identifier
        self.password = password
        self.observer = observer
    }

    mutating func begin() async throws -> SignInStep<ClerkSession> {
        try await create(password: password)
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<ClerkSession> {
        switch factor.key {
        case .emailCode, .phoneCode:
            return try await prepare(factor)
        default:
            return .ask(Challenge(factor: factor))
        }
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<ClerkSession> {
        var form = FormFields()
        if challenge.key == .newPassword {
            form.add("password", secret: answer)
            return try await advance(post("reset_password", form))
        }
        form.add("strategy", challenge.factor.providerName)
        form.add(challenge.key == .password ? "password" : "code", secret: answer)
        return try await advance(post(isSecondFactor ? "attempt_second_factor" : "attempt_first_factor", form))
    }

    mutating func resend(_ factor: Factor) async throws -> SignInStep<ClerkSession> {
        try await choose(factor)
    }

    mutating func alternatives(to factor: Factor) async throws -> [Factor] {
        // A create that was refused has left no sign-in behind that tells the factors: begin one without a password.
        if signIn?.status != .needsFirstFactor, !isSecondFactor {
            if case .finished = try await create(password: nil) { return [] }
        }
        return offered.filter { $0.key != factor.key || $0.id != factor.id }
    }

    private mutating func create(password: Secret?) async throws -> SignInStep<ClerkSession> {
        signIn = nil
        isSecondFactor = false
        var form = FormFields()
        form.add("identifier", identifier)
        if let password {
            form.add("strategy", "password")
            form.add("password", secret: password)
        }
        let call = ClerkAPI.Call(
            method: .post,
            path: "/client/sign_ins",
            form: form,
            resend: .spending,
            account: LockoutLedger.account(for: identifier),
            observer: observer
        )
        do {
            return try await advance(api.perform(call))
        } catch let error as RecoveryError where error.outcome.kind == .alreadySignedIn {
            return .finished(try await existingSession(error))
        }
    }

    /// Uses the session that exists already, instead of failing because it does.
    private func existingSession(_ error: RecoveryError) async throws -> ClerkSession {
        let (json, _) = try await api.perform(ClerkAPI.Call(path: "/client", observer: observer))
        guard let session = ClerkClient.find(in: json)?.currentSession else { throw error }
        return try await adopt(session)
    }

    private mutating func prepare(_ factor: Factor) async throws -> SignInStep<ClerkSession> {
        var form = FormFields()
        form.add("strategy", factor.providerName)
        form.add(factor.key == .emailCode ? "email_address_id" : "phone_number_id", factor.id)
        let answer = try await post(isSecondFactor ? "prepare_second_factor" : "prepare_first_factor", form)
        if let updated = Self.signIn(in: answer.json) { signIn = updated }
        return .ask(Challenge(factor: factor))
    }

    private func post(_ step: String, _ form: FormFields) async throws -> (json: JSONValue, response: Response) {
        guard let id = signIn?.id else {
            throw RecoveryError(outcome: Outcome(.flowExpired, remedies: [.restartFlow]), reason: .notRecoverable)
        }
        return try await api.perform(
            ClerkAPI.Call(
                method: .post,
                path: "/client/sign_ins/\(FormFields.encode(id))/\(step)",
                form: form,
                resend: .spending,
                account: LockoutLedger.account(for: identifier),
                observer: observer
            )
        )
    }

    /// Reads where the sign-in stands, and says what it wants.
    private mutating func advance(
        _ answer: (json: JSONValue, response: Response)
    ) async throws -> SignInStep<ClerkSession> {
        guard let updated = Self.signIn(in: answer.json) else {
            throw Self.failure(.unreadable, [], answer.response)
        }
        signIn = updated
        isSecondFactor = updated.status == .needsSecondFactor || updated.status == .needsClientTrust
        switch updated.status {
        case .complete:
            guard let session = Self.session(updated, in: answer.json) else {
                throw Self.failure(.unreadable, [], answer.response)
            }
            return .finished(try await adopt(session))
        case .needsFirstFactor, .needsSecondFactor, .needsClientTrust:
            let factors = offered
            guard !factors.isEmpty else { throw Self.failure(.factorUnavailable, [.contactAdmin], answer.response) }
            return .choose(factors)
        case .needsNewPassword:
            return .ask(Challenge(factor: Factor(key: .newPassword, providerName: "reset_password")))
        case .needsProtectCheck:
            throw Self.failure(.challengeRequired, [.solveChallenge], answer.response)
        case .abandoned:
            throw Self.failure(.flowExpired, [.restartFlow], answer.response)
        case .needsIdentifier:
            var failure = Self.failure(.invalidRequest, [.askUser], answer.response)
            failure.outcome.parameter = "identifier"
            throw failure
        default:
            throw Self.failure(.unknown, [], answer.response, status: updated.status.rawValue)
        }
    }

    /// The factors that the server offers now and that this version can carry out; resetting a password is no way to
    /// sign in unless it is the only one.
    private var offered: [Factor] {
        let factors = isSecondFactor ? signIn?.supportedSecondFactors : signIn?.supportedFirstFactors
        let usable = (factors ?? []).compactMap(\.factor)
        let direct = usable.filter { !$0.providerName.hasPrefix("reset_password") }
        return direct.isEmpty ? usable : direct
    }

    /// Remembers the session before anyone uses it.
    private func adopt(_ session: ClerkSession) async throws -> ClerkSession {
        try await api.tokens.update { $0.sessionID = session.id }
        return session
    }

    private static func signIn(in json: JSONValue) -> ClerkSignIn? {
        for candidate in [json["response"], json, json["client"]?["sign_in"]] {
            if candidate?["object"]?.string.map({ $0.hasPrefix("sign_in") }) ?? true, candidate?["status"] != nil,
                let signIn = ClerkSignIn(candidate)
            {
                return signIn
            }
        }
        return nil
    }

    private static func session(_ signIn: ClerkSignIn, in json: JSONValue) -> ClerkSession? {
        let client = ClerkClient.find(in: json)
        if let session = client?.sessions.first(where: { $0.id == signIn.createdSessionID }) { return session }
        if let id = signIn.createdSessionID {
            return ClerkSession(["id": .string(id), "status": .string(ClerkSessionStatus.active.rawValue)])
        }
        return client?.currentSession
    }

    private static func failure(
        _ kind: Outcome.Kind,
        _ remedies: [Remedy],
        _ response: Response,
        status: String? = nil
    ) -> RecoveryError {
        var outcome = response.outcome
        outcome.kind = kind
        outcome.remedies = remedies
        if let status { outcome.statusType = status }
        return RecoveryError(outcome: outcome, reason: .notRecoverable, response: response, history: response.history)
    }
}
