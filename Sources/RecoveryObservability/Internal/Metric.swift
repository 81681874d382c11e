#if Observability
/// The metrics, by their names.
package enum Metric: String, Sendable, CaseIterable {
    case requestDuration = "http.client.request.duration"
    case activeRequests = "http.client.active_requests"
    case attempts = "http.recovery.attempts"
    case calls = "http.recovery.calls"
    case callDuration = "http.recovery.call.duration"
    case failures = "http.recovery.failures"
    case retries = "http.recovery.retries"
    case waitDuration = "http.recovery.wait.duration"
    case waiting = "http.recovery.waiting"
    case refreshes = "http.recovery.refreshes"
    case lockouts = "http.recovery.lockouts"
    case budget = "http.recovery.budget.balance"
    case breaker = "http.recovery.breaker.state"
    case store = "http.recovery.store.degraded"

    /// What is measured.
    package enum Form: Sendable {
        case counter, timer, meter
    }

    package var form: Form {
        switch self {
        case .requestDuration, .callDuration, .waitDuration: .timer
        case .activeRequests, .waiting, .budget, .breaker, .store: .meter
        case .attempts, .calls, .failures, .retries, .refreshes, .lockouts: .counter
        }
    }

    /// The names of its dimensions; of each there are few values.
    package var dimensions: [String] {
        let server = ["server.address", "server.port"]
        return switch self {
        case .requestDuration: server + ["http.request.method", "http.response.status_code", "error.type"]
        case .activeRequests, .attempts: server + ["http.request.method"]
        case .calls, .callDuration, .refreshes: ["recovery.result"]
        case .failures: ["error.type", "recovery.reason"]
        case .retries: ["recovery.reason"]
        case .waitDuration: ["recovery.reason", "recovery.wait.cause"]
        case .waiting: ["recovery.wait.cause"]
        case .lockouts, .budget, .breaker: server
        case .store: []
        }
    }

    /// The names under which Prometheus keeps it, by the rules of OpenTelemetry.
    package var prometheusNames: [String] {
        let name = Self.prometheusName(rawValue)
        return switch form {
        case .counter: ["\(name)_total"]
        case .timer: ["bucket", "count", "sum"].map { "\(name)_seconds_\($0)" }
        case .meter: [name]
        }
    }

    /// What Prometheus makes of a name, also of a dimension's.
    package static func prometheusName(_ name: String) -> String {
        name.split(separator: ".").joined(separator: "_")
    }
}
#endif
