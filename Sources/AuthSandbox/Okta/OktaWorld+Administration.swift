import HTTPRecovery

// What an administrator, or the person with their phone, does behind the back of the clients.
extension OktaWorld {
    static let controls: [SandboxControl] = [
        view("GET okta", "Okta's counters (pushes and codes sent, among others) and everybody's state") {
            $0.view(now: $1.now)
        },
        control(
            "POST okta/push",
            PushOrder.self,
            "answer a push that waits: {user, result?: SUCCESS|REJECTED|TIMEOUT or any other word}; {answered}"
        ) { world, order, _ throws(SandboxError) in
            ["answered": .int(world.decide(try world.known(order.user), as: order.result ?? "SUCCESS"))]
        },
        control(
            "POST okta/step_up",
            StepUpOrder.self,
            "begin a step-up of somebody's session, as a browser is sent to a login page with: {user}; {state_token}"
        ) { world, order, context throws(SandboxError) in try world.stepUp(order.user, context) },
        control(
            "POST okta/open_link",
            OpenOrder.self,
            "open the link of the mails that somebody's sign-ins wait for, in another browser: {user}; {opened}"
        ) { world, order, _ throws(SandboxError) in
            ["opened": .int(world.openLinks(of: try world.known(order.user)))]
        },
        control(
            "POST okta/link",
            LinkOrder.self,
            "send somebody a link by an administrator: {user, for?: recovery|activation}; {token}"
        ) { world, order, context throws(SandboxError) in
            let id = try world.known(order.user)
            return ["token": .string(world.link(id, isActivation: order.purpose == "activation", context))]
        },
        control(
            "POST okta/end",
            EndOrder.self,
            "end sessions or transactions from afar: {what?: sessions|transactions, user?}"
        ) { world, order, _ throws(SandboxError) in
            let id = try order.user.map { name throws(SandboxError) in try world.known(name) }
            return ["ended": .int(world.end(sessions: order.what != "transactions", of: id))]
        },
    ]

    /// What `okta/step_up` begins.
    private mutating func stepUp(_ user: String, _ context: SandboxContext) throws(SandboxError) -> JSONValue {
        let life = context.settings.okta.transactionLife
        guard let account = accounts[try known(user)], !account.factors.isEmpty else {
            throw SandboxError(.invalidInput, "\(user) has no factor to step up with")
        }
        return ["state_token": .string(beginStepUp(of: account, now: context.now, life: life))]
    }

    private struct StepUpOrder: SandboxInput {
        var user: String
    }

    private struct OpenOrder: SandboxInput {
        var user: String
    }

    /// Opens the links of mails that flows wait for; tells how many.
    mutating func openLinks(of user: String) -> Int64 {
        let waiting = flows.filter { _, flow in
            flow.transaction.account == user && flow.transaction.challenge?.factor.type == "email"
        }
        for id in waiting.keys { flows[id]?.transaction.challenge?.isLinkOpened = true }
        return Int64(waiting.count)
    }

    private struct LinkOrder: SandboxInput {
        var user: String
        var purpose: String?

        static let words = ["for": ["recovery", "activation"]]

        enum CodingKeys: String, CodingKey {
            case user
            case purpose = "for"
        }
    }

    /// The token of a link that an administrator has sent to somebody.
    mutating func link(_ id: String, isActivation: Bool, _ context: SandboxContext) -> String {
        let token = "re" + random.letters(18)
        if isActivation { accounts[id]?.awaitsActivation = true }
        recoveryTokens[token] = OktaOneTimeToken(
            account: id,
            expiresAt: context.now + 3_600_000,
            recoveryType: isActivation ? "ACCOUNT_ACTIVATION" : "PASSWORD"
        )
        return token
    }

    private struct PushOrder: SandboxInput {
        var user: String
        var result: String?
    }

    private struct EndOrder: SandboxInput {
        var what: String?
        var user: String?

        static let words = ["what": ["sessions", "transactions"]]
    }

    private func known(_ name: String) throws(SandboxError) -> String {
        guard let account = account(named: name) else { throw SandboxError(.invalidInput, "no such user: \(name)") }
        return account.id
    }

    func standings(_ context: SandboxContext) -> [SandboxStanding] {
        let live = sessions.values.filter { $0.expiresAt > context.now }
            .reduce(into: [:]) { $0[$1.account, default: 0] += 1 }
        return accountOrder.compactMap { accounts[$0] }.map { account in
            var standing = SandboxStanding(account.user, now: context.now)
            standing.totp = currentTOTP(account, settings: context.settings, now: context.now)
            (standing.failures, standing.lock) = (account.failures + account.factorFailures, account.lock)
            standing.sessions = live[account.id] ?? 0
            return standing
        }
    }

    /// The code that somebody's authenticator shows; the next one where the present one was used up.
    func currentTOTP(_ account: OktaAccount, settings: SandboxSettings, now: Int64) -> String? {
        let held = account.factors.first { $0.type == "token:software:totp" }?.secret
        // An app that is being set up shows its codes already.
        let pending = (Array(transactions.values) + flows.values.map(\.transaction))
            .first { $0.account == account.id && $0.challenge?.factor.secret != nil }
        guard let text = held ?? pending?.challenge?.factor.secret, let secret = Base32.decode(text) else { return nil }
        var step = TOTP.step(atMilliseconds: now)
        if settings.isTOTPSingleUse, let last = account.lastTOTPStep, last >= step { step = last + 1 }
        return TOTP.code(secret: secret, step: step)
    }

    /// Answers the pushes of somebody who is being waited for.
    ///
    /// - Returns: How many were answered.
    mutating func decide(_ user: String, as result: String) -> Int {
        var count = 0
        for (token, transaction) in transactions where transaction.account == user {
            guard transaction.challenge?.factor.type == "push", transaction.challenge?.result == "WAITING" else {
                continue
            }
            transactions[token]?.challenge?.decision = result
            count += 1
        }
        for (id, flow) in flows where flow.transaction.account == user {
            guard flow.transaction.challenge?.result == "WAITING" else { continue }
            flows[id]?.transaction.challenge?.decision = result
            count += 1
        }
        for (handle, transaction) in directTransactions
        where transaction.account == user && transaction.challenge.factor.type == "push" {
            directTransactions[handle]?.challenge.decision = result
            count += 1
        }
        return count
    }

    /// Ends sessions or transactions from afar; tells how many.
    mutating func end(sessions ends: Bool, of id: String?) -> Int {
        if ends {
            let before = sessions.count
            sessions = sessions.filter { id != nil && $0.value.account != id }
            return before - sessions.count
        }
        let before = transactions.count
        transactions = transactions.filter { id != nil && $0.value.account != id }
        return before - transactions.count
    }

    /// The counters and everybody's state, without secrets.
    func view(now: Int64) -> JSONValue {
        let people: [JSONValue] = accountOrder.compactMap { accounts[$0] }.map { account in
            let factors: [JSONValue] = account.factors.map { ["id": .string($0.id), "type": .string($0.type)] }
            let live = transactions.values.filter { $0.account == account.id && $0.expiresAt > now }
            return [
                "id": .string(account.id),
                "login": .string(account.login),
                "password": .string(account.passwordStatus),
                "factors": .array(factors),
                "failures": .int(account.failures),
                "factor_failures": .int(account.factorFailures),
                "locked_s": account.lock.json(now: now),
                "pushes_sent": .int(account.pushesSent),
                "transactions": .array(live.map(\.status).sorted().map(JSONValue.string)),
                "sessions": .int(Int64(sessions.values.count { $0.account == account.id && $0.expiresAt > now })),
            ]
        }
        return ["counters": JSONValue(of: counters), "users": .array(people)]
    }
}
