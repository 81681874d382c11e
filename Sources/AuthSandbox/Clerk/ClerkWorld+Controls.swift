import HTTPRecovery

// What a test does behind the back of Clerk's clients.
extension ClerkWorld {
    static let controls: [SandboxControl] = [
        SandboxControl(
            "GET totp",
            query: "?user=",
            "the code that a person's authenticator shows now: {code, seconds_left}"
        ) { world, request throws(SandboxError) in
            let account = try world.clerk.known(request.queryItem("user"))
            let now = world.context.now
            guard let code = world.clerk.currentTOTP(account, settings: world.settings, now: now) else {
                throw SandboxError(.invalidInput, "no such secret: this user has no authenticator")
            }
            return ["code": .string(code), "seconds_left": .int(TOTP.stepSeconds - now / 1000 % TOTP.stepSeconds)]
        },
        view("GET users", "everybody's state: {users: […]}") { world, context in
            ["users": world.usersView(context.settings, now: context.now)]
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
            let ticket = world.makeTicket(
                account: account,
                email: order.email,
                life: order.life ?? 1_800_000,
                now: context.now,
                random: &context.random
            )
            return ["ticket": .string(ticket)]
        },
    ]

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
}
