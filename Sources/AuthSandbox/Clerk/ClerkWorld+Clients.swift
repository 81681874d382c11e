import HTTPRecovery

extension ClerkWorld {
    mutating func getClient(_ call: ClerkCall) -> JSONValue {
        guard let id = call.client ?? mintedClient(call) else { return wrapped(.null, nil) }
        for session in clients[id]?.sessions ?? [] where (sessions[session]?.lastTokenExpires ?? 0) <= call.now {
            mintToken(session, call)
        }
        return wrapped(clientView(id), nil)
    }

    /// The client at hand, or a new one whose token goes out with the answer.
    mutating func ensureClient(_ call: ClerkCall) -> String {
        if let client = call.client { return client }
        return makeClient(call.context.random.identifier("client_"), call)
    }

    private mutating func makeClient(_ id: String, _ call: ClerkCall) -> String {
        clients[id] = ClerkClient(id: id, createdAt: call.now, updatedAt: call.now)
        call.client = id
        rotateToken(of: id, call)
        return id
    }

    /// A client without sessions for whoever presents a token that is good no more; nil if it was never one of ours.
    ///
    /// It has the id of the old one, if that is gone.
    private mutating func mintedClient(_ call: ClerkCall) -> String? {
        guard call.isNative, let id = call.presentedToken.flatMap(claims)?["id"]?.string else { return nil }
        return makeClient(clients[id] == nil ? id : call.context.random.identifier("client_"), call)
    }

    /// Gives a client another token, which goes out with the answer.
    mutating func rotateToken(of id: String, _ call: ClerkCall) {
        guard let former = clients[id]?.token else { return }
        let secret = JSONValue.string(call.context.random.letters(40).lowercased())
        let token = jwt(["id": .string(id), "iat": .int(call.now / 1000), "rotating_token": secret])
        if !former.isEmpty {
            clientsByToken[former] = nil
            retiredTokens[former] = (id, call.now)
        }
        clients[id]?.token = token
        clientsByToken[token] = id
        call.tokenHeader = token
    }

    mutating func deleteClient(_ call: ClerkCall) throws(ClerkFailure) -> JSONValue {
        guard let id = call.client, let client = clients[id] else { throw .notFound("client") }
        for session in client.sessions { finish(session, as: "ended", now: call.now) }
        clientsByToken[client.token] = nil
        clients[id] = nil
        for account in accountOrder { accounts[account]?.trustedClients.remove(id) }
        call.client = nil
        call.tokenHeader = ""
        return wrapped(.null, nil)
    }

    /// Lets the sessions and the sign-in of a client grow old.
    mutating func settle(client id: String, now: Int64) {
        for session in clients[id]?.sessions ?? [] {
            if let expireAt = sessions[session]?.expireAt, expireAt <= now { finish(session, as: "expired", now: now) }
        }
        if let signIn = clients[id]?.signIn, let abandonAt = signIns[signIn]?.abandonAt, abandonAt <= now {
            signIns[signIn]?.status = "abandoned"
            clients[id]?.signIn = nil
        }
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
        _ limit: KeyPath<SandboxSettings.RateLimits, SandboxSettings.Limit?>,
        _ name: String,
        _ call: ClerkCall
    ) throws(ClerkFailure) {
        guard let limit = call.settings.rateLimits[keyPath: limit] else { return }
        let (key, begin) = ("\(call.request.peer) \(name)", call.now - limit.per)
        var times = (arrivals[key] ?? []).filter { $0 > begin && $0 <= call.now }
        defer { arrivals[key] = times }
        if Int64(times.count) >= limit.count, let oldest = times.first {
            throw .tooManyRequests.waiting(oldest - begin)
        }
        times.append(call.now)
    }
}
