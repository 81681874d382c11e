import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The tasks of a session as a part of the sign-in: each is asked for and carried out, until the session is active.
struct ClerkTaskMachine: ClerkStage {
    var api: ClerkAPI
    private var session: ClerkSession
    /// The number that a code is sent to.
    private var phone: String?
    /// Whether the code was presented before its message had left.
    private var early = EarlyCode()

    init(api: ClerkAPI, session: ClerkSession) {
        self.api = api
        self.session = session
    }

    mutating func enter(_ context: SignInContext) {
        api = api.within(context.operation)
    }

    var placeOfProofs: AbuseQuestion.Place? { nil }

    private var task: ClerkTask? { session.tasks.first.map { ClerkTask(rawValue: $0) } }

    var openTask: String? { task?.rawValue }

    mutating func begin() async throws -> ClerkStep {
        phone = nil
        return try await follow(session)
    }

    var canBeLookedUp: Bool { true }

    func sessionToVerify() async throws -> ClerkSession? { session }

    mutating func resync(after doubt: RecoveryError?) async throws -> ClerkStep {
        guard let present = try await api.liveSession(session.id) else { throw RecoveryError.signedOut }
        return try await follow(present)
    }

    mutating func choose(_ factor: Factor) async throws -> ClerkStep {
        try await carryOut(factor, nil)
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> ClerkStep {
        try await carryOut(challenge.factor, answer)
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> ClerkStep {
        let unbounded = api
        api = api.waiting(atMost: limit)
        defer { api.client = unbounded.client }
        return factor.key == .phoneCode ? try await sendCode(to: factor) : try await choose(factor)
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> ClerkStep {
        // Nothing stands in for a new password.
        task == .resetPassword ? .choose([]) : try await follow(session)
    }

    /// Goes on after what was shown.
    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> ClerkStep {
        if let bound { throw bound }
        if let step = early.question() { return step }
        return try await touch()
    }

    mutating func follow(_ answer: ClerkAnswer) async throws -> ClerkStep { try await resync(after: nil) }

    // MARK: Where the session stands

    private mutating func follow(_ present: ClerkSession) async throws -> ClerkStep {
        session = try await api.adopt(present)
        guard present.status.isLive else { throw RecoveryError.signedOut }
        guard present.status == .pending else { return .finished(present) }
        switch task {
        case .resetPassword:
            let occasion = Outcome(.passwordExpired, remedies: [.changePassword])
            return .ask(Challenge(factor: .newPassword, occasion: occasion))
        case .chooseOrganization: return try await organizations()
        case .setupMFA: return try await secondFactors()
        default: throw ClerkTask.isLeft(task)
        }
    }

    /// Has the server look at the session again, with an organization to be active in it perhaps.
    private mutating func touch(_ organization: String? = nil) async throws -> ClerkStep {
        try await follow(api.touch(session: session.id, organization: organization))
    }

    /// Carries out a factor that was chosen, or the answer to its question.
    private mutating func carryOut(_ factor: Factor, _ answer: Secret?) async throws -> ClerkStep {
        switch (factor.key, answer) {
        case (.newPassword, let password?):
            var form = FormFields()
            form.add("new_password", secret: password)
            _ = try await perform(call(.post, "/me/change_password", form, resend: .spending))
            return try await touch()
        case (.choice, nil): return try await join(factor)
        case (.text, nil): return .ask(Self.newOrganizationQuestion)
        case (.text, let name?): return try await createOrganization(name)
        case (.totp, nil): return try await createTOTP(factor)
        case (.totp, let code?):
            var form = FormFields()
            form.add("code", secret: code)
            let answer = try await perform(call(.post, "/me/totp/attempt_verification", form, resend: .spending))
            return try await show(answer)
        case (.phoneNumber, nil):
            guard let id = factor.id else { return .ask(Challenge(factor: factor)) }
            return try await reserve(phone: id)
        case (.phoneNumber, let number?): return try await add(phone: number)
        case (.phoneCode, let code?): return try await verify(code, of: factor)
        default: return .ask(Challenge(factor: factor))
        }
    }

    // MARK: Calls

    private func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ form: FormFields = FormFields(),
        resend: RequestOptions.ResendPermission = .byMethod
    ) -> ClerkAPI.Call {
        ClerkAPI.Call(
            method: method,
            path: path,
            body: method == .get ? nil : .form(form),
            resend: resend,
            sessionID: session.id,
            account: session.account
        )
    }

    private func perform(_ call: ClerkAPI.Call) async throws -> ClerkAnswer {
        try await api.perform(call)
    }

    // MARK: Organizations

    private static let newOrganization = Factor(key: .text, providerName: "organization_name")

    private static let newOrganizationQuestion = Challenge(
        factor: newOrganization,
        prompt: "Name of the new organization"
    )

    /// The organizations that the person is in, or is asked into, and a new one if they may make one; that alone if there
    /// is none.
    private mutating func organizations() async throws -> ClerkStep {
        var factors: [Factor] = []
        for list in ["organization_memberships", "organization_invitations", "organization_suggestions"] {
            let answer = try await perform(call(.get, "/me/\(list)"))
            let entries = answer.json["response"] ?? answer.json
            for entry in (entries.array ?? entries["data"]?.array ?? []).prefix(200) {
                guard let organization = ClerkOrganization(entry["organization"] ?? entry["public_organization_data"])
                else { continue }
                if list == "organization_memberships" {
                    factors.append(organization.factor(id: organization.id))
                } else if let id = entry["id"]?.string?.nonEmpty, entry["status"]?.string ?? "pending" == "pending" {
                    factors.append(organization.factor(id: "\(list)/\(FormFields.encode(segment: id))"))
                }
            }
        }
        guard !factors.isEmpty else { return .ask(Self.newOrganizationQuestion) }
        if session.mayCreateOrganization == true {
            var new = Self.newOrganization
            new.destination = "A new organization"
            factors.append(new)
        }
        return .choose(factors)
    }

    /// Makes an organization the active one, behind its invitation perhaps.
    private mutating func join(_ factor: Factor) async throws -> ClerkStep {
        guard let id = factor.id else { throw ClerkTask.isLeft(task) }
        guard id.contains("/") else { return try await touch(id) }
        let answer = try await perform(call(.post, "/me/\(id)/accept"))
        let accepted = answer.json["response"] ?? answer.json
        guard let organization = ClerkOrganization(accepted["public_organization_data"]) else {
            throw answer.failure(.unreadable)
        }
        return try await touch(organization.id)
    }

    private mutating func createOrganization(_ name: Secret) async throws -> ClerkStep {
        var form = FormFields()
        form.add("name", secret: name)
        let answer = try await perform(call(.post, "/organizations", form))
        guard let organization = ClerkOrganization(answer.json["response"] ?? answer.json) else {
            throw answer.failure(.unreadable)
        }
        return try await touch(organization.id)
    }

    // MARK: Second factors

    private static let newPhone = Factor(key: .phoneNumber, providerName: "phone_number")

    /// What can become a second factor, as far as the instance allows it: an authenticator app, and numbers.
    private mutating func secondFactors() async throws -> ClerkStep {
        let allowed = try await allowedSecondFactors()
        let app = allowed?.contains("totp") ?? true ? [Factor(key: .totp, providerName: "totp")] : []
        guard allowed?.contains("phone_code") ?? true else {
            if app.isEmpty { throw ClerkTask.isLeft(task) }
            return .choose(app)
        }
        let answer = try await perform(call(.get, "/me"))
        let known = ClerkContact.list(.phoneNumber, of: answer.json["response"] ?? answer.json)
        let numbers = known.filter(\.isVerified).prefix(32).map { contact in
            var factor = Self.newPhone
            factor.id = contact.id
            factor.destination = contact.address.nonEmpty.map(ClerkFactor.masked)
            return factor
        }
        return .choose(app + numbers + [Self.newPhone])
    }

    /// What the instance has people set up; nil if it cannot be asked, and then it says so itself.
    private func allowedSecondFactors() async throws -> [String]? {
        do {
            return try await api.readEnvironment().secondFactors
        } catch is RecoveryError {
            try Task.checkCancellation()
            return nil
        }
    }

    private mutating func createTOTP(_ factor: Factor) async throws -> ClerkStep {
        // Another secret takes the place of one that nobody has proved.
        let answer = try await perform(call(.post, "/me/totp", resend: .replayable))
        let totp = answer.json["response"] ?? answer.json
        guard let secret = (totp["uri"] ?? totp["secret"])?.string?.nonEmpty else { throw answer.failure(.unreadable) }
        return .ask(Challenge(factor: factor, setup: Secret(secret)))
    }

    private mutating func add(phone number: Secret) async throws -> ClerkStep {
        var form = FormFields()
        form.add("phone_number", secret: number)
        let answer = try await perform(call(.post, "/me/phone_numbers", form))
        guard let id = (answer.json["response"] ?? answer.json)["id"]?.string?.nonEmpty else {
            throw answer.failure(.unreadable)
        }
        phone = id
        let destination = ClerkFactor.masked(number.reveal())
        return try await sendCode(
            to: Factor(key: .phoneCode, providerName: "phone_code", destination: destination, id: id)
        )
    }

    private mutating func sendCode(to factor: Factor) async throws -> ClerkStep {
        early = EarlyCode()
        var form = FormFields()
        form.add("strategy", "phone_code")
        _ = try await perform(call(.post, "\(try phonePath())/prepare_verification", form, resend: .spending))
        return .ask(Challenge(factor: factor))
    }

    private mutating func verify(_ code: Secret, of factor: Factor) async throws -> ClerkStep {
        var form = FormFields()
        form.add("code", secret: code)
        do {
            _ = try await perform(call(.post, "\(try phonePath())/attempt_verification", form, resend: .spending))
        } catch let error as RecoveryError {
            return try early.wait(after: error, of: factor)
        }
        return try await reserve(phone: phone ?? "")
    }

    private mutating func reserve(phone id: String) async throws -> ClerkStep {
        phone = id
        let form: FormFields = ["reserved_for_second_factor": "true"]
        return try await show(perform(call(.patch, try phonePath(), form, resend: .replayable)))
    }

    private func phonePath() throws -> String {
        guard let phone, !phone.isEmpty else { throw ClerkTask.isLeft(task) }
        return "/me/phone_numbers/\(FormFields.encode(segment: phone))"
    }

    /// Shows the backup codes that have come with a second factor, and never come again; then the task is done.
    private mutating func show(_ answer: ClerkAnswer) async throws -> ClerkStep {
        let codes = ((answer.json["response"] ?? answer.json)["backup_codes"]?.array ?? []).prefix(64)
            .compactMap { $0.string?.nonEmpty }
        guard !codes.isEmpty else { return try await touch() }
        let factor = Factor(key: .backupCode, providerName: "backup_code")
        let shown = Challenge(factor: factor, setup: Secret(codes.joined(separator: "\n")))
        return .pending(shown, SignInContext.Pause(.zero))
    }
}

extension ClerkTaskMachine: RecalledFields {
    static let name = "tasks"

    static var fields: [RememberedField<ClerkTaskMachine>] {
        [
            .init("session", \.session), .init("phone", \.phone), .init("early_answers", \.early.count),
            .init("early_factor", \.early.factor),
        ]
    }
}

extension Factor {
    fileprivate static let newPassword = Factor(key: .newPassword, providerName: ClerkTask.resetPassword.rawValue)
}

/// An organization, as lists show it.
private struct ClerkOrganization {
    let id: String
    let name: String?
    let slug: String?

    init?(_ json: JSONValue?) {
        guard let id = json?["id"]?.string?.nonEmpty else { return nil }
        self.id = id
        name = json?["name"]?.string?.nonEmpty
        slug = json?["slug"]?.string?.nonEmpty
    }

    func factor(id: String) -> Factor {
        Factor(key: .choice, providerName: slug ?? self.id, destination: name ?? slug, id: id)
    }
}
