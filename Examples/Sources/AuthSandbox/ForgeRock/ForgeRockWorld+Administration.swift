// What an administrator, or a test, does behind the back of the clients.
extension ForgeRockWorld {
    private func known(_ name: String) throws(SandboxError) -> ForgeRockAccount {
        guard let account = account(named: name) else { throw SandboxError(.invalidInput, "no such user: \(name)") }
        return account
    }

    /// Ends sessions, and tells how many there were.
    mutating func endSessions(of name: String?, realm: String? = nil) -> Int {
        let owner = name.flatMap { account(named: $0)?.name.lowercased() }
        var ended = 0
        for (token, session) in sessions where !session.isOver {
            guard name == nil || session.account == owner, realm == nil || session.realm == realm else { continue }
            sessions[token]?.isOver = true
            ended += 1
        }
        return ended
    }

    /// Signs somebody in at once.
    mutating func issueSession(
        for name: String,
        realm: String,
        settings: SandboxForgeRockSettings,
        now: Int64
    ) throws(SandboxError) -> String {
        let account = try known(name)
        let path = "/" + realm.split(separator: "/").joined(separator: "/")
        guard path == "/" || settings.realms.contains(path) else {
            throw SandboxError(.invalidInput, "no such realm: \(path)")
        }
        return makeSession(
            account: account.name.lowercased(),
            realm: path,
            journeys: [settings.defaultJourney],
            now: now
        )
    }

    /// Locks an account, for so many milliseconds or until somebody unlocks; 0 unlocks.
    mutating func lock(_ name: String, for time: Int64?, now: Int64) throws(SandboxError) {
        let key = try known(name).name.lowercased()
        switch time {
        case 0?:
            accounts[key]?.lock = .none
            accounts[key]?.failures = 0
        case let time?: accounts[key]?.lock = .until(now + time)
        case nil: accounts[key]?.lock = .indefinite
        }
    }

    /// Everything there is; fingerprints stand for the tokens.
    func view(settings: SandboxForgeRockSettings, now: Int64) -> JSONValue {
        let exchange = ForgeRockExchange(
            SandboxRequest(method: "GET", target: "/"),
            route: ForgeRockRoute(endpoint: .serverInfo, base: "", realm: "/"),
            now: now,
            settings: settings
        )
        let journeys = ForgeRockTree.list.map { tree in
            ["name": .string(tree.name), "what": .string(tree.summary)] as JSONValue
        }
        let people = accounts.values.sorted { $0.name < $1.name }.prefix(1000).map { account in
            [
                "name": .string(account.name), "user": .string(account.user.identifier),
                "failures": .int(account.failures), "locked": .bool(account.isLocked(now: now)),
                "state": .string(account.state), "credentials": .int(Int64(account.credentials.count)),
            ] as JSONValue
        }
        let live = sessions.filter { isLive($0.value, exchange) }.sorted { $0.value.number < $1.value.number }
        let sessionViews = live.suffix(1000).map { token, session in
            [
                "token": .string(Masking.fingerprint(token)), "user": .string(session.account),
                "realm": .string(session.realm),
                "journeys": .array(session.journeys.sorted().map(JSONValue.string)),
            ] as JSONValue
        }
        return [
            "counters": counters.json,
            "tokens": oauth.counters.json,
            "journeys": .array(journeys),
            "accounts": .array(Array(people)),
            "sessions": .array(Array(sessionViews)),
            "transactions": .int(Int64(transactions.count)),
        ]
    }
}
