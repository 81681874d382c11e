#if Observability
import HTTPRecovery
import Logging

/// Logs events: a static message each, with what belongs to it as metadata.
struct EventLog: Sendable {
    let logger: Logger

    func note(_ event: RecoveryEvent) {
        let (level, message) = Self.line(event.kind)
        guard level >= logger.logLevel else { return }
        var metadata: Logger.Metadata = ["recovery.call.id": "\(event.call)"]
        if let parent = event.parent { metadata["recovery.parent.id"] = "\(parent)" }
        if let label = event.label { metadata["recovery.label"] = "\(label)" }
        if let method = event.method { metadata["http.request.method"] = "\(method)" }
        // An attempt may be made elsewhere than the call began.
        let url = if case .attempt(_, _, let own, _) = event.kind { own } else { event.url }
        if let url { metadata["url.full"] = "\(url)" }
        if let server = Server(url: url) { metadata["server.address"] = "\(server.address)" }
        if let cause = event.waitCause { metadata["recovery.wait.cause"] = "\(cause.rawValue)" }
        for (key, value) in Self.details(event.kind) { metadata[key] = "\(value)" }
        logger.log(level: level, message, metadata: metadata)
    }

    /// Nothing stands above `debug` that the caller is told by an error, or by the answer.
    private static func line(_ kind: RecoveryEvent.Kind) -> (Logger.Level, Logger.Message) {
        switch kind {
        case .attempt: (.trace, "HTTP attempt begins")
        case .response: (.trace, "HTTP response arrived")
        case .failure: (.debug, "HTTP attempt failed")
        case .wait: (.debug, "HTTP call waits")
        case .line: (.debug, "HTTP call stands in a line")
        case .retry: (.debug, "HTTP request is sent again")
        case .refresh: (.debug, "Credential renewal ended")
        case .clear: (.info, "Refused credential was removed")
        case .fallback: (.debug, "Sign-in goes on with another factor")
        case .challenge: (.debug, "Sign-in asks for something")
        case .breaker: (.info, "Circuit breaker changed its state")
        case .store(.available): (.info, "Store answers again")
        case .store: (.warning, "Store does not answer")
        case .givingUp: (.debug, "HTTP call is given up")
        case .done: (.debug, "HTTP call ended")
        @unknown default: (.trace, "HTTP call went on")
        }
    }

    private static func details(_ kind: RecoveryEvent.Kind) -> [(String, Any)] {
        switch kind {
        case .attempt(let number, let method, _, let transport):
            [
                ("recovery.attempt", number), ("http.request.method", method), ("recovery.transport", transport),
            ]
        case .response(let number, let status, let elapsed):
            [
                ("recovery.attempt", number), ("http.response.status_code", status),
                ("recovery.elapsed", elapsed.inSeconds),
            ]
        case .failure(let number, let outcome):
            [("recovery.attempt", number)] + Self.details(outcome)
        case .wait(let reason, let duration, _), .line(let reason, let duration, _):
            [("recovery.reason", reason.rawValue), ("recovery.wait", duration.inSeconds)]
        case .retry(let number, let reason): [("recovery.attempt", number), ("recovery.reason", reason.rawValue)]
        case .refresh(let result): [("recovery.result", result.rawValue)]
        case .clear(let kind): [("recovery.credential", kind.rawValue)]
        case .fallback(let from, let to): [("recovery.from", from), ("recovery.to", to)]
        case .challenge(let kind, _): [("recovery.challenge", kind)]
        case .breaker(let state, let time):
            [("recovery.state", state)] + (time.map { [("recovery.wait", $0.inSeconds)] } ?? [])
        case .store(.degraded(let store, let reason)): [("recovery.store", store), ("recovery.store.reason", reason)]
        case .givingUp(let outcome, let reason, let wait, _):
            Self.details(outcome) + [("recovery.reason", reason.rawValue)]
                + (wait.map { [("recovery.wait", $0.inSeconds)] } ?? [])
        case .done(let end, let attempts, let waited, let elapsed):
            [
                ("recovery.result", end.rawValue), ("recovery.attempts", attempts),
                ("recovery.waited", waited.inSeconds), ("recovery.elapsed", elapsed.inSeconds),
            ]
        default: []
        }
    }

    /// The kind and the status: what the server has written may hold anything.
    private static func details(_ outcome: Outcome) -> [(String, Any)] {
        [("error.type", outcome.kind.rawValue)]
            + (outcome.status.map { [("http.response.status_code", $0)] } ?? [])
    }
}
#endif
