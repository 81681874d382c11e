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

    /// The names under which Prometheus keeps it, by the rules of OpenTelemetry.
    package var prometheusNames: [String] {
        let name = rawValue.split(separator: ".").joined(separator: "_")
        return switch form {
        case .counter: ["\(name)_total"]
        case .timer: ["bucket", "count", "sum"].map { "\(name)_seconds_\($0)" }
        case .meter: [name]
        }
    }
}
#endif
