import HTTPRecovery

// What the page shows: all at once, so that it asks once a second.
extension SandboxWorld {
    /// How much of each list is shown: the newest.
    private static let shown = 60

    /// Accounts, messages, faults, requests, login pages and the time.
    func state() -> JSONValue {
        [
            "now_ms": .int(context.now), "offset_s": .seconds(clockOffset),
            "upstream": .optional(upstream?.url),
            "providers": .texts(SandboxProvider.all.filter { context.providers.contains($0) }.map(\.name)),
            "accounts": .array(accounts),
            "messages": .array(messages),
            "fault_kinds": .texts(SandboxFault.Kind.all.map(\.name)),
            "faults": JSONValue(of: faults.entries, showsNull: false),
            "total": .int(log.total), "requests": JSONValue(of: Array(log.records.suffix(Self.shown))),
            "links": JSONValue(of: links),
        ]
    }

    /// Everybody, with what each provider that answers thinks of them.
    private var accounts: [JSONValue] {
        var order: [String] = []
        var people: [String: (user: SandboxUser, providers: [JSONValue.Member])] = [:]
        for provider in served {
            for standing in provider.standings(context) {
                let identifier = standing.user.identifier
                if people[identifier] == nil { order.append(identifier) }
                let view = standing.view(now: context.now)
                people[identifier, default: (standing.user, [])].providers.append(.init(type(of: provider).name, view))
            }
        }
        return order.prefix(500).compactMap { people[$0] }.map { person in
            let names = [person.user.firstName, person.user.lastName].compactMap(\.self)
            return [
                "user": .string(person.user.identifier),
                "name": names.isEmpty ? .null : .string(names.joined(separator: " ")),
                "state": .string(person.user.state), "password_state": .string(person.user.passwordState),
                "providers": .object(person.providers),
            ]
        }
    }

    private var messages: [JSONValue] {
        let all = outbox.messages
        let first = outbox.total - all.count
        return all.enumerated().suffix(Self.shown).map { index, message in
            JSONValue(of: message).adding("n", .int(first + index + 1))
        }
    }

    /// The pages where one signs in, which lead back to this machine at the port that was asked.
    private var links: [SandboxLink] {
        let port = context.origin.split(separator: ":").last.flatMap { UInt16($0) }
        let callback = "http://127.0.0.1\(port.map { ":\($0)" } ?? "")/callback"
        return served.flatMap { $0.links(callback: callback, context) }
    }
}

extension SandboxStanding {
    fileprivate func view(now: Int64) -> JSONValue {
        [
            "password": .optional(password), "totp": .optional(totp), "failures": .int(failures),
            "locked_s": lock.json(now: now), "sessions": .int(sessions),
        ]
    }
}
