// The endpoints under `/_sandbox/okta`.
extension SandboxWorld {
    /// One line for each endpoint.
    static let oktaControlIndex: [(String, JSONValue)] = [
        ("GET /_sandbox/okta", "Okta's counters (pushes and codes sent, among others) and everybody's state"),
        (
            "POST /_sandbox/okta/push",
            "answer a push that waits: {user, result?: SUCCESS|REJECTED|TIMEOUT or any other word}; {answered}"
        ),
        ("POST /_sandbox/okta/end", "end sessions or transactions from afar: {what?: sessions|transactions, user?}"),
    ]

    /// Answers a request to `/_sandbox/okta…`; nil for one to somewhere else.
    mutating func controlOkta(
        _ name: String,
        _ request: SandboxRequest,
        now: Int64
    ) throws(SandboxError) -> JSONValue? {
        switch name {
        case "GET okta": return okta.view(now: now)
        case "POST okta/push":
            var reader = try ObjectReader(body(request), path: "body")
            guard let user = try reader.string("user") else { throw SandboxError(.invalidInput, "user is missing") }
            let result = try reader.string("result") ?? "SUCCESS"
            try reader.finish()
            return ["answered": .int(Int64(okta.decide(try oktaAccount(user), as: result)))]
        case "POST okta/end":
            var reader = try ObjectReader(body(request), path: "body")
            let what = try reader.word("what", of: ["sessions", "transactions"]) ?? "sessions"
            let user = try reader.string("user")
            try reader.finish()
            let id = try user.map { name throws(SandboxError) in try oktaAccount(name) }
            return ["ended": .int(Int64(okta.end(sessions: what == "sessions", of: id)))]
        default: return nil
        }
    }

    private func oktaAccount(_ name: String) throws(SandboxError) -> String {
        guard let account = okta.account(named: name) else {
            throw SandboxError(.invalidInput, "no such user: \(name)")
        }
        return account.id
    }
}
