// The endpoints under `/_sandbox/forgerock`.
extension SandboxWorld {
    /// One line for each endpoint.
    static let forgerockControlIndex: [(String, JSONValue)] = [
        (
            "GET /_sandbox/forgerock",
            "PingAM's counters, journeys, accounts and live sessions; fingerprints stand for the tokens"
        ),
        (
            "POST /_sandbox/forgerock/session",
            #"sign somebody in at once: {user, realm?: "/alpha"}; answered with {tokenId, cookieName, realm}"#
        ),
        ("POST /_sandbox/forgerock/end", "end sessions from afar: {user?}; answered with {ended}"),
        ("POST /_sandbox/forgerock/lock", "lock an account: {user, seconds: a number, or null until somebody unlocks}"),
        ("POST /_sandbox/forgerock/unlock", "unlock an account: {user}"),
        (
            "POST /_sandbox/forgerock/revoke",
            "end tokens from afar: {user?, what?: all|access}; access leaves the refresh tokens"
        ),
    ]

    /// Answers a request to `/_sandbox/forgerock…`; nil for one to somewhere else.
    mutating func controlForgeRock(
        _ name: String,
        _ request: SandboxRequest,
        now: Int64
    ) throws(SandboxError) -> JSONValue? {
        guard name.contains(" forgerock") else { return nil }
        if name == "GET forgerock" { return forgerock.view(settings: settings.forgerock, now: now) }
        var reader = try ObjectReader(body(request), path: "body")
        let user = try reader.string("user")
        func named() throws(SandboxError) -> String {
            guard let user else { throw SandboxError(.invalidInput, "user is missing") }
            return user
        }
        switch name {
        case "POST forgerock/session":
            let realm = try reader.string("realm") ?? "/alpha"
            try reader.finish()
            let token = try forgerock.issueSession(
                for: named(),
                realm: realm,
                settings: settings.forgerock,
                now: now
            )
            return [
                "tokenId": .string(token), "cookieName": .string(settings.forgerock.cookieName),
                "realm": .string(realm),
            ]
        case "POST forgerock/end":
            try reader.finish()
            return ["ended": .int(Int64(forgerock.endSessions(of: user)))]
        case "POST forgerock/lock":
            guard let value = reader.value("seconds") else { throw SandboxError(.invalidInput, "seconds is missing") }
            try reader.finish()
            let time = value == .null ? nil : try ObjectReader.milliseconds(value, what: "seconds")
            try forgerock.lock(named(), for: time, now: now)
            return ["locked": .optional(user)]
        case "POST forgerock/unlock":
            try reader.finish()
            try forgerock.lock(named(), for: 0, now: now)
            return ["unlocked": .optional(user)]
        case "POST forgerock/revoke":
            let what = try reader.word("what", of: ["all", "access"]) ?? "all"
            try reader.finish()
            let subject = try user.map { name throws(SandboxError) in
                guard let account = forgerock.account(named: name) else {
                    throw SandboxError(.invalidInput, "no such user: \(name)")
                }
                return account.name
            }
            let ended = try forgerock.oauth.revoke(
                family: nil,
                user: subject,
                client: nil,
                accessOnly: what == "access",
                now: now
            )
            return [
                "families_revoked": .int(Int64(ended.families)),
                "access_tokens_revoked": .int(Int64(ended.accessTokens)),
            ]
        default:
            return nil
        }
    }
}
