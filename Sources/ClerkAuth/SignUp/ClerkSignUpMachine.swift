import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Clerk's sign-up as a machine: it asks for what is missing, proves what is not proved, and ends in a session.
struct ClerkSignUpMachine: ClerkStage {
    private var calls: ClerkFactorCalls
    private var request: ClerkSignUpRequest
    /// The refusal of a ticket, which is presented once.
    private var ticketRefusal: RecoveryError?
    /// The sign-up under way, as the server told it last.
    private var signUp: ClerkSignUp?
    /// The proofs against abuse that were presented.
    private var checks = ProtectCheck()
    /// Whether a code was presented before its message had left.
    private var early = EarlyCode()
    /// Whether a session that is there already is a finished sign-up.
    private var acceptsExistingSession = true

    init(api: ClerkAPI, request: ClerkSignUpRequest) {
        calls = ClerkFactorCalls(api: api)
        self.request = request
    }

    var api: ClerkAPI {
        get { calls.api }
        set { calls.api = newValue }
    }

    var placeOfProofs: AbuseQuestion.Place? {
        (try? path()).map { .flow(path: $0) } ?? .creation
    }

    /// The field of the consent to the terms.
    private static let consent = "legal_accepted"

    /// Whether somebody who is asked for a consent has given it.
    private static func isConsent(_ answer: Secret) -> Bool {
        ["true", "yes", "y", "1"].contains(answer.reveal().trimming(\.isWhitespace).lowercased())
    }

    private static let password = Factor(key: .newPassword, providerName: "password")

    mutating func enter(_ context: SignInContext) {
        calls.api = calls.api.within(context.operation)
        acceptsExistingSession = context.acceptsExistingSession
    }

    var openingFactor: Factor? {
        signUp == nil && request.password != nil ? Self.password : nil
    }

    mutating func begin() async throws -> ClerkStep {
        try await calls.api.finishSignOuts()
        signUp = nil
        if let ticketRefusal { throw ticketRefusal }
        var form = request.form
        if let redirect = request.redirect {
            guard calls.api.configuration.redirectURL != nil else { throw RecoveryError.missing("redirect_url") }
            redirect.add(to: &form, as: "email_address", calls.api.configuration)
        }
        form.add("locale", calls.api.configuration.locale)
        do {
            return try await follow(calls.perform(calls.spending("/client/sign_ups", form)))
        } catch let error as RecoveryError {
            if error.outcome.parameter == Self.consent, request.legalAccepted != true, error.kind == .invalidRequest {
                return .ask(Self.question(Self.factor(for: Self.consent)))
            }
            if request.ticket != nil, !error.outcome.provesNothingSpent || error.kind == .flowExpired {
                ticketRefusal = error
            }
            throw error
        }
    }

    /// A ticket leaves nothing to be asked for before the server has told of a sign-up.
    var canBeLookedUp: Bool { signUp != nil || (request.ticket == nil && request.identifier != nil) }

    mutating func resync(after doubt: RecoveryError?) async throws -> ClerkStep {
        guard signUp == nil else { return try await follow(calls.perform(ClerkAPI.Call(path: path()))) }
        // What is read here brings the token that supersedes one that was refused.
        let json = try await calls.perform(ClerkAPI.Call(path: "/client")).json
        guard let doubt else { return try await begin() }
        let client = ClerkClient.find(in: json)
        if let found = client?.signUp, request.isAbout(found) {
            return try await follow(found, ClerkAnswer(json: json, response: nil))
        }
        guard acceptsExistingSession, let session = client?.currentSession, let name = request.identifier,
            !session.identifiers.isEmpty, session.mayBelong(to: name)
        else { throw doubt }
        return .finished(try await calls.api.adopt(session))
    }

    mutating func choose(_ factor: Factor) async throws -> ClerkStep {
        guard factor.key.isSent else { return .ask(Self.question(factor)) }
        early = EarlyCode()
        var form = FormFields()
        form.add("strategy", factor.providerName)
        if factor.key == .emailLink { form.add("redirect_url", calls.api.configuration.redirectURL) }
        let answer = try await calls.perform(calls.spending("\(path())/prepare_verification", form))
        signUp = Self.signUp(in: answer) ?? signUp
        return Self.wanted(of: factor)
    }

    /// What is wanted of a factor whose message is on its way: a link is opened anywhere, and waited for.
    private static func wanted(of factor: Factor) -> ClerkStep {
        factor.key == .emailLink ? .pending(Challenge(factor: factor), linkPause) : .ask(Challenge(factor: factor))
    }

    /// How long it is waited between two questions whether a link was opened.
    private static let linkPause = SignInContext.Pause(.seconds(3))

    /// Asks whether the link that was sent was opened.
    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> ClerkStep {
        if let bound { throw bound }
        if let step = early.question() { return step }
        let answer = try await calls.perform(ClerkAPI.Call(path: path()))
        let verification = Self.signUp(in: answer)?.verifications["email_address"]
        guard verification?.status == "unverified", verification?.strategy == "email_link",
            let link = unproved.first(where: { $0.key == .emailLink })
        else { return try await follow(answer) }
        if let end = verification?.expireAt, end <= calls.api.now {
            throw answer.failure(.challengeExpired, [.newChallenge])
        }
        return Self.wanted(of: link)
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> ClerkStep {
        var form = FormFields()
        let factor = challenge.factor
        if factor.key == .emailCode || factor.key == .phoneCode {
            form.add("strategy", factor.providerName)
            form.add("code", secret: answer)
            do {
                return try await follow(calls.perform(calls.spending("\(path())/attempt_verification", form)))
            } catch let error as RecoveryError {
                return try early.wait(after: error, of: factor)
            }
        }
        if factor.key == .redirect { return try await comeBack(to: answer) }
        if factor.key == .newPassword { request.password = answer }
        var answer = answer
        if factor.providerName == Self.consent, Self.isConsent(answer) {
            request.legalAccepted = true
            answer = "true"
        }
        // The sign-up was refused with the password before: it is created with this one.
        guard signUp != nil else { return try await begin() }
        form.add(factor.providerName, secret: answer)
        var call = try calls.spending(path(), form)
        call.method = .patch
        // Filling a field in twice fills it in once.
        call.resend = .replayable
        return try await follow(calls.perform(call))
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> ClerkStep {
        let unbounded = calls
        calls = calls.waiting(atMost: limit)
        defer { calls.api.client = unbounded.api.client }
        return try await choose(factor)
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> ClerkStep {
        return .choose(unproved)
    }

    /// Goes on with where the browser came back.
    private mutating func comeBack(to address: Secret) async throws -> ClerkStep {
        let answer = try await calls.read(path(), after: address)
        if Self.signUp(in: answer)?.verifications["external_account"]?.openRedirect != nil {
            throw answer.failure(.challengeIncorrect, [.askUser])
        }
        return try await follow(answer)
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

    /// What can be proved by a code or a link.
    private var unproved: [Factor] {
        (signUp?.unverifiedFields ?? []).compactMap { field in
            switch field {
            case "email_address":
                Factor(
                    key: isProvedByLink ? .emailLink : .emailCode,
                    providerName: isProvedByLink ? "email_link" : "email_code",
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

    /// Whether the instance proves addresses by links alone.
    private var isProvedByLink: Bool {
        let strategies = signUp?.verifications["email_address"]?.supportedStrategies ?? []
        return strategies.contains("email_link") && !strategies.contains("email_code")
    }

    /// The question for a field.
    private static func question(_ factor: Factor) -> Challenge {
        Challenge(factor: factor, prompt: factor.key == .text ? words[factor.providerName] ?? factor.providerName : nil)
    }

    private static let words = [
        consent: "Do you accept the terms of service (yes or no)?", "email_address": "E-mail address",
        "username": "User name", "first_name": "First name", "last_name": "Last name",
    ]

    private static func factor(for field: String) -> Factor {
        switch field {
        case "password": password
        case "phone_number": Factor(key: .phoneNumber, providerName: field)
        default: Factor(key: .text, providerName: field)
        }
    }

    mutating func follow(_ answer: ClerkAnswer) async throws -> ClerkStep {
        guard let updated = Self.signUp(in: answer) else { throw answer.failure(.unreadable) }
        return try await follow(updated, answer)
    }

    private mutating func follow(_ updated: ClerkSignUp, _ answer: ClerkAnswer) async throws -> ClerkStep {
        signUp = updated
        if updated.status == .complete {
            guard let id = updated.createdSessionID else { throw answer.failure(.unreadable) }
            return .finished(try await calls.api.adopt(session: id, endOf: answer))
        }
        if updated.status == .abandoned { throw answer.failure(.flowExpired, [.restartFlow]) }
        if let check = updated.check {
            var checks = checks
            let proved = try await checks.prove(check, of: path(), calls)
            self.checks = checks
            guard let proved else {
                return .prove(check, orElse: answer.failure(.challengeRequired, [.solveChallenge]))
            }
            return try await follow(proved)
        }
        if updated.verifications["external_account"]?.isTransferable == true {
            return .transferToSignIn(account: updated.emailAddress.map { LockoutLedger.account(for: $0) })
        }
        if let url = updated.verifications["external_account"]?.openRedirect {
            return .ask((request.redirect ?? ClerkRedirect(strategy: "external_account")).question(url))
        }
        if let field = updated.missingFields.first { return .ask(Self.question(Self.factor(for: field))) }
        if !unproved.isEmpty {
            guard calls.usable(unproved).count == unproved.count else { throw calls.withoutWay(unproved, answer) }
            return .choose(unproved)
        }
        if !updated.unverifiedFields.isEmpty { throw answer.failure(.factorUnavailable, [.contactAdmin]) }
        throw answer.failure(.unknown, status: updated.status.rawValue)
    }
}

extension ClerkSignUpMachine: RecalledFields {
    static let name = "sign_up"

    static var fields: [RememberedField<ClerkSignUpMachine>] {
        [
            .init("request", \.request), .init("ticket_refusal", \.ticketRefusal), .init("sign_up", \.signUp),
            .init("checks", \.checks), .init("early_answers", \.early.count), .init("early_factor", \.early.factor),
        ]
    }
}
