import HTTPRecovery

extension ClerkWorld {
    mutating func getClient(_ exchange: ClerkExchange, context: inout SandboxContext) -> JSONValue {
        guard let id = exchange.client else { return wrapped(.null, nil) }
        for session in clients[id]?.sessions ?? [] where (sessions[session]?.lastTokenExpires ?? 0) <= context.now {
            mintToken(session, template: nil, context: &context)
        }
        return ["response": clientView(id), "client": .null]
    }

    mutating func createClient(_ exchange: inout ClerkExchange, context: inout SandboxContext) -> JSONValue {
        let id = ensureClient(&exchange, context: &context)
        return ["response": clientView(id), "client": .null]
    }

    /// The client at hand, or a new one whose token goes out with the answer.
    mutating func ensureClient(_ exchange: inout ClerkExchange, context: inout SandboxContext) -> String {
        if let client = exchange.client { return client }
        let id = context.random.identifier("client_")
        clients[id] = ClerkClient(id: id, token: "", createdAt: context.now, updatedAt: context.now)
        exchange.client = id
        rotateToken(of: id, &exchange, context: &context)
        return id
    }

    /// Gives a client another token, which goes out with the answer.
    mutating func rotateToken(of id: String, _ exchange: inout ClerkExchange, context: inout SandboxContext) {
        guard let former = clients[id]?.token else { return }
        let token = jwt(
            [
                "id": .string(id), "iat": .int(context.now / 1000),
                "rotating_token": .string(context.random.letters(40).lowercased()),
            ]
        )
        if !former.isEmpty {
            clientsByToken[former] = nil
            retiredTokens[former] = (id, context.now)
        }
        clients[id]?.token = token
        clientsByToken[token] = id
        exchange.tokenHeader = token
    }

    mutating func deleteClient(
        _ exchange: inout ClerkExchange,
        context: SandboxContext
    ) throws(ClerkFailure) -> JSONValue {
        guard let id = exchange.client, let client = clients[id] else { throw .notFound("client") }
        for session in client.sessions { finish(session, as: "ended", now: context.now) }
        clientsByToken[client.token] = nil
        clients[id] = nil
        exchange.client = nil
        exchange.tokenHeader = ""
        return wrapped(.null, nil)
    }

    /// Lets the sessions and the sign-in of a client grow old.
    mutating func settle(client id: String, now: Int64) {
        for session in clients[id]?.sessions ?? [] {
            if let expireAt = sessions[session]?.expireAt, expireAt <= now { finish(session, as: "expired", now: now) }
        }
        guard let signIn = clients[id]?.signIn, let abandonAt = signIns[signIn]?.abandonAt, abandonAt <= now else {
            return
        }
        signIns[signIn]?.status = "abandoned"
        clients[id]?.signIn = nil
    }

    /// Ends a session, if it lives.
    mutating func finish(_ id: String, as status: String, now: Int64) {
        guard let session = sessions[id], session.isLive else { return }
        sessions[id]?.status = status
        sessions[id]?.updatedAt = now
        guard var client = clients[session.client] else { return }
        client.sessions.removeAll { $0 == id }
        client.updatedAt = now
        if client.lastActiveSession == id { client.lastActiveSession = client.sessions.last }
        clients[session.client] = client
    }

    /// Counts a request of a class, or refuses it.
    mutating func limit(
        _ limit: SandboxSettings.Limit?,
        _ name: String,
        _ exchange: ClerkExchange,
        now: Int64
    ) throws(ClerkFailure) {
        guard let limit else { return }
        let key = "\(exchange.request.peer) \(name)"
        var times = (arrivals[key] ?? []).filter { $0 > now - limit.per && $0 <= now }
        defer { arrivals[key] = times }
        if Int64(times.count) >= limit.count, let oldest = times.first {
            throw .tooManyRequests(milliseconds: oldest + limit.per - now)
        }
        times.append(now)
    }
}
