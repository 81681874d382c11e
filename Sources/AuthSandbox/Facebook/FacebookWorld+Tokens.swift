import HTTPRecovery

// Tokens: whose they are, whether they are good, and how they are obtained.
extension FacebookWorld {
    /// Issues a token.
    mutating func issue(
        _ person: String,
        page: String? = nil,
        behaviour: SandboxFacebookBehaviour = .good,
        scopes: [String] = ["public_profile"],
        expiresAt: Int64?,
        now: Int64
    ) -> String {
        let value = "EAAS" + random.letters(48)
        tokens[value] = FacebookToken(
            person: person,
            page: page,
            behaviour: behaviour,
            scopes: scopes,
            issuedAt: now,
            expiresAt: expiresAt
        )
        return value
    }

    /// Why a token is refused; nil for one that is good.
    func refusal(of token: FacebookToken, now: Int64) -> SandboxFacebookBehaviour? {
        if token.behaviour != .good { return token.behaviour }
        if let person = people[token.person] {
            if token.issuedAt <= person.appRemovedAt { return .removed }
            if token.issuedAt <= person.passwordChangedAt { return .passwordChanged }
        }
        return token.expiresAt.map { $0 <= now } == true ? .expired : nil
    }

    /// Whose token a request presents; nil without one.
    func principal(of exchange: FacebookExchange) throws(FacebookFailure) -> FacebookPrincipal? {
        guard let token = exchange.token else { return nil }
        let settings = exchange.settings
        if token == "\(settings.appID)|\(settings.appSecret)" { return .app }
        if token == "\(settings.appID)|\(settings.clientToken)" { return .client }
        if token.contains("|") { throw FacebookFailure(190, nil, "Invalid OAuth access token signature.") }
        guard let known = tokens[token] else { throw .malformedToken }
        return .person(known.person, page: known.page)
    }

    /// The same, for a call that the token has to be good for, with the proof of the app's secret where one is wanted.
    mutating func admittedPrincipal(of exchange: FacebookExchange) throws(FacebookFailure) -> FacebookPrincipal? {
        let principal: FacebookPrincipal?
        do {
            principal = try self.principal(of: exchange)
        } catch {
            try admit(exchange)
            throw error
        }
        guard case .person(let person, _) = principal, let text = exchange.token, let token = tokens[text] else {
            try admit(exchange)
            return principal
        }
        try admit(exchange, by: person)
        if let behaviour = refusal(of: token, now: exchange.now) {
            throw .token(behaviour, hidesSubcode: exchange.settings.hidesSubcodes)
        }
        try checkProof(exchange, of: text)
        return principal
    }

    private mutating func checkProof(_ exchange: FacebookExchange, of token: String) throws(FacebookFailure) {
        guard let proof = exchange.value("appsecret_proof") else {
            if exchange.settings.requiresProof {
                counters.refusedProofs += 1
                throw .noProof
            }
            return
        }
        let code = HMAC.sha256(Array(token.utf8), key: Array(exchange.settings.appSecret.utf8))
        guard Hexadecimal.encode(code) == proof else {
            counters.refusedProofs += 1
            throw .proof
        }
    }

    // MARK: The token endpoint

    mutating func tokenAnswer(_ exchange: FacebookExchange) throws(FacebookFailure) -> JSONValue {
        try admit(exchange)
        let settings = exchange.settings
        guard try exchange.required("client_id") == settings.appID else {
            throw FacebookFailure(
                101,
                nil,
                "Error validating application. Cannot get application info due to a system error."
            )
        }
        let grant = exchange.value("grant_type") ?? "authorization_code"
        // The oldest of the ways is for apps without their secret, and so is a code with a verifier.
        let isProved = grant == "authorization_code" && exchange.value("code_verifier") != nil
        if grant != "fb_extend_sso_token", !isProved {
            guard try exchange.required("client_secret") == settings.appSecret else {
                throw FacebookFailure(1, nil, "Error validating client secret.", status: 400)
            }
        }
        switch grant {
        case "authorization_code": return try redeem(exchange)
        case "client_credentials":
            return ["access_token": .string("\(settings.appID)|\(settings.appSecret)"), "token_type": "bearer"]
        case "fb_exchange_token":
            let fresh = try exchanged(try exchange.required("fb_exchange_token"), exchange)
            return [
                "access_token": .string(fresh), "token_type": "bearer",
                "expires_in": .int(settings.longTokenLife / 1000),
            ]
        case "fb_extend_sso_token":
            guard let token = exchange.token else { throw .noToken }
            let end = (exchange.now + settings.longTokenLife) / 1000
            return [
                "access_token": .string(try exchanged(token, exchange)), "expires_at": .int(end),
                "data_access_expiration_time": .int(exchange.now / 1000 + 7_776_000),
            ]
        default: throw .parameter("Invalid grant_type")
        }
    }

    private mutating func exchanged(_ text: String, _ exchange: FacebookExchange) throws(FacebookFailure) -> String {
        guard let token = tokens[text] else { throw .malformedToken }
        if let behaviour = refusal(of: token, now: exchange.now) {
            throw .token(behaviour, hidesSubcode: exchange.settings.hidesSubcodes)
        }
        counters.exchanges += 1
        return issue(
            token.person,
            page: token.page,
            scopes: token.scopes,
            expiresAt: exchange.now + exchange.settings.longTokenLife,
            now: exchange.now
        )
    }

    /// What is asked for, with commas or spaces between.
    static func scopes(_ exchange: FacebookExchange) -> [String] {
        let text = exchange.value("scope") ?? "public_profile"
        return text.split { $0 == "," || $0 == " " }.prefix(100).map(String.init)
    }

    /// Asks a person for permissions; tells those that were granted.
    mutating func grant(_ scopes: [String], to id: String) -> [String] {
        guard var person = people[id] else { return [] }
        for scope in scopes {
            person.set(scope, person.user.facebook.declines.contains(scope) ? "declined" : "granted")
        }
        people[id] = person
        return person.permissions.filter { $0.status == "granted" }.map(\.name)
    }

    // MARK: The debugger

    mutating func inspection(_ exchange: FacebookExchange) throws(FacebookFailure) -> JSONValue {
        try admit(exchange)
        switch try principal(of: exchange) {
        case .app: break
        case .person:
            if let token = exchange.token.flatMap({ tokens[$0] }), let why = refusal(of: token, now: exchange.now) {
                throw .token(why)
            }
        case .client, nil:
            throw .parameter("You must provide an app access token, or a user access token that is an owner of the app")
        }
        counters.inspections += 1
        let text = try exchange.required("input_token")
        var data: JSONValue = [
            "app_id": .string(exchange.settings.appID), "application": "Sandbox",
        ]
        guard let token = tokens[text] else {
            data = ["is_valid": false, "scopes": []]
            return [
                "data": data.adding("error", ["code": 190, "message": .string(FacebookFailure.malformedToken.message)])
            ]
        }
        let behaviour = refusal(of: token, now: exchange.now)
        data = data.adding("type", token.page == nil ? "USER" : "PAGE")
            .adding("user_id", .string(token.person))
            .adding("is_valid", .bool(behaviour == nil))
            .adding("issued_at", .int(token.issuedAt / 1000))
            .adding("expires_at", .int((token.expiresAt ?? 0) / 1000))
            .adding("data_access_expires_at", .int(token.issuedAt / 1000 + 7_776_000))
            .adding("scopes", .array(token.scopes.map(JSONValue.string)))
            .adding("granular_scopes", .array(granularScopes(of: token)))
        if let page = token.page { data = data.adding("profile_id", .string(page)) }
        if let behaviour {
            var error: JSONValue = ["code": 190, "message": .string(behaviour.message)]
            if let subcode = behaviour.subcode { error = error.adding("subcode", .int(subcode)) }
            data = data.adding("error", error)
        }
        return ["data": data]
    }

    /// What the permissions about pages hold for: all, or those that the person has not left out.
    private func granularScopes(of token: FacebookToken) -> [JSONValue] {
        guard let user = people[token.person]?.user.facebook else { return [] }
        let ids: [JSONValue] = user.pages.filter { !user.leavesOut.contains($0) }.map(JSONValue.string)
        return token.scopes.filter { $0.hasPrefix("pages_") }.map { scope in
            let entry: JSONValue = ["scope": .string(scope)]
            return user.leavesOut.isEmpty ? entry : entry.adding("target_ids", .array(ids))
        }
    }
}
