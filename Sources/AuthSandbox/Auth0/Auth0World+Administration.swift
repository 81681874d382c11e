import HTTPRecovery

// What an administrator, or a test, does behind the back of the clients.
extension Auth0World {
    static let controls: [SandboxControl] = [
        view(
            "GET auth0",
            "counters of grants, how often each thing was presented that can be spent, blocks, challenges"
        ) { world, context in world.view(now: context.now) },
        control("POST auth0/unblock", NamedUser.self, "let somebody try again: {user}") {
            world,
            named,
            _ throws(SandboxError) in
            ["unblocked": .int(try world.unblock(named.user))]
        },
        control(
            "POST auth0/push",
            PushDecision.self,
            "decide about the newest push: {user?, decision?: approve|deny}"
        ) { world, decision, context throws(SandboxError) in
            try world.decide(decision, now: context.now)
            return ["decision": .string(decision.decision ?? "approve")]
        },
        control(
            "POST auth0/device",
            DeviceDecision.self,
            "decide about a device login: {user, user_code?, decision?: approve|deny}; without a code the newest"
        ) { world, decision, context throws(SandboxError) in
            ["user_code": .string(try world.decide(decision, now: context.now))]
        },
        control("POST auth0/delete", NamedUser.self, "delete an account, whose tokens nobody ends: {user}") {
            world,
            named,
            _ throws(SandboxError) in
            try world.delete(named.user)
            return ["deleted": true]
        },
        control(
            "POST auth0/revoke",
            RevokeOrder.self,
            "end somebody's tokens from afar: {user, what?: all|access}"
        ) { world, order, _ throws(SandboxError) in
            world.tokens.end(person: try world.known(order.user).id, accessOnly: order.what == "access")
            return ["revoked": true]
        },
    ]

    /// What somebody does about a push.
    struct PushDecision: SandboxInput {
        var user: String?
        var decision: String?

        static let words = ["decision": ["approve", "deny"]]
    }

    /// What somebody does about a device.
    struct DeviceDecision: SandboxInput {
        var user: String?
        var userCode: String?
        var decision: String?

        static let words = ["decision": ["approve", "deny"]]
    }

    /// Whose tokens to end.
    struct RevokeOrder: SandboxInput {
        var user: String
        var what: String?

        static let words = ["what": ["all", "access"]]
    }

    func standings(_ context: SandboxContext) -> [SandboxStanding] {
        // The most of any address, by the name that was signed in with.
        let failed = failures.reduce(into: [String: Int64]()) { failed, entry in
            let name = entry.key.lastIndex(of: "|").map { String(entry.key[..<$0]) } ?? entry.key
            failed[name] = max(failed[name] ?? 0, entry.value)
        }
        return people.values.sorted { $0.user.identifier < $1.user.identifier }.map { person in
            var standing = SandboxStanding(person.user, now: context.now)
            standing.failures = person.user.names.compactMap { failed[$0.lowercased()] }.max() ?? 0
            // Until the link of the mail is opened.
            let isBlocked = standing.failures >= context.settings.auth0.threshold
            standing.lock = isBlocked ? .indefinite : person.lock
            return standing
        }
    }

    func links(callback: String, _ context: SandboxContext) -> [SandboxLink] {
        [
            SandboxLink(
                "Auth0: log in",
                Self.base + "/authorize",
                [
                    "response_type": "code", "client_id": context.settings.auth0.clientID, "redirect_uri": callback,
                    "scope": "openid profile email", "state": "page",
                ]
            ),
            SandboxLink("Auth0: sign in a device", Self.base + "/activate"),
        ]
    }

    func known(_ name: String) throws(SandboxError) -> Person {
        guard let person = person(named: name) else { throw SandboxError(.invalidInput, "no such user: \(name)") }
        return person
    }

    /// Deletes somebody; their tokens are found out to be of nobody when they are used.
    mutating func delete(_ name: String) throws(SandboxError) {
        let person = try known(name)
        people[person.id] = nil
        peopleByName = peopleByName.filter { $0.value != person.id }
    }

    /// Lifts the blocks of somebody, whatever the address.
    ///
    /// - Returns: How many there were.
    mutating func unblock(_ name: String) throws(SandboxError) -> Int {
        liftBlocks(of: try known(name))
    }

    /// Lifts the blocks of all names of somebody, whatever the address.
    ///
    /// - Returns: How many there were.
    @discardableResult
    mutating func liftBlocks(of person: Person) -> Int {
        let names = Set(person.user.names.map { $0.lowercased() })
        let before = failures.count
        failures = failures.filter { entry in !names.contains { entry.key.hasPrefix($0 + "|") } }
        let isLocked = person.lock != .open
        people[person.id]?.lock = .open
        return before - failures.count + (isLocked ? 1 : 0)
    }

    /// Decides about the newest push that waits.
    mutating func decide(_ decision: PushDecision, now: Int64) throws(SandboxError) {
        let id = try decision.user.map { name throws(SandboxError) in try known(name).id }
        let waiting = challenges.filter { entry in
            entry.value.code == nil && entry.value.decision == .pending && entry.value.endsAt > now
                && (id ?? entry.value.person) == entry.value.person
        }
        guard let newest = waiting.max(by: { $0.value.number < $1.value.number }) else {
            throw SandboxError(.invalidInput, "no push waits")
        }
        challenges[newest.key]?.decision = decision.decision == "deny" ? .denied : .approved
    }

    private func view(now: Int64) -> JSONValue {
        func numbers(_ values: [String: Int64]) -> JSONValue {
            .object(values.sorted { $0.key < $1.key }.prefix(1000).map { JSONValue.Member($0.key, .int($0.value)) })
        }
        return [
            "grants": numbers(counters), "presented": numbers(spent), "failures": numbers(failures),
            "challenges": .int(challenges.values.count { $0.endsAt > now }),
        ]
    }
}
