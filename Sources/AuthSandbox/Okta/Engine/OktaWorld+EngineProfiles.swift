import HTTPRecovery
import HTTPRecoveryTesting

// What the identity engine wants to know of people: of those who make an account, and of those who have one.
extension OktaWorld {
    /// The way to an account for somebody who has none.
    func registration(_ flow: OktaFlow, _ exchange: OktaExchange) -> [JSONValue] {
        guard exchange.okta.allowsRegistration else { return [] }
        return [form("select-enroll-profile", "enroll", [], flow, exchange)]
    }

    /// What is wanted of somebody who has signed in; nil for nothing.
    func wantedProfile(of account: OktaAccount, _ flow: OktaFlow) -> OktaFlow.ProfileForm? {
        switch account.user.okta.profile {
        case "incomplete" where !account.isProfileTold: .update(isOptional: false)
        case "optional" where !account.isProfileTold && !flow.hasSkipped: .update(isOptional: true)
        default: nil
        }
    }

    // MARK: Forms

    private struct Wanted {
        let name: String
        let label: String
        var isRequired = true
        /// What can be chosen from, as label and value.
        var options: [(label: String, value: String)] = []
        /// What stands there for good.
        var fixed: String?
        var type = "string"
    }

    private static func wanted(_ sort: OktaFlow.ProfileForm) -> [Wanted] {
        let country = Wanted(
            name: "countryCode",
            label: "Country",
            isRequired: false,
            options: [("Germany", "DE"), ("France", "FR"), ("United Kingdom", "GB")]
        )
        switch sort {
        case .registration:
            return [
                Wanted(name: "email", label: "Email"), Wanted(name: "firstName", label: "First name"),
                Wanted(name: "lastName", label: "Last name"), country,
                Wanted(name: "organization", label: "Organization", fixed: "Sandbox"),
            ]
        case .update(let isOptional):
            return [
                Wanted(name: "city", label: "City", isRequired: !isOptional),
                Wanted(name: "age", label: "Age", isRequired: false, type: "integer"), country,
            ]
        }
    }

    func profile(
        _ sort: OktaFlow.ProfileForm,
        _ failure: OktaEngineFailure?,
        _ flow: OktaFlow,
        _ exchange: OktaExchange
    ) -> [JSONValue] {
        let fields = Self.wanted(sort).map { wanted -> JSONValue in
            var field = Self.field(wanted.name, wanted.label, isRequired: wanted.isRequired, failure)
                .adding("type", .string(wanted.type))
            if let fixed = wanted.fixed { field = field.adding("value", .string(fixed)).adding("mutable", false) }
            let options: [JSONValue] = wanted.options.map { ["label": .string($0.label), "value": .string($0.value)] }
            return options.isEmpty ? field : field.adding("options", .array(options))
        }
        let person = Self.object("userProfile", fields)
        switch sort {
        case .registration:
            let password = Self.field("passcode", "Password", isSecret: true, failure)
            let whole = [person, Self.object("credentials", [password])]
            return [
                form("enroll-profile", "enroll/new", whole, flow, exchange),
                form("select-identify", "identify/select", [], flow, exchange),
            ]
        case .update(let isOptional):
            let main = form("enroll-profile-update", "enroll/update", [person], flow, exchange)
            return isOptional ? [main, action("skip", "skip", flow, exchange)] : [main]
        }
    }

    // MARK: Answers

    /// Checks what was filled in: what has to be there is, what cannot be changed has not been, and there is nothing else.
    private func check(_ sort: OktaFlow.ProfileForm, _ exchange: OktaExchange) throws(OktaEngineFailure) {
        let profile = exchange.body["userProfile"]
        let fields = Self.wanted(sort)
        for member in profile?.members ?? [] {
            guard let field = fields.first(where: { $0.name == member.key }) else {
                throw OktaEngineFailure(400, "errors.E0000001", "Api validation failed: \(member.key)")
            }
            let isKept = field.fixed.map { member.value.string == $0 } ?? true
            let isOffered =
                field.options.isEmpty || field.options.contains { member.value.string == $0.value }
            let isOfType = field.type == "integer" ? member.value.number != nil : member.value.string?.isEmpty == false
            guard isKept, isOffered, isOfType else {
                let key = "registration.error.doesNotMatchPattern"
                throw OktaEngineFailure(400, key, "'\(field.label)' is not valid.", field: field.name)
            }
        }
        for field in fields where field.isRequired && profile?[field.name] == nil {
            throw OktaEngineFailure(
                400,
                "registration.error.doesNotMatchPattern",
                "'\(field.label)' must not be blank.",
                field: field.name
            )
        }
    }

    func beginRegistration(_ flow: inout OktaFlow, _ exchange: OktaExchange) throws(OktaEngineFailure) {
        guard exchange.okta.allowsRegistration, flow.step == .identify || flow.step == .password else { throw .expired }
        (flow.step, flow.goal) = (.profile(.registration), .registration)
    }

    mutating func register(
        _ flow: inout OktaFlow,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaEngineFailure) {
        guard flow.step == .profile(.registration) else { throw .expired }
        try check(.registration, exchange)
        let email = exchange.body["userProfile"]?["email"]?.string ?? ""
        guard email.contains("@") else {
            let text = "'Email' must be in the form of an email address"
            throw OktaEngineFailure(400, "registration.error.invalidLoginEmail", text, field: "email")
        }
        guard account(named: email) == nil else {
            let text = "A user with this Email already exists"
            throw OktaEngineFailure(400, "registration.error.notUniqueWithinOrg", text, field: "email")
        }
        let password = exchange.body["credentials"]?["passcode"]?.string ?? ""
        var user = SandboxUser(email: email, password: password)
        // It is set below, if it is good enough.
        (user.password, user.okta.factors) = (nil, [])
        context.subjects[user.identifier] = context.subjects[user.identifier] ?? "00u" + random.letters(17)
        add(user, context: &context)
        guard let account = account(named: email) else { throw .authentication }
        do {
            try set(password, of: account, exchange)
        } catch {
            forget(account)
            throw OktaEngineFailure(error)
        }
        context.newcomers.append(accounts[account.id]?.user ?? user)
        name(email, in: &flow)
        (flow.goal, flow.hasPassword) = (.signIn, true)
        goOn(&flow)
    }

    private mutating func forget(_ account: OktaAccount) {
        accounts[account.id] = nil
        accountOrder.removeAll { $0 == account.id }
        accountsByLogin = accountsByLogin.filter { $0.value != account.id }
    }

    mutating func update(_ flow: inout OktaFlow, _ exchange: OktaExchange) throws(OktaEngineFailure) {
        guard case .profile(.update(let isOptional)) = flow.step, let id = flow.transaction.account else {
            throw .expired
        }
        try check(.update(isOptional: isOptional), exchange)
        accounts[id]?.isProfileTold = true
        goOn(&flow)
    }
}
