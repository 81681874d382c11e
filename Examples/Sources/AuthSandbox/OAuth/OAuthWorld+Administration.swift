// What an administrator, or a test, does behind the back of the clients.
extension OAuthWorld {
    /// What is wrong with an administrator's request.
    private func client(_ name: String) throws(SandboxError) -> SandboxOAuthClient {
        guard let client = clients[name] else { throw SandboxError(.invalidInput, "no such client: \(name)") }
        return client
    }

    private func activePerson(_ name: String) throws(SandboxError) -> OAuthPerson {
        guard let person = person(named: name) else { throw SandboxError(.invalidInput, "no such user: \(name)") }
        guard person.user.state == "active" else {
            throw SandboxError(.invalidInput, "\(name) may not sign in: \(person.user.state)")
        }
        return person
    }

    /// Signs somebody in on a client.
    ///
    /// - Parameters:
    ///   - user: An identifier or a subject.
    ///   - client: A client's id.
    ///   - scope: Scopes, separated by spaces; nil for the default ones.
    ///   - acr: How strong the sign-in was.
    ///   - lifetime: The life of the first access token in milliseconds; nil for that of the settings.
    ///   - exchange: Whose issuer and settings hold.
    mutating func issue(
        user: String,
        client name: String,
        scope: String?,
        acr: String?,
        lifetime: Int64?,
        exchange: OAuthExchange
    ) throws(SandboxError) -> SandboxOAuthTokens {
        let client = try client(name)
        let person = try activePerson(user)
        let granted: [String]
        do {
            granted = try scopes(scope ?? exchange.settings.defaultScope, client: scope == nil ? nil : client)
        } catch {
            throw SandboxError(.invalidInput, "scope: \(error.description)")
        }
        var settings = exchange.settings
        if let lifetime { settings.accessLifetime = lifetime }
        let own = OAuthExchange(exchange.request, route: exchange.route, now: exchange.now, settings: settings)
        let number = startFamily(
            client: client.id,
            subject: person.id,
            scope: granted,
            authentication: OAuthAuthentication(time: exchange.now, acr: acr),
            keyThumbprint: nil,
            now: exchange.now
        )
        let body = signIn(family: number, keyThumbprint: nil, exchange: own)
        return SandboxOAuthTokens(
            accessToken: body["access_token"]?.string ?? "",
            refreshToken: body["refresh_token"]?.string,
            scope: granted.joined(separator: " "),
            expiresAt: exchange.now + settings.accessLifetime,
            family: Self.familyID(number)
        )
    }

    /// Decides about a device.
    ///
    /// - Parameters:
    ///   - userCode: The code that the device shows; nil for the newest that waits.
    ///   - user: Who approves; nil to refuse.
    ///   - now: The sandbox's time.
    /// - Returns: The device's user code.
    mutating func decide(userCode: String?, user: String?, now: Int64) throws(SandboxError) -> String {
        let subject = try user.map { name throws(SandboxError) in try activePerson(name).id }
        guard let (code, device) = pendingDevice(userCode: userCode, now: now) else {
            throw SandboxError(.invalidInput, "no such device waits: \(userCode ?? "none at all")")
        }
        devices[code]?.decision = subject.map { .approved(subject: $0, at: now) } ?? .denied
        return device.userCode
    }

    /// Ends tokens from afar.
    ///
    /// - Parameters:
    ///   - family: Only this sign-in's; nil for all.
    ///   - user: Only this person's; nil for all.
    ///   - client: Only this client's; nil for all.
    ///   - accessOnly: Access tokens alone, so that a refresh still works.
    ///   - now: The sandbox's time.
    /// - Returns: How many families were revoked, and how many live access tokens are so no longer.
    mutating func revoke(
        family: String?,
        user: String?,
        client name: String?,
        accessOnly: Bool,
        now: Int64
    ) throws(SandboxError) -> (families: Int, accessTokens: Int) {
        if let name { _ = try client(name) }
        var subject: String?
        if let user {
            guard let person = person(named: user) else { throw SandboxError(.invalidInput, "no such user: \(user)") }
            subject = person.id
        }
        let numbers = families.values.filter { candidate in
            (family == nil || Self.familyID(candidate.number) == family)
                && (subject == nil || candidate.subject == subject)
                && (name == nil || candidate.client == name)
        }.map(\.number)
        if let family, numbers.isEmpty, user == nil, name == nil {
            throw SandboxError(.invalidInput, "no such family: \(family)")
        }
        let chosen = Set(numbers)
        var ended = 0
        for (text, token) in accessTokens where isLive(token, now: now) {
            let isChosen =
                token.family.map(chosen.contains)
                ?? (family == nil && subject == nil && (name == nil || token.client == name))
            guard isChosen else { continue }
            accessTokens[text]?.isRevoked = true
            ended += 1
        }
        guard !accessOnly else { return (0, ended) }
        return (numbers.count { revokeFamily($0, by: "administrator") }, ended)
    }

    /// The counters, the clients, the families and the devices that wait; fingerprints stand for the tokens.
    func view(now: Int64) -> JSONValue {
        var live: [Int: Int64] = [:]
        for token in accessTokens.values where isLive(token, now: now) { live[token.family ?? 0, default: 0] += 1 }
        let clientViews: [JSONValue] = clients.keys.sorted().map { id in
            ["client_id": .string(id), "counters": (clientCounters[id] ?? SandboxOAuthCounters()).json]
        }
        let familyViews: [JSONValue] = families.keys.sorted().suffix(1000).compactMap { families[$0] }.map { family in
            [
                "family": .string(Self.familyID(family.number)),
                "client_id": .string(family.client),
                "user": .optional(people[family.subject]?.user.identifier),
                "sub": .string(family.subject),
                "scope": .string(family.scope.joined(separator: " ")),
                "started_at": .int(family.startedAt),
                "revoked_by": .optional(family.revokedBy),
                "generation": .int(Int64(family.generation)),
                "refresh_token": .optional(family.newest.map(Masking.fingerprint)),
                "live_access_tokens": .int(live[family.number] ?? 0),
                "counters": family.counters.json,
            ]
        }
        let deviceViews: [JSONValue] = devices.values.sorted { $0.number < $1.number }.suffix(1000).map { device in
            [
                "user_code": .string(device.userCode),
                "client_id": .string(device.client),
                "state": .string(Self.word(device, now: now)),
                "polls": .int(device.polls),
                "slow_downs": .int(device.slowDowns),
                "interval_s": .seconds(device.interval),
            ]
        }
        return [
            "counters": counters.json,
            "served_requests": .int(servedRequests),
            "clients": .array(clientViews),
            "families": .array(familyViews),
            "devices": .array(deviceViews),
        ]
    }

    /// What a family is called outside.
    static func familyID(_ number: Int) -> String { "fam_\(number)" }

    private static func word(_ device: OAuthDevice, now: Int64) -> String {
        switch device.decision {
        case .used: "used"
        case _ where device.expiresAt <= now: "expired"
        case .pending: "pending"
        case .approved: "approved"
        case .denied: "denied"
        }
    }
}
