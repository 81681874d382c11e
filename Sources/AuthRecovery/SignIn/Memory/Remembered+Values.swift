package import HTTPRecovery

extension Duration: Remembered {
    package var memory: JSONValue {
        [.number(JSONValue.Number(components.seconds)), .number(JSONValue.Number(components.attoseconds))]
    }

    package init?(memory: JSONValue) {
        guard let seconds = memory[0]?.number?.saturatedInt, let attoseconds = memory[1]?.number?.saturatedInt,
            abs(attoseconds / 2) < 500_000_000_000_000_000, seconds.magnitude <= Duration.longest.components.seconds
        else { return nil }
        self.init(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }
}

extension Timestamp: Remembered {
    package var memory: JSONValue { sinceEpoch.memory }

    package init?(memory: JSONValue) {
        guard let time = Duration(memory: memory) else { return nil }
        self.init(sinceEpoch: time)
    }
}

extension Secret: Remembered {
    package var memory: JSONValue { .string(reveal()) }

    package init?(memory: JSONValue) {
        guard let text = memory.string else { return nil }
        self.init(text)
    }
}

extension Outcome.Kind: Remembered {}
extension Outcome.Scope: Remembered {}
extension Outcome.Processed: Remembered {}
extension Outcome.TokenAction: Remembered {}
extension Outcome.CredentialKind: Remembered {}
extension Outcome.Remedy: Remembered {}
extension History.StopReason: Remembered {}
extension TransportError.Code: Remembered {}
extension TransportError.Certainty: Remembered {}
extension Factor.Key: Remembered {}

extension Outcome.Lockout: Remembered {
    package var memory: JSONValue {
        if case .remaining(let time) = self { time.memory } else { true }
    }

    package init?(memory: JSONValue) {
        self = Duration(memory: memory).map { .remaining($0) } ?? .indefinite
    }
}

extension Outcome: RememberedFields {
    package init() { self.init(.unknown) }

    package static var fields: [RememberedField<Outcome>] {
        [
            .init("kind", \.kind), .init("scope", \.scope), .init("processed", \.processed),
            .init("retry_after", \.retryAfter), .init("lockout", \.lockout), .init("remedies", \.remedies),
            .init("credential", \.credential), .init("token_action", \.tokenAction), .init("code", \.code),
            .init("subcode", \.subcode), .init("message", \.message), .init("user_message", \.userMessage),
            .init("param", \.parameter), .init("status_type", \.statusType), .init("factor_result", \.factorResult),
            .init("trace_id", \.traceID), .init("advice", \.advice), .init("details", \.details),
            .init("status", \.status), .init("transport_error", \.transportError), .init("items", \.items),
        ]
    }
}

extension TransportError: RememberedFields {
    package init() { self.init(.other, .unknown) }

    package static var fields: [RememberedField<TransportError>] {
        [.init("code", \.code), .init("certainty", \.certainty), .init("transient", \.isTransient)]
    }
}

/// Without history, response and cause: those are of the step that has failed.
extension RecoveryError: RememberedFields {
    package init() { self.init(outcome: Outcome(), reason: .notRecoverable) }

    package static var fields: [RememberedField<RecoveryError>] {
        [
            .init("outcome", \.outcome), .init("reason", \.reason), .init("retry_after", \.retryAfter),
            .init("retry_at", \.retryAt),
        ]
    }
}

extension RequestOptions.SendBy: RememberedFields {
    package init() { self.init(Timestamp(secondsSinceEpoch: 0)) }

    package static var fields: [RememberedField<RequestOptions.SendBy>] {
        [.init("moment", \.moment), .init("outcome", \.outcome)]
    }
}

extension Factor: RememberedFields {
    package init() { self.init(key: .text, providerName: "") }

    package static var fields: [RememberedField<Factor>] {
        [
            .init("key", \.key), .init("name", \.providerName), .init("destination", \.destination),
            .init("id", \.id), .init("default", \.isDefault),
        ]
    }
}

extension Challenge: RememberedFields {
    package init() { self.init(factor: Factor()) }

    package static var fields: [RememberedField<Challenge>] {
        [
            .init("factor", \.factor), .init("round", \.round), .init("previous_failure", \.previousFailure),
            .init("attempts_left", \.attemptsLeft), .init("occasion", \.occasion), .init("hint", \.hint),
            .init("prompt", \.prompt), .init("number", \.number), .init("setup", \.setup),
            .init("url", \.url), .init("poll", \.poll),
        ]
    }
}

extension SignInContext.Pause: RememberedFields {
    package init() { self.init(.zero) }

    package static var fields: [RememberedField<SignInContext.Pause>] {
        [.init("duration", \.duration), .init("reason", \.reason)]
    }
}

extension OAuthClient.ProofKey: Remembered {
    package var memory: JSONValue { verifier.memory }

    package init?(memory: JSONValue) {
        guard let verifier = Secret(memory: memory) else { return nil }
        self.init(verifier: verifier)
    }
}
