extension CallRecording {
    /// The recording as a JSON object.
    public var json: JSONValue {
        [
            "call": .number(JSONValue.Number(call)), "method": .string(method),
            "max_attempts": .number(JSONValue.Number(maxAttempts)), "max_wait": .string(maxWait.exactText),
            "transparent_resend": .bool(resendsTransparently), "events": .array(entries.map(\.json)),
        ]
    }

    /// Reads a recording; nil if the value is none.
    public init?(_ json: JSONValue) {
        guard let method = json["method"]?.string, let maxAttempts = json["max_attempts"]?.number?.saturatedInt,
            let maxWait = json["max_wait"]?.string.flatMap({ Duration(exactText: $0) }),
            let events = json["events"]?.array
        else { return nil }
        let entries = events.compactMap { Entry($0) }
        guard entries.count == events.count else { return nil }
        self.init(
            call: json["call"]?.number.flatMap { Int(exactly: $0.saturatedInt) } ?? 0,
            method: method,
            maxAttempts: Int(clamping: maxAttempts),
            maxWait: maxWait,
            resendsTransparently: json["transparent_resend"]?.bool ?? false,
            entries: entries
        )
    }
}

extension CallRecording.Entry {
    init(_ event: CallState.Event, action: CallState.Action, remaining: Duration??, random: [Double]) {
        self.init(event: .object(event.recorded), action: action.words, remaining: remaining, random: random)
    }

    fileprivate var json: JSONValue {
        var members = event.members ?? []
        if case .some(let bound) = remaining {
            members.append(.init("remaining", bound.map { .string($0.exactText) } ?? .null))
        }
        if !random.isEmpty { members.append(.init("random", .array(random.map { .number(JSONValue.Number($0)) }))) }
        members.append(.init("action", .string(action)))
        return .object(members)
    }

    fileprivate init?(_ json: JSONValue) {
        guard CallState.Event(recorded: json) != nil, let action = json["action"]?.string else { return nil }
        var remaining: Duration??
        switch json["remaining"] {
        case nil: remaining = .none
        case .null?: remaining = .some(nil)
        case let value?:
            guard let bound = value.string.flatMap({ Duration(exactText: $0) }) else { return nil }
            remaining = .some(bound)
        }
        let random = (json["random"]?.array ?? []).compactMap { $0.number?.double }
        let event = (json.members ?? []).filter { !["remaining", "random", "action"].contains($0.key) }
        self.init(event: .object(event), action: action, remaining: remaining, random: random)
    }
}
