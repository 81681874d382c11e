extension CallState.Event {
    /// The event as JSON, without anything that could be a secret.
    var recorded: [JSONValue.Member] {
        func outcome(_ outcome: Outcome?) -> [JSONValue.Member] {
            outcome.map { [.init("outcome", $0.recorded)] } ?? []
        }
        func text(_ name: String, _ text: String?) -> [JSONValue.Member] {
            text.map { [.init(name, .string($0))] } ?? []
        }
        switch self {
        case .begun: return text("event", "begun")
        case .continued(let cause, let kind):
            return text("event", "begun") + outcome(cause) + text("repeating", kind?.rawValue)
        case .admitted: return text("event", "admitted")
        case .delayed(let delay, let cause):
            return text("event", "delayed") + text("seconds", delay.exactText) + outcome(cause)
        case .held(let cause, let hasQueue):
            return text("event", "held") + outcome(cause) + [.init("queue", .bool(hasQueue))]
        case .lined(let cause): return text("event", "lined") + outcome(cause)
        case .overdue(let cause): return text("event", "overdue") + outcome(cause)
        case .refused(let reason, let cause):
            return text("event", "refused") + text("reason", reason.rawValue) + outcome(cause)
        case .queued(let count): return text("event", "queued") + [.init("behind", .number(JSONValue.Number(count)))]
        case .waited: return text("event", "waited")
        case .succeeded: return text("event", "succeeded")
        case .failed(let failure, let obstacle, let hasQueue, let hedges):
            return text("event", "failed") + outcome(failure) + text("obstacle", obstacle?.rawValue)
                + [.init("queue", .bool(hasQueue))]
                + (hedges == 0 ? [] : [.init("hedges", .number(JSONValue.Number(hedges)))])
        case .repaired(let name): return text("event", "repaired") + text("name", name)
        case .repairFailed(let conclusion, let reason):
            return text("event", "repair_failed") + outcome(conclusion) + text("reason", reason.rawValue)
        }
    }

    /// Reads what ``recorded`` has written; nil for what it cannot have written.
    init?(recorded json: JSONValue) {
        let outcome = json["outcome"].flatMap { Outcome(recorded: $0) }
        if json["outcome"] != nil, outcome == nil { return nil }
        let reason = json["reason"]?.string.map { History.StopReason(rawValue: $0) }
        let hasQueue = json["queue"]?.bool ?? false
        switch json["event"]?.string {
        case "begun":
            let kind = json["repeating"]?.string.flatMap { Outcome.Kind(rawValue: $0) }
            self = outcome == nil && kind == nil ? .begun : .continued(following: outcome, repeating: kind)
        case "admitted": self = .admitted
        case "delayed":
            guard let outcome, let delay = json["seconds"]?.string.flatMap({ Duration(exactText: $0) }) else {
                return nil
            }
            self = .delayed(delay, because: outcome)
        case "held":
            guard let outcome else { return nil }
            self = .held(because: outcome, hasQueue: hasQueue)
        case "lined", "overdue":
            guard let outcome else { return nil }
            self = json["event"]?.string == "lined" ? .lined(because: outcome) : .overdue(because: outcome)
        case "refused":
            guard let reason else { return nil }
            self = .refused(reason, because: outcome)
        case "queued":
            guard let count = json["behind"]?.number.flatMap({ Int(exactly: $0.saturatedInt) }) else { return nil }
            self = .queued(behind: count)
        case "waited": self = .waited
        case "succeeded": self = .succeeded
        case "failed":
            guard let outcome else { return nil }
            let obstacle = json["obstacle"]?.string.map { History.StopReason(rawValue: $0) }
            let hedges = json["hedges"]?.number.map { Int(clamping: $0.saturatedInt) } ?? 0
            self = .failed(outcome, obstacle: obstacle, hasQueue: hasQueue, hedges: max(0, hedges))
        case "repaired":
            guard let name = json["name"]?.string else { return nil }
            self = .repaired(name: name)
        case "repair_failed":
            guard let outcome, let reason else { return nil }
            self = .repairFailed(outcome, reason)
        default: return nil
        }
    }
}

extension CallState.Action {
    /// The action in words, times without any loss: what a recording compares.
    var words: String {
        switch self {
        case .admit(let cause, let isDue, _): "ask \(cause)" + (isDue ? "" : " before its wait")
        case .attempt(let cause): "attempt \(cause)"
        case .queue: "queue"
        case .stand(let limit, let outcome): "stand \(limit.exactText) \(outcome.kind.rawValue)"
        case .wait(let delay, let reason): "wait \(delay.exactText) \(reason.rawValue)"
        case .repair(let repair, _): "repair \(repair.name)"
        case .finish: "finish"
        case .fail(let outcome, let reason, let needed):
            "fail \(outcome.kind.rawValue) \(reason)" + (needed.map { " \($0.exactText)" } ?? "")
        }
    }
}
