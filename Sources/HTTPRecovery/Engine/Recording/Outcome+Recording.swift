extension Outcome {
    /// What decisions are made by, as JSON: words and times, and none of the provider's texts or values.
    var recorded: JSONValue {
        var members: [JSONValue.Member] = [
            .init("kind", .string(kind.rawValue)), .init("scope", .string(scope.rawValue)),
            .init("processed", .string(processed.rawValue)), .init("token_action", .string(tokenAction.rawValue)),
            .init("remedies", .array(remedies.map { .string($0.rawValue) })),
        ]
        func add(_ name: String, _ text: String?) {
            if let text { members.append(.init(name, .string(text))) }
        }
        add("retry_after", retryAfter?.exactText)
        if delayForm != .atLeast { add("delay_form", delayForm.rawValue) }
        switch lockout {
        case .remaining(let time): add("lockout", time.exactText)
        case .indefinite: add("lockout", "indefinite")
        case nil: break
        }
        add("credential", credential?.rawValue)
        add("code", code?.loggable)
        add("subcode", subcode?.loggable)
        // Whether there was an advice can decide; what it says is the provider's.
        if let advice { members.append(.init("advice", advice.redacted())) }
        if let status { members.append(.init("status", .number(JSONValue.Number(status)))) }
        if let error = transportError {
            add("transport", error.code.rawValue)
            add("certainty", error.certainty.rawValue)
            members.append(.init("transient", .bool(error.isTransient)))
        }
        return .object(members)
    }

    /// Reads what ``recorded`` has written; nil for what it cannot have written.
    init?(recorded json: JSONValue) {
        guard let kind = json["kind"]?.string.flatMap({ Kind(rawValue: $0) }),
            let scope = json["scope"]?.string.flatMap({ Scope(rawValue: $0) }),
            let processed = json["processed"]?.string.flatMap({ Processed(rawValue: $0) }),
            let action = json["token_action"]?.string.flatMap({ TokenAction(rawValue: $0) }),
            let remedies = json["remedies"]?.array
        else { return nil }
        self.init(kind, scope: scope, processed: processed)
        self.remedies = remedies.compactMap { $0.string.flatMap { Outcome.Remedy(rawValue: $0) } }
        tokenAction = action
        if let text = json["retry_after"]?.string {
            guard let time = Duration(exactText: text) else { return nil }
            retryAfter = time
        }
        delayForm = json["delay_form"]?.string.flatMap { DelayForm(rawValue: $0) } ?? .atLeast
        switch json["lockout"]?.string {
        case nil: break
        case "indefinite": lockout = .indefinite
        case let text?:
            guard let time = Duration(exactText: text) else { return nil }
            lockout = .remaining(time)
        }
        credential = json["credential"]?.string.flatMap { CredentialKind(rawValue: $0) }
        code = json["code"]?.string
        subcode = json["subcode"]?.string
        advice = json["advice"]
        status = json["status"]?.number.flatMap { Int(exactly: $0.saturatedInt) }
        if let code = json["transport"]?.string,
            let certainty = json["certainty"]?.string.flatMap({ TransportError.Certainty(rawValue: $0) })
        {
            var error = TransportError(TransportError.Code(rawValue: code), certainty)
            error.isTransient = json["transient"]?.bool ?? error.isTransient
            transportError = error
        }
    }
}
