// The endpoints under `/_sandbox/clerk`.
extension SandboxWorld {
    /// One line for each endpoint.
    static let clerkControlIndex: [(String, JSONValue)] = [
        (
            "POST /_sandbox/clerk/ticket",
            """
            make a ticket: {user} to sign in with or {email} as an invitation, expires_s?: default 1800; answered with \
            {ticket}
            """
        )
    ]

    /// Answers a request to `/_sandbox/clerk…`; nil for one to somewhere else.
    mutating func controlClerk(
        _ name: String,
        _ request: SandboxRequest,
        now: Int64
    ) throws(SandboxError) -> JSONValue? {
        guard name == "POST clerk/ticket" else { return nil }
        var reader = try ObjectReader(body(request), path: "body")
        let (user, email) = (try reader.string("user"), try reader.string("email"))
        let life = try reader.seconds("expires_s") ?? 1_800_000
        try reader.finish()
        guard (user == nil) != (email == nil) else { throw SandboxError(.invalidInput, "user or email is needed") }
        let account = user.flatMap { clerk.account(named: $0)?.id }
        if let user, account == nil { throw SandboxError(.invalidInput, "no such user: \(user)") }
        let ticket = clerk.makeTicket(account: account, email: email, life: life, now: now, random: &random)
        return ["ticket": .string(ticket)]
    }
}
