import HTTPRecovery
import HTTPRecoveryTesting

// The identity engine: how a flow begins, and which step a request is.
extension OktaWorld {
    /// Whether the org runs on it, as it says of itself.
    func organization(_ exchange: OktaExchange) -> SandboxResponse {
        .json([
            "id": "00osandbox",
            "_links": ["organization": ["href": .string(exchange.origin)]],
            "pipeline": exchange.okta.isIdentityEngine ? "idx" : "v1",
            "settings": ["analyticsCollectionEnabled": false, "omEnabled": false],
        ])
    }

    /// Begins an interaction for an app.
    mutating func interact(_ request: SandboxRequest, context: SandboxContext) -> SandboxResponse {
        func refuse(_ word: String, _ text: String) -> SandboxResponse { OAuthFailure(word, text).response }
        guard request.method == "POST" else { return OAuthFailure.notFound.response }
        let settings = context.settings.okta
        guard settings.isIdentityEngine, settings.allowsInteractionCode else {
            return refuse("access_denied", "The interaction code grant is not enabled.")
        }
        if let failure = settings.failure(ofGrant: "interaction_code") { return failure.response }
        let form = Dictionary(FormEncoding.fields(request.body).map { ($0.name, $0.value) }) { first, _ in first }
        guard let client = Self.clientID(of: request, form), let redirect = form["redirect_uri"],
            let state = form["state"]
        else {
            return refuse("invalid_request", "The client_id, the redirect_uri or the state is missing.")
        }
        guard let challenge = form["code_challenge"], form["code_challenge_method"] == "S256" else {
            return refuse("invalid_request", "PKCE code challenge is required.")
        }
        if let age = form["max_age"], Int64(age).map({ $0 < 0 }) ?? true {
            return refuse("invalid_request", "The 'max_age' is not a number of seconds.")
        }
        let links = ["recovery_token", "activation_token"].filter { form[$0] != nil }
        let held = links.first.flatMap { form[$0] }.flatMap { recoveryTokens[$0] }
        let isLinked = held.map { $0.link == links.first && leadsOn($0, now: context.now) } ?? links.isEmpty
        guard links.count < 2, isLinked else {
            return refuse("invalid_request", "The '\(links.first ?? "")' is invalid.")
        }
        let id = random.letters(22)
        var flow = OktaFlow(
            id: id,
            request: OktaFlow.Request(
                handle: random.letters(43),
                client: client,
                scope: (form["scope"] ?? "openid").split(separator: " ").map(String.init),
                redirectURI: redirect,
                state: state,
                nonce: form["nonce"],
                challenge: challenge,
                acr: form["acr_values"]?.split(separator: " ").first.map(String.init),
                loginHint: form["login_hint"],
                linkToken: links.first.flatMap { form[$0] },
                base: String(request.path.dropLast("/v1/interact".count))
            ),
            transaction: OktaTransaction(
                token: id,
                account: nil,
                login: "",
                status: "UNAUTHENTICATED",
                expiresAt: context.now + settings.transactionLife
            )
        )
        counters.transactions += 1
        if settings.probesDevice { flow.step = .probe }
        flow.wantsConsent = settings.asksConsent
        if let held, let account = accounts[held.account] {
            name(account.login, in: &flow)
            flow.goal = held.link == "recovery_token" ? .recovery : .signIn
            flow.step = .newPassword(flow.goal == .recovery ? "reset-authenticator" : "enroll-authenticator")
        }
        flows[id] = flow
        return .json(["interaction_handle": .string(flow.request.handle)])
    }

    /// Which app a request names: in its form, or where it proves itself.
    static func clientID(of request: SandboxRequest, _ form: [String: String]) -> String? {
        if let id = form["client_id"] { return id }
        let parts = (request.header("authorization") ?? "").split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "basic", let bytes = Base64.decode(parts[1].utf8) else {
            return nil
        }
        let name = String(decoding: bytes.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
        return FormEncoding.decode(Array(name.utf8), plusIsSpace: true)
    }

    /// Answers a step of a flow.
    mutating func engine(_ exchange: OktaExchange, context: inout SandboxContext) -> SandboxResponse {
        guard exchange.okta.isIdentityEngine else {
            return .json(OktaFailure.path.body(id: "oaeSandbox"), status: 404)
        }
        guard var flow = flow(of: exchange), flow.transaction.expiresAt > exchange.now else {
            return ion(of: .expired, nil, exchange)
        }
        flow.transaction.expiresAt = exchange.now + exchange.okta.transactionLife
        var failure: OktaEngineFailure?
        do throws(OktaEngineFailure) {
            if exchange.route.parts != ["introspect"] {
                // Every answer has a handle of its own, and the one before is of no use for a step.
                guard exchange.text("stateHandle") == flow.handle else { throw .expired }
                try take(&flow, exchange, context: &context)
            }
        } catch {
            failure = error
        }
        // Who was sent away because of a limit may come again with the same.
        if failure?.status != 429 { flow.answers += 1 }
        guard failure?.isEnd != true else {
            flows[flow.id] = nil
            return ion(of: failure, nil, exchange)
        }
        flows[flow.id] = flow
        let isOver = flow.step == .done && flow.goal == .unlock
        if isOver { flows[flow.id] = nil }
        if flow.step == .done, !isOver, code(of: flow) == nil { issueCode(for: flow, context: &context) }
        return isOver ? unlocked(flow, exchange) : ion(of: failure, flow, exchange)
    }

    private func flow(of exchange: OktaExchange) -> OktaFlow? {
        if let handle = exchange.text("stateHandle") ?? exchange.text("stateToken") {
            return OktaFlow.id(in: handle).flatMap { flows[$0] }
        }
        let handle = exchange.text("interactionHandle")
        return handle.flatMap { handle in flows.values.first { $0.request.handle == handle } }
    }

    /// The code that a flow has ended with.
    func code(of flow: OktaFlow) -> String? { interactionCodes[flow.id] }

    /// Ends a flow with a code for the token endpoint, good for a minute.
    mutating func issueCode(for flow: OktaFlow, context: inout SandboxContext) {
        let code = "ic_" + random.letters(32)
        interactionCodes[flow.id] = code
        let authentication = OAuthAuthentication(time: context.now, acr: flow.request.acr, nonce: flow.request.nonce)
        context.interactionCodes[code] = OAuthCode(
            grant: OAuthGrant(
                client: flow.request.client,
                subject: flow.transaction.account ?? "",
                scope: flow.request.scope,
                authentication: authentication
            ),
            redirectURI: flow.request.redirectURI,
            challenge: flow.request.challenge,
            challengeMethod: "S256",
            expiresAt: context.now + 60_000
        )
    }

    // MARK: Steps

    private mutating func take(
        _ flow: inout OktaFlow,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaEngineFailure) {
        switch exchange.route.parts.joined(separator: "/") {
        case "cancel":
            flow.transaction.challenge = nil
            (flow.step, flow.goal, flow.hasPassword, flow.transaction.hasVerified) = (.identify, .signIn, false, false)
        case "identify": try identify(&flow, exchange, context: &context)
        case "unlock-account":
            (flow.step, flow.goal) = (.select, .unlock)
        case "recover":
            guard flow.step == .password, let account = account(of: flow) else { throw .expired }
            guard account.user.okta.mayRecover else {
                throw OktaEngineFailure(403, "oie.selfservice.reset.password.not.allowed", "Reset is not allowed.")
            }
            (flow.step, flow.goal) = (.select, .recovery)
        case "challenge": try challenge(&flow, exchange, context: &context)
        case "challenge/answer": try answer(&flow, exchange, context: &context)
        case "challenge/resend": try resend(&flow, exchange, context: &context)
        case "challenge/poll", "authenticators/poll":
            // Nothing answers on a device that has no such app.
            if flow.step != .probe { try poll(&flow, exchange) }
        case "authenticators/poll/cancel": try goOnWithoutPage(&flow)
        case "consent": try consent(&flow, exchange)
        case "credential/enroll": try enroll(&flow, exchange, context: &context)
        case "challenge/send": try sendLink(&flow, exchange, context: &context)
        case "enroll": try beginRegistration(&flow, exchange)
        case "identify/select":
            guard flow.step == .profile(.registration) else { throw .expired }
            (flow.step, flow.goal) = (.identify, .signIn)
        case "enroll/new": try register(&flow, exchange, context: &context)
        case "enroll/update": try update(&flow, exchange)
        case "skip":
            guard isSkippable(flow) else { throw .expired }
            flow.hasSkipped = true
            goOn(&flow)
        default: throw OktaEngineFailure(404, "core.system.transaction_resource_not_found", "Not found.", isEnd: true)
        }
    }

    /// No page speaks to Okta Verify on the device: it goes on with an address, or without it.
    private func goOnWithoutPage(_ flow: inout OktaFlow) throws(OktaEngineFailure) {
        if flow.step == .probe { return flow.step = .identify }
        guard flow.step == .verify, flow.transaction.challenge?.factor.type == "signed_nonce" else { throw .expired }
        flow.transaction.challenge?.isOpened = true
    }

    private mutating func consent(
        _ flow: inout OktaFlow,
        _ exchange: OktaExchange
    ) throws(OktaEngineFailure) {
        guard flow.step == .consent, let isGiven = exchange.body["consent"]?.bool else { throw .expired }
        guard isGiven else {
            throw OktaEngineFailure(403, "security.access_denied", "You do not have permission.", isEnd: true)
        }
        if exchange.okta.isConsentGranular {
            let opted = exchange.body["optedScopes"]
            flow.request.scope.removeAll { $0 != "openid" && opted?[$0]?.bool != true }
        }
        flow.wantsConsent = false
        goOn(&flow)
    }

    func account(of flow: OktaFlow) -> OktaAccount? { flow.transaction.account.flatMap { accounts[$0] } }

    private mutating func identify(
        _ flow: inout OktaFlow,
        _ exchange: OktaExchange,
        context: inout SandboxContext
    ) throws(OktaEngineFailure) {
        guard flow.step == .identify, exchange.okta.identityProvider != "only" else { throw .expired }
        try checkCaptcha(exchange)
        guard let name = exchange.text("identifier") else {
            throw OktaEngineFailure(400, "error.username.required", "Enter a username", field: "identifier")
        }
        self.name(name, in: &flow)
        if exchange.okta.identifiesWithPassword {
            try check(password: exchange.body["credentials"]?["passcode"]?.string ?? "", &flow, context: &context)
            return goOn(&flow)
        }
        // Somebody whom the org does not know is asked for a password like anybody else.
        flow.step = .password
    }

    /// Tries a password; a locked account, and one that does not exist, look like a wrong one.
    mutating func check(
        password: String,
        _ flow: inout OktaFlow,
        context: inout SandboxContext
    ) throws(OktaEngineFailure) {
        counters.passwordAttempts += 1
        guard let account = account(of: flow), let secret = account.user.password else { throw .authentication }
        let showsLock = account.user.okta.showsLockout ?? context.settings.okta.showsLockout
        if isLocked(account.id, now: context.now) { throw showsLock ? .locked : .authentication }
        guard password == secret, account.user.state == "active" else {
            if password != secret, notePasswordFailure(account.id, &context), showsLock { throw .locked }
            throw .authentication
        }
        noteRightPassword(of: account.id)
        flow.hasPassword = true
    }

    /// Whether what is wanted may be left out.
    func isSkippable(_ flow: OktaFlow) -> Bool {
        switch flow.step {
        case .newPassword("reenroll-authenticator-warning"): true
        case .enroll: account(of: flow)?.enrollments.contains(where: \.isRequired) == false
        case .profile(.update(let isOptional)): isOptional
        default: false
        }
    }

    /// Goes on behind what was proved: to the next factor, to what has to be set up, or to the end.
    mutating func goOn(_ flow: inout OktaFlow) {
        flow.transaction.challenge = nil
        flow.failures = 0
        guard let account = account(of: flow) else { return flow.step = .password }
        if !flow.hasPassword {
            flow.step = .password
        } else if account.passwordStatus == "expired" || account.passwordStatus == "reset" {
            flow.step = .newPassword("reenroll-authenticator")
        } else if account.passwordStatus == "warn", !flow.hasSkipped {
            flow.step = .newPassword("reenroll-authenticator-warning")
        } else if !account.factors.isEmpty, !flow.transaction.hasVerified {
            flow.step = .select
        } else if let wanted = wantedProfile(of: account, flow) {
            flow.step = .profile(wanted)
        } else if account.enrollments.contains(where: { $0.isRequired || !flow.hasSkipped }) {
            flow.step = .enroll
        } else if flow.wantsConsent {
            flow.step = .consent
        } else {
            flow.step = .done
        }
    }

    /// Takes down whose flow it is.
    func name(_ name: String, in flow: inout OktaFlow) {
        let account = account(named: name)
        flow.transaction = OktaTransaction(
            token: flow.id,
            account: account?.id,
            login: account?.login ?? name,
            status: "UNAUTHENTICATED",
            expiresAt: flow.transaction.expiresAt
        )
    }
}
