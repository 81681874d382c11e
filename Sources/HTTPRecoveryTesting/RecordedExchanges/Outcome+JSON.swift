public import HTTPRecovery

extension Outcome {
    /// The outcome as a JSON object with all the keys that a recorded exchange is answered with, `null` if one does
    /// not apply.
    ///
    /// A lockout without an end has no time, so `lockout_s` is `null` for it too. The token action is always there: it
    /// is `keep` if no credential was presented, since then none is lost.
    ///
    /// - Parameter name: The name of the recorded exchange.
    public func json(name: String?) -> JSONValue {
        var lockoutTime: Duration?
        if case .remaining(let time) = lockout { lockoutTime = time }
        return [
            "name": Self.text(name),
            "kind": .string(kind.rawValue),
            "code": Self.text(code),
            "subcode": Self.text(subcode),
            "status_type": Self.text(statusType),
            "factor_result": Self.text(factorResult),
            "param": Self.text(parameter),
            "credential": Self.text(credential?.rawValue),
            "retry_after_s": Self.seconds(retryAfter),
            "lockout_s": Self.seconds(lockoutTime),
            "token_action": .string(tokenAction.rawValue),
            "remedies": .array(remedies.map { .string($0.rawValue) }),
            "processed": .string(processed.rawValue),
            "user_message": Self.text(userMessage),
            "trace_id": Self.text(traceID),
            "advice": advice ?? .null,
            "items": items.isEmpty ? .null : .array(items.map { $0.json(name: nil) }),
        ]
    }

    private static func text(_ text: String?) -> JSONValue {
        text.map { .string($0) } ?? .null
    }

    private static func seconds(_ duration: Duration?) -> JSONValue {
        duration.map { .number(JSONValue.Number(seconds: $0)) } ?? .null
    }
}
