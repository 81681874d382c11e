import HTTPRecovery

// What a test or an administrator does behind the back of Clerk's clients.
extension ClerkWorld {
    static let controls: [SandboxControl] = [
        SandboxControl(
            "GET totp",
            query: "?user=",
            "the code that a person's authenticator shows now: {code, seconds_left}"
        ) { world, request throws(SandboxError) in
            let account = try world.clerk.known(request.queryItem("user"))
            guard let code = world.clerk.currentTOTP(account, world.context) else {
                throw SandboxError(.invalidInput, "no such secret: this user has no authenticator")
            }
            let left = TOTP.stepSeconds - world.context.now / 1000 % TOTP.stepSeconds
            return ["code": .string(code), "seconds_left": .int(left)]
        },
        view("GET users", "everybody's state: {users: […]}") { world, context in
            ["users": .array(world.accountOrder.map { world.stateView($0, now: context.now) })]
        },
        .reading("POST users", SandboxUser.self, "add a person, as in a scenario's users: {id, identifier}") {
            world,
            user in
            world.add(user)
            let id = world.clerk.account(named: user.identifier)?.id
            return ["id": .optional(id), "identifier": .string(user.identifier)]
        },
        .reading(
            "POST lock",
            LockOrder.self,
            "lock a person: {user, seconds: a number, or null until somebody unlocks}"
        ) { world, order throws(SandboxError) in
            let user = try world.clerk.known(order.user).user.identifier
            world.lock(user, order.lock(now: world.context.now))
            return ["locked": .string(user)]
        },
        .reading("POST unlock", NamedUser.self, "unlock a person: {user}") { world, order throws(SandboxError) in
            let user = try world.clerk.known(order.user).user.identifier
            world.lock(user, .open)
            return ["unlocked": .string(user)]
        },
        control(
            "POST revoke",
            RevokeOrder.self,
            """
            end sessions from afar: {session? or client? or user?, status?: revoked|expired|ended|removed|replaced|\
            abandoned, answer?: authentication_invalid|signed_out|resource_not_found|session_status}; {} ends all
            """
        ) { world, order, context throws(SandboxError) in
            if let user = order.user { _ = try world.known(user) }
            return ["ended": .texts(world.endSessions(order, now: context.now))]
        },
        control(
            "POST clerk/ticket",
            TicketOrder.self,
            """
            make a ticket: {user} to sign in with or {email} as an invitation, expires_s?: default 1800; answered with \
            {ticket}
            """
        ) { world, order, context throws(SandboxError) in
            guard (order.user == nil) != (order.email == nil) else {
                throw SandboxError(.invalidInput, "user or email is needed")
            }
            let account = try order.user.map { user throws(SandboxError) in try world.known(user).id }
            let end = context.now + (order.life ?? 1_800_000)
            let ticket = ClerkTicket(account: account, email: order.email, expiresAt: end)
            return ["ticket": .string(world.make(ticket, &context.random))]
        },
        control(
            "POST clerk/identity",
            IdentityOrder.self,
            """
            make an ID token of another provider, as `oauth_token_…` and `google_one_tap` take them: {email, provider?: \
            default google}; answered with {token}
            """
        ) { world, order, context throws(SandboxError) in
            let token = context.random.identifier("idt_") + context.random.letters(24)
            world.identities[token] = (order.email, order.provider ?? "google")
            return ["token": .string(token)]
        },
    ]

    private struct IdentityOrder: SandboxInput {
        var email: String
        var provider: String?
    }

    /// Which sessions to end: all that fit.
    struct RevokeOrder: SandboxInput {
        var user: String?
        var client: String?
        var session: String?
        var status: String?
        var answer: String?

        static let words = [
            "status": ["revoked", "expired", "ended", "removed", "replaced", "abandoned"],
            "answer": ["authentication_invalid", "signed_out", "resource_not_found", "session_status"],
        ]
    }

    private struct TicketOrder: SandboxInput {
        var user: String?
        var email: String?
        var life: Int64?

        enum CodingKeys: String, CodingKey {
            case user, email
            case life = "expires_s"
        }
    }

    private func known(_ name: String?) throws(SandboxError) -> ClerkAccount {
        guard let name, !name.isEmpty else { throw SandboxError(.invalidInput, "user is missing") }
        guard let account = account(named: name) else { throw SandboxError(.invalidInput, "no such user: \(name)") }
        return account
    }

    /// Ends the sessions of a person, those of a client, or a single one, and tells their ids.
    mutating func endSessions(_ order: RevokeOrder, now: Int64) -> [String] {
        let account = order.user.flatMap { self.account(named: $0)?.id }
        let chosen = sessions.values.filter { session in
            session.isLive && (order.user == nil || session.account == account)
                && order.client ?? session.client == session.client && order.session ?? session.id == session.id
        }
        for session in chosen {
            finish(session.id, as: order.status ?? "revoked", now: now)
            sessions[session.id]?.endedCode = order.answer
        }
        return chosen.map(\.id).sorted()
    }

    func standings(_ context: SandboxContext) -> [SandboxStanding] {
        let live = sessions.values.filter(\.isLive).reduce(into: [:]) { $0[$1.account, default: 0] += 1 }
        return accountOrder.compactMap { accounts[$0] }.map { account in
            var standing = SandboxStanding(account.user, now: context.now)
            standing.totp = currentTOTP(account, context)
            (standing.failures, standing.lock) = (account.failures, account.lock)
            standing.sessions = live[account.id] ?? 0
            return standing
        }
    }

    func links(callback: String, _ context: SandboxContext) -> [SandboxLink] {
        visits.filter { !$0.value.isOver }.sorted { $0.key < $1.key }.suffix(20).map { state, visit in
            SandboxLink("Clerk: \(visit.strategy) for a sign-in that waits", Self.visitPath, ["state": state])
        }
    }

    /// The TOTP code that somebody's authenticator shows; the next one if the present one was used up.
    func currentTOTP(_ account: ClerkAccount, _ context: SandboxContext) -> String? {
        guard let secret = account.user.totpSecret.flatMap(Base32.decode) else { return nil }
        var step = TOTP.step(atMilliseconds: context.now)
        if context.settings.isTOTPSingleUse, let last = account.lastTOTPStep, last >= step { step = last + 1 }
        return TOTP.code(secret: secret, step: step)
    }

    /// Somebody's state, without secrets.
    private func stateView(_ id: String, now: Int64) -> JSONValue {
        guard let account = accounts[id] else { return .null }
        let live = sessions.values.filter { $0.account == id && $0.isLive }
        return [
            "id": .string(id), "identifier": .string(account.user.identifier),
            "emails": .texts(account.user.emails), "phones": .texts(account.user.phones),
            "state": .string(account.user.state), "password_state": .string(account.user.passwordState),
            "first_factors": .texts(account.firstFactors), "second_factors": .texts(account.secondFactors),
            "failures": .int(account.failures), "locked_s": account.lock.json(now: now),
            "sessions": .texts(live.map(\.id).sorted()),
        ]
    }
}
