import HTTPRecovery

// What happens behind the back of the clients.
extension FacebookWorld {
    /// Who a name stands for.
    func known(_ name: String) throws(SandboxError) -> FacebookPerson {
        guard let person = person(named: name) else { throw SandboxError(.invalidInput, "no such user: \(name)") }
        return person
    }

    func standings(_ context: SandboxContext) -> [SandboxStanding] {
        personOrder.compactMap { people[$0] }.map { SandboxStanding($0.user, now: context.now) }
    }

    func links(callback: String, _ context: SandboxContext) -> [SandboxLink] {
        [
            SandboxLink(
                "Facebook: the login dialog",
                "/v25.0/dialog/oauth",
                [
                    "client_id": context.settings.facebook.appID, "redirect_uri": callback,
                    "scope": "public_profile,email", "state": "page",
                ]
            ),
            SandboxLink("Facebook: sign in a device", "/device"),
        ]
    }

    /// Issues a token for a person, or for a page of theirs.
    mutating func issueToken(
        for name: String,
        behaviour: SandboxFacebookBehaviour,
        page: String? = nil,
        lifetime: Int64?,
        settings: SandboxFacebookSettings,
        now: Int64
    ) throws(SandboxError) -> String {
        let person = try known(name)
        let end = lifetime.map { now + $0 } ?? (page == nil ? now + settings.tokenLife : nil)
        let scopes = person.permissions.filter { $0.status == "granted" }.map(\.name)
        return issue(person.id, page: page, behaviour: behaviour, scopes: scopes, expiresAt: end, now: now)
    }

    /// Lets a person settle at the site what is to be settled; tells how many tokens are good again.
    mutating func visit(_ name: String) throws(SandboxError) -> Int {
        let id = try known(name).id
        var count = 0
        for (value, token) in tokens where token.person == id && token.behaviour.isSettledByVisit {
            tokens[value]?.behaviour = .good
            count += 1
        }
        return count
    }

    /// Changes how the tokens of a person behave.
    mutating func setBehaviour(_ behaviour: SandboxFacebookBehaviour, of name: String) throws(SandboxError) -> Int {
        let id = try known(name).id
        let changed = tokens.filter { $0.value.person == id }
        for value in changed.keys { tokens[value]?.behaviour = behaviour }
        return changed.count
    }

    /// Begins a block.
    mutating func block(code: Int64, user: String?, account: String?, until: Int64) throws(SandboxError) {
        let subject = try user.map { name throws(SandboxError) in try known(name).id } ?? account
        blocks.removeAll { $0.code == code && $0.subject == subject }
        blocks.append(FacebookBlock(code: code, subject: subject, until: until))
    }

    /// The counters and everybody's state, without secrets.
    func view(now: Int64) -> JSONValue {
        let all: [JSONValue] = personOrder.compactMap { people[$0] }.map { person in
            let held = tokens.filter { $0.value.person == person.id }.sorted { $0.key < $1.key }
            let views: [JSONValue] = held.map { value, token in
                [
                    "fingerprint": .string(Masking.fingerprint(value)), "page": .optional(token.page),
                    "behaviour": .string((refusal(of: token, now: now) ?? .good).name),
                    "expires_s": token.expiresAt.map { .seconds($0 - now) } ?? .null,
                ]
            }
            return [
                "id": .string(person.id), "login": .string(person.user.identifier),
                "permissions": .object(person.permissions.map { .init($0.name, .string($0.status)) }),
                "posts": .int(Int64(person.posts.count)), "tokens": .array(views),
            ]
        }
        let held: [JSONValue] = blocks.filter { $0.until > now }.map {
            ["code": .int($0.code), "subject": .optional($0.subject), "seconds_left": .seconds($0.until - now)]
        }
        let waiting: [JSONValue] = devices.values.filter { $0.decision == .pending && $0.expiresAt > now }
            .sorted { $0.number < $1.number }
            .map { ["user_code": .string($0.userCode), "seconds_left": .seconds($0.expiresAt - now)] }
        return [
            "counters": JSONValue(of: counters), "users": .array(all), "blocks": .array(held),
            "devices": .array(waiting),
        ]
    }
}
