/// What has happened in one call and what was decided: enough to decide it again.
///
/// It holds words, times and random numbers; no URL, header, body, account, token or text of a server's, so it can be
/// kept and sent around. ``RequestOptions/recorder`` takes it, ``Recovery/replay(_:policies:)`` decides it again.
public struct CallRecording: Sendable, Hashable {
    /// One event, with what was decided by.
    public struct Entry: Sendable, Hashable {
        /// The event, as a JSON object.
        public let event: JSONValue
        /// What was decided, in words.
        public let action: String
        /// The time that was left, where it was asked for: the outer nil says that it was not, the inner that there was
        /// no bound.
        let remaining: Duration??
        /// The random numbers that were drawn.
        let random: [Double]
    }

    /// The number of the call in events.
    public let call: Int
    /// The request's method.
    public let method: String
    /// The most attempts of the call.
    public let maxAttempts: Int
    /// The longest single wait.
    public let maxWait: Duration
    /// The events, in order.
    public let entries: [Entry]

    init(call: Int, method: String, maxAttempts: Int, maxWait: Duration, entries: [Entry]) {
        self.call = call
        self.method = method
        self.maxAttempts = maxAttempts
        self.maxWait = maxWait
        self.entries = entries
    }

    /// The recording as a JSON object.
    public var json: JSONValue {
        [
            "call": .number(JSONNumber(call)), "method": .string(method),
            "max_attempts": .number(JSONNumber(maxAttempts)), "max_wait": .string(maxWait.exactText),
            "events": .array(entries.map(\.json)),
        ]
    }

    /// Reads a recording; nil where the value is none.
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
        if !random.isEmpty { members.append(.init("random", .array(random.map { .number(JSONNumber($0)) }))) }
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
