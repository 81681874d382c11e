// The endpoints under `/_sandbox/`: what a test or a demo does behind the client's back.
extension SandboxWorld {
    /// One line for each endpoint, as `GET /_sandbox/` shows them.
    static let controlIndex: JSONValue =
        (clerkControlIndex + oauthControlIndex + oktaControlIndex + forgerockControlIndex + facebookControlIndex)
        .reduce(commonControlIndex) { $0.adding($1.0, $1.1) }

    private static let commonControlIndex: JSONValue = [
        "GET /_sandbox/": "this list",
        "GET /_sandbox/outbox?to=": "the codes that were sent: {messages: [{to, channel, strategy, code, sent_at, …}]}",
        "GET /_sandbox/totp?user=": "the code that a person's authenticator shows now: {code, seconds_left}",
        "GET /_sandbox/requests?method=&path=&grant=": """
        what arrived: {total, matching, counts: {route: {received, processed}}, requests: […]}; path is a beginning, \
        or a pattern with *; grant is what a token request asked with, such as refresh_token
        """,
        "DELETE /_sandbox/requests": "forget them",
        "GET /_sandbox/faults": "the faults that are set, with how often each struck: {faults: […]}",
        "POST /_sandbox/faults": """
        set a fault, or a list of them: {kind, match?: {method?, path?, grant?}, status?, headers?, retry_after?, body?, \
        code?, message?, meta?, envelope?, delay_ms?, times?, skip?, processed?}
        """,
        "DELETE /_sandbox/faults?id=": "remove one, or all: {removed}",
        "GET /_sandbox/clock": "the sandbox's time: {now_ms, now, offset_s}",
        "POST /_sandbox/clock": "move it on: {advance_s}",
        "GET /_sandbox/users": "everybody's state: {users: […]}",
        "POST /_sandbox/users": "add a person, as in a scenario's users: {id, identifier}",
        "POST /_sandbox/lock": "lock a person: {user, seconds: a number, or null until somebody unlocks}",
        "POST /_sandbox/unlock": "unlock a person: {user}",
        "POST /_sandbox/revoke": """
        end sessions from afar: {session? or client? or user?, status?: revoked|expired|ended|removed|replaced|\
        abandoned, answer?: authentication_invalid|signed_out|resource_not_found|session_status}; {} ends all
        """,
        "GET /_sandbox/settings": "the settings",
        "POST /_sandbox/settings": "change some of them, with the keys of a scenario's settings",
        "POST /_sandbox/reset": "begin again: people, faults, settings, clock, log and codes are as at the start",
    ]

    /// What there is where nobody but an upstream answers.
    private static let upstreamControls: Set<String> = [
        "GET ", "GET requests", "DELETE requests", "GET faults", "POST faults", "DELETE faults", "GET clock",
        "POST clock", "POST reset",
    ]

    private static let upstreamControlIndex: JSONValue = {
        guard case .object(let members) = commonControlIndex else { return commonControlIndex }
        return .object(
            members.filter { member in
                let name = member.key.prefix { $0 != "?" }.replacing("/_sandbox/", with: "", maxReplacements: 1)
                return upstreamControls.contains(String(name))
            }
        )
    }()

    mutating func control(_ request: SandboxRequest, wallNow: Int64) -> SandboxResponse {
        do {
            return .json(try answerControl(request, wallNow: wallNow), pretty: true)
        } catch {
            let isMissing = error.message.hasPrefix("no such")
            return .json(["error": .string(error.message)], status: isMissing ? 404 : 400, pretty: true)
        }
    }

    private mutating func answerControl(
        _ request: SandboxRequest,
        wallNow: Int64
    ) throws(SandboxError) -> JSONValue {
        let name = request.segments.dropFirst().joined(separator: "/")
        if let upstream, !Self.upstreamControls.contains("\(request.method) \(name)") {
            throw SandboxError(
                .invalidInput,
                "no such endpoint: requests are forwarded to \(upstream.url); GET /_sandbox/ lists what there is"
            )
        }
        switch "\(request.method) \(name)" {
        case "GET ": return upstream == nil ? Self.controlIndex : Self.upstreamControlIndex
        case "GET outbox":
            return ["messages": .array(outbox.messages(to: request.queryItem("to")).map(\.json))]
        case "GET totp": return try totp(request, now: now(wallNow: wallNow))
        case "GET requests": return requestsView(request)
        case "DELETE requests":
            log.clear()
            return ["total": 0]
        case "GET faults": return ["faults": .array(faults.entries.map(\.json))]
        case "POST faults": return try addFaults(request)
        case "DELETE faults":
            let number = request.queryItem("id")
            if let number, Int(number) == nil { throw SandboxError(.invalidInput, "id must be a number") }
            return ["removed": .int(Int64(faults.clear(number: number.flatMap { Int($0) })))]
        case "GET clock": return clockView(wallNow: wallNow)
        case "POST clock": return try moveClock(request, wallNow: wallNow)
        case "GET users": return ["users": clerk.usersView(settings, now: now(wallNow: wallNow))]
        case "POST users": return try addUser(request, now: now(wallNow: wallNow))
        case "POST lock": return try lock(request, now: now(wallNow: wallNow))
        case "POST unlock": return try unlock(request)
        case "POST revoke": return try revoke(request, now: now(wallNow: wallNow))
        case "GET settings": return settings.json
        case "POST settings":
            var changed = settings
            try changed.update(from: body(request), path: "settings")
            settings = changed
            return settings.json
        case "POST reset":
            reset(wallNow: wallNow)
            return ["reset": true]
        default:
            let now = now(wallNow: wallNow)
            if let answer = try controlClerk("\(request.method) \(name)", request, now: now) { return answer }
            if let answer = try controlOAuth("\(request.method) \(name)", request, now: now) { return answer }
            if let answer = try controlOkta("\(request.method) \(name)", request, now: now) { return answer }
            if let answer = try controlForgeRock("\(request.method) \(name)", request, now: now) { return answer }
            if let answer = try controlFacebook("\(request.method) \(name)", request, now: now) { return answer }
            throw SandboxError(.invalidInput, "no such endpoint: GET /_sandbox/ lists them")
        }
    }

    /// The body as JSON; an empty one is an empty object.
    func body(_ request: SandboxRequest) throws(SandboxError) -> JSONValue {
        if request.body.isEmpty { return [:] }
        do {
            return try JSONParser.parse(request.body)
        } catch {
            throw SandboxError(.invalidInput, "the body is not JSON: \(error)")
        }
    }

    private func account(_ name: String?) throws(SandboxError) -> ClerkAccount {
        guard let name, !name.isEmpty else { throw SandboxError(.invalidInput, "user is missing") }
        guard let account = clerk.account(named: name) else {
            throw SandboxError(.invalidInput, "no such user: \(name)")
        }
        return account
    }

    private func totp(_ request: SandboxRequest, now: Int64) throws(SandboxError) -> JSONValue {
        let account = try account(request.queryItem("user"))
        guard let code = clerk.currentTOTP(account, settings: settings, now: now) else {
            throw SandboxError(.invalidInput, "no such secret: this user has no authenticator")
        }
        return ["code": .string(code), "seconds_left": .int(TOTP.stepSeconds - now / 1000 % TOTP.stepSeconds)]
    }

    private func requestsView(_ request: SandboxRequest) -> JSONValue {
        let grant = request.queryItem("grant")
        let records = log.records(method: request.queryItem("method"), path: request.queryItem("path"))
            .filter { grant == nil || $0.grant == grant.map(OAuthGrantType.shortName) }
        let counts = log.counts.sorted { $0.key < $1.key }.map { route, count in
            JSONValue.Member(
                key: route,
                value: ["received": .int(Int64(count.received)), "processed": .int(Int64(count.processed))]
            )
        }
        return [
            "total": .int(Int64(log.total)),
            "matching": .int(Int64(records.count)),
            "counts": .object(counts),
            "requests": .array(records.map(\.json)),
        ]
    }

    private mutating func addFaults(_ request: SandboxRequest) throws(SandboxError) -> JSONValue {
        let value = try body(request)
        var added: [SandboxFault] = []
        for (index, element) in (value.array ?? [value]).enumerated() {
            added.append(try SandboxFault(value: element, path: value.array == nil ? "fault" : "faults[\(index)]"))
        }
        return ["faults": .array(added.map { faults.add($0).json })]
    }

    private func clockView(wallNow: Int64) -> JSONValue {
        let now = now(wallNow: wallNow)
        return [
            "now_ms": .int(now), "now": .string(HTTPDate.rfc3339(milliseconds: now)), "offset_s": .seconds(clockOffset),
        ]
    }

    private mutating func moveClock(_ request: SandboxRequest, wallNow: Int64) throws(SandboxError) -> JSONValue {
        var reader = try ObjectReader(body(request), path: "body")
        guard let advance = try reader.seconds("advance_s") else {
            throw SandboxError(.invalidInput, "advance_s is missing")
        }
        try reader.finish()
        advanceClock(byMilliseconds: advance)
        return clockView(wallNow: wallNow)
    }

    /// Moves the clock on; it never runs further ahead than a thousand years.
    mutating func advanceClock(byMilliseconds advance: Int64) {
        clockOffset = min(clockOffset + max(0, min(advance, 31_557_600_000_000)), 31_557_600_000_000)
    }

    private mutating func addUser(_ request: SandboxRequest, now: Int64) throws(SandboxError) -> JSONValue {
        let user = try SandboxUser(json: body(request), path: "user")
        return ["id": .string(add(user, now: now)), "identifier": .string(user.identifier)]
    }

    private mutating func lock(_ request: SandboxRequest, now: Int64) throws(SandboxError) -> JSONValue {
        var reader = try ObjectReader(body(request), path: "body")
        let account = try account(try reader.string("user"))
        guard let seconds = reader.value("seconds") else { throw SandboxError(.invalidInput, "seconds is missing") }
        try reader.finish()
        let time = seconds == .null ? nil : try ObjectReader.milliseconds(seconds, what: "seconds")
        clerk.lock(account.id, until: time.map { now + $0 })
        if let id = okta.account(named: account.user.identifier)?.id {
            okta.accounts[id]?.lock = time.map { .until(now + $0) } ?? .indefinite
        }
        return ["locked": .string(account.user.identifier)]
    }

    private mutating func unlock(_ request: SandboxRequest) throws(SandboxError) -> JSONValue {
        var reader = try ObjectReader(body(request), path: "body")
        let account = try account(try reader.string("user"))
        try reader.finish()
        clerk.unlock(account.id)
        if let id = okta.account(named: account.user.identifier)?.id { okta.unlock(id) }
        return ["unlocked": .string(account.user.identifier)]
    }

    private mutating func revoke(_ request: SandboxRequest, now: Int64) throws(SandboxError) -> JSONValue {
        var reader = try ObjectReader(body(request), path: "body")
        let (user, client) = (try reader.string("user"), try reader.string("client"))
        let session = try reader.string("session")
        let statuses = ["revoked", "expired", "ended", "removed", "replaced", "abandoned"]
        let status = try reader.word("status", of: statuses) ?? "revoked"
        let answers = ["authentication_invalid", "signed_out", "resource_not_found", "session_status"]
        let answer = try reader.word("answer", of: answers)
        try reader.finish()
        if let user { _ = try account(user) }
        let ended = clerk.endSessions(
            user: user,
            client: client,
            session: session,
            as: status,
            answer: answer,
            now: now
        )
        return ["ended": .array(ended.map(JSONValue.string))]
    }
}
