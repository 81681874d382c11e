import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Clerk's sign-up as a machine: it asks for what is missing, proves what is not proved, and ends in a session.
struct ClerkSignUpMachine: SignInMachine {
    private var calls: ClerkFactorCalls
    private var request: ClerkSignUpRequest
    /// The refusal of a ticket, which is presented once.
    private var ticketRefusal: RecoveryError?
    /// The sign-up under way, as the server told it last.
    private var signUp: ClerkSignUp?
    /// The sign-in that goes on for somebody who turned out to have an account.
    private var signIn: ClerkSignInMachine?

    init(api: ClerkAPI, request: ClerkSignUpRequest) {
        calls = ClerkFactorCalls(api: api)
        self.request = request
    }

    private static let password = Factor(key: .newPassword, providerName: "password")

    mutating func enter(_ context: SignInContext) {
        calls.api = calls.api.within(context.operation)
        signIn?.enter(context)
    }

    var openingFactor: Factor? {
        signUp == nil && request.password != nil ? Self.password : nil
    }

    mutating func begin() async throws -> SignInStep<ClerkSession> {
        try await calls.api.finishSignOuts()
        signIn = nil
        signUp = nil
        if let ticketRefusal { throw ticketRefusal }
        var form = request.form
        form.add("locale", calls.api.configuration.locale)
        do {
            return try await follow(calls.perform(calls.spending("/client/sign_ups", form)))
        } catch let error as RecoveryError {
            if request.ticket != nil, !error.outcome.provesNothingSpent || error.kind == .flowExpired {
                ticketRefusal = error
            }
            throw error
        }
    }

    mutating func resync() async throws -> SignInStep<ClerkSession> {
        if signIn != nil { return try await inSignIn { try await $0.resync() } }
        guard signUp != nil else { return try await begin() }
        return try await follow(calls.perform(ClerkAPI.Call(path: path())))
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<ClerkSession> {
        if signIn != nil { return try await inSignIn { try await $0.choose(factor) } }
        guard factor.key == .emailCode || factor.key == .phoneCode else { return .ask(Self.question(factor)) }
        var form = FormFields()
        form.add("strategy", factor.providerName)
        let answer = try await calls.perform(calls.spending("\(path())/prepare_verification", form))
        signUp = Self.signUp(in: answer) ?? signUp
        return .ask(Challenge(factor: factor))
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<ClerkSession> {
        if signIn != nil { return try await inSignIn { try await $0.submit(answer, to: challenge) } }
        var form = FormFields()
        let factor = challenge.factor
        if factor.key == .emailCode || factor.key == .phoneCode {
            form.add("strategy", factor.providerName)
            form.add("code", secret: answer)
            return try await follow(calls.perform(calls.spending("\(path())/attempt_verification", form)))
        }
        if factor.key == .newPassword { request.password = answer }
        // The sign-up was refused with the password before: it is created with this one.
        guard signUp != nil else { return try await begin() }
        form.add(factor.providerName, secret: answer)
        var call = try calls.spending(path(), form)
        call.method = .patch
        // Filling a field in twice fills it in once.
        call.resend = .replayable
        return try await follow(calls.perform(call))
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> SignInStep<ClerkSession> {
        let unbounded = calls
        calls = calls.waiting(atMost: limit)
        defer { calls.api.client = unbounded.api.client }
        return try await choose(factor)
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<ClerkSession> {
        if signIn != nil { return try await inSignIn { try await $0.replace(factor, after: refusal) } }
        return .choose(unproved)
    }

    // MARK: Where the sign-up stands

    private func path() throws -> String {
        guard let id = signUp?.id else {
            throw RecoveryError(outcome: Outcome(.flowExpired, remedies: [.restartFlow]), reason: .notRecoverable)
        }
        return "/client/sign_ups/\(FormFields.encode(segment: id))"
    }

    private static func signUp(in answer: ClerkAnswer) -> ClerkSignUp? {
        ClerkSignUp(answer.json["response"] ?? answer.json) ?? ClerkSignUp(answer.json["client"]?["sign_up"])
    }

    /// What can be proved by a code.
    private var unproved: [Factor] {
        (signUp?.unverifiedFields ?? []).compactMap { field in
            switch field {
            case "email_address":
                Factor(
                    key: .emailCode,
                    providerName: "email_code",
                    destination: signUp?.emailAddress.map(ClerkFactor.masked)
                )
            case "phone_number":
                Factor(
                    key: .phoneCode,
                    providerName: "phone_code",
                    destination: signUp?.phoneNumber.map(ClerkFactor.masked)
                )
            default: nil
            }
        }
    }

    /// The question for a field.
    private static func question(_ factor: Factor) -> Challenge {
        Challenge(factor: factor, prompt: factor.key == .text ? factor.providerName : nil)
    }

    private static func factor(for field: String) -> Factor {
        switch field {
        case "password": password
        case "phone_number": Factor(key: .phoneNumber, providerName: field)
        default: Factor(key: .text, providerName: field)
        }
    }

    private mutating func follow(_ answer: ClerkAnswer) async throws -> SignInStep<ClerkSession> {
        guard let updated = Self.signUp(in: answer) else { throw answer.failure(.unreadable) }
        signUp = updated
        if updated.status == .complete {
            guard let id = updated.createdSessionID, let session = answer.session(id) else {
                throw answer.failure(.unreadable)
            }
            return .finished(try await calls.api.adopt(session))
        }
        if updated.status == .abandoned { throw answer.failure(.flowExpired, [.restartFlow]) }
        if updated.verifications["external_account"]?.isTransferable == true {
            var machine = ClerkSignInMachine(api: calls.api, goal: .transfer)
            let step = try await machine.begin()
            signIn = machine
            return step
        }
        if let field = updated.missingFields.first { return .ask(Self.question(Self.factor(for: field))) }
        if !unproved.isEmpty { return .choose(unproved) }
        if !updated.unverifiedFields.isEmpty { throw answer.failure(.factorUnavailable, [.contactAdmin]) }
        throw answer.failure(.unknown, status: updated.status.rawValue)
    }

    private mutating func inSignIn(
        _ body: (inout ClerkSignInMachine) async throws -> SignInStep<ClerkSession>
    ) async throws -> SignInStep<ClerkSession> {
        guard var machine = signIn else { return try await begin() }
        do {
            let step = try await body(&machine)
            signIn = machine
            return step
        } catch {
            signIn = machine
            throw error
        }
    }
}

extension ClerkSignUpMachine: RecalledFields {
    static let name = "sign_up"

    var memory: JSONValue { [Self.name: recalled] }

    static var fields: [RememberedField<ClerkSignUpMachine>] {
        [
            .init("request", \.request), .init("ticket_refusal", \.ticketRefusal), .init("sign_up", \.signUp),
            .init("sign_in", \.signInMemory),
        ]
    }

    private var signInMemory: JSONValue? {
        get { signIn?.recalled }
        set {
            guard let newValue else { return signIn = nil }
            var machine = ClerkSignInMachine(api: calls.api, goal: .transfer)
            signIn = machine.recall(newValue) ? machine : nil
        }
    }
}
