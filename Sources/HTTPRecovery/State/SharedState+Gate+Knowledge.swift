extension SharedState.Gate.Key {
    /// The key as JSON.
    var knowledge: JSONValue {
        ["scope": .string(scope.rawValue), "origin": .string("\(origin)"), "name": .string(name)]
    }

    /// Reads ``knowledge``; nil for anything else.
    init?(known json: JSONValue) {
        guard let scope = json["scope"]?.string.flatMap({ Outcome.Scope(rawValue: $0) }),
            let origin = json["origin"]?.string.flatMap({ Origin(text: $0) }), let name = json["name"]?.string
        else { return nil }
        self.init(scope: scope, origin: origin, name: name)
    }
}

extension SharedState.Gate {
    /// The gate as JSON, with the seconds for which it stays closed; nil for one that is open.
    func knowledge(at now: Timestamp) -> JSONValue? {
        guard isClosed(at: now) else { return nil }
        var members = key.knowledge.members ?? []
        members.append(.init("reason", .string(reason.rawValue)))
        if let opensAt { members.append(.init("left_s", .wait(opensAt.elapsed(since: now)))) }
        if let code = code?.loggable { members.append(.init("code", .string(code))) }
        if let known = remedies.gateMemory { members.append(known) }
        return .object(members)
    }

    /// Reads ``knowledge(at:)``; nil for anything else.
    init?(known json: JSONValue, from moment: Timestamp) {
        guard let key = SharedState.Gate.Key(known: json),
            let reason = json["reason"]?.string.flatMap({ Outcome.Kind(rawValue: $0) }), reason.isFailure
        else { return nil }
        if json["left_s"] != nil, json["left_s"]?.span == nil { return nil }
        let opensAt = json["left_s"]?.span.map { moment.advanced(by: $0) }
        self.init(
            key: key,
            reason: reason,
            opensAt: opensAt,
            code: json["code"]?.string,
            remedies: [Outcome.Remedy](ofGate: json)
        )
    }
}
