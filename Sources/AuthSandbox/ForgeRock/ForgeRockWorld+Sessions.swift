import HTTPRecovery

// Sessions: made by journeys, looked at, extended and ended.
extension ForgeRockWorld {
    /// Makes a session and tells its token.
    mutating func makeSession(account: String, realm: String, journeys: Set<String>, now: Int64) -> String {
        lastSession += 1
        counters.sessions += 1
        let token = "\(random.letters(27)).*\(random.letters(20))*"
        sessions[token] = ForgeRockSession(
            number: lastSession,
            account: account,
            realm: realm,
            startedAt: now,
            usedAt: now,
            journeys: journeys
        )
        return token
    }

    func isLive(_ session: ForgeRockSession, _ exchange: ForgeRockExchange) -> Bool {
        isLive(session, exchange.settings, now: exchange.now)
    }

    func isLive(_ session: ForgeRockSession, _ settings: SandboxForgeRockSettings, now: Int64) -> Bool {
        !session.isOver && now - session.usedAt < settings.sessionIdle
            && now - session.startedAt < settings.sessionLife
    }

    /// The live session of a token, without a use of it.
    func live(_ token: String?, _ exchange: ForgeRockExchange) -> ForgeRockSession? {
        token.flatMap { sessions[$0] }.flatMap { isLive($0, exchange) ? $0 : nil }
    }

    /// The live session of a token, whose idle time begins anew.
    mutating func use(_ token: String?, _ exchange: ForgeRockExchange) -> ForgeRockSession? {
        guard let token, let session = live(token, exchange) else { return nil }
        sessions[token]?.usedAt = exchange.now
        return session
    }

    /// The sessions endpoint.
    mutating func session(_ exchange: ForgeRockExchange) throws(ForgeRockFailure) -> SandboxResponse {
        let request = exchange.request
        guard request.method == "POST" else { throw ForgeRockFailure(405, "Method Not Allowed") }
        let body = request.body.isEmpty ? [:] : try? JSONValue(parsing: request.body)
        guard let body, case .object = body else { throw ForgeRockFailure(400, "The body is not a JSON object") }
        let token = body["tokenId"]?.string ?? exchange.sessionToken
        let action = request.queryItem("_action") ?? ""
        guard let token, let session = live(token, exchange), let account = accounts[session.account] else {
            return try dead(action, exchange)
        }
        switch action {
        case "getSessionInfo", "getSessionInfoAndResetIdleTime":
            if action != "getSessionInfo" { sessions[token]?.usedAt = exchange.now }
            return .json(information(sessions[token] ?? session, account, exchange))
        case "validate":
            sessions[token]?.usedAt = exchange.now
            return .json(["valid": true, "uid": .string(account.name), "realm": .string(session.realm)])
        case "isActive":
            return .json(["active": true])
        case "getTimeLeft":
            return .json(["maxtime": .int((session.startedAt + exchange.settings.sessionLife - exchange.now) / 1000)])
        case "refresh":
            sessions[token]?.usedAt = exchange.now
            return .json([
                "uid": .string(account.universalID(realm: session.realm)), "realm": .string(session.realm),
                "idletime": 0,
                "maxtime": .int((session.startedAt + exchange.settings.sessionLife - exchange.now) / 1000),
            ])
        case "logout":
            sessions[token]?.isOver = true
            var response = SandboxResponse.json(["result": "Successfully logged out"])
            response.setHeader(
                "Set-Cookie",
                "\(exchange.settings.cookieName)=LOGOUT; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/; HttpOnly"
            )
            return response
        default:
            throw ForgeRockFailure(501, "Action '\(action.prefix(100))' not implemented for this resource")
        }
    }

    private func information(
        _ session: ForgeRockSession,
        _ account: ForgeRockAccount,
        _ exchange: ForgeRockExchange
    ) -> JSONValue {
        let settings = exchange.settings
        return [
            "username": .string(account.name),
            "universalId": .string(account.universalID(realm: session.realm)),
            "realm": .string(session.realm),
            "latestAccessTime": .string(Timestamp(milliseconds: session.usedAt).rfc3339),
            "maxIdleExpirationTime": .string(Timestamp(milliseconds: session.usedAt + settings.sessionIdle).rfc3339),
            "maxSessionExpirationTime": .string(
                Timestamp(milliseconds: session.startedAt + settings.sessionLife).rfc3339
            ),
            "properties": ["AMCtxId": .string("ctx-\(session.number)")],
        ]
    }

    /// What is said about a session that is not there.
    private func dead(_ action: String, _ exchange: ForgeRockExchange) throws(ForgeRockFailure) -> SandboxResponse {
        let isOld = exchange.settings.sessionDialect == "openam"
        switch action {
        case "validate": return .json(["valid": false])
        case "isActive" where isOld: return .json(["active": false])
        case "getTimeLeft" where isOld: return .json(["maxtime": -1])
        case "getSessionInfo" where isOld, "getSessionInfoAndResetIdleTime" where isOld, "refresh" where isOld:
            return .json(["valid": false])
        case "logout" where isOld: return .json(["result": "Token has expired"])
        default: throw .accessDenied
        }
    }
}
