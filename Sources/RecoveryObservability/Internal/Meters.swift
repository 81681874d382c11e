#if Observability
import HTTPRecovery
import Metrics

/// The metrics with their dimensions, each made once.
final class Meters: Sendable {
    typealias Dimensions = [(String, String)]

    /// More servers than these are counted together: what a name is made of may come from outside.
    private static let mostServers = 100

    private struct State {
        var counters: [String: Counter] = [:]
        var timers: [String: Timer] = [:]
        var meters: [String: Meter] = [:]
        var servers: Set<Server> = []
    }

    private let factory: any MetricsFactory
    private let state = Locked(State())

    init(_ factory: any MetricsFactory) {
        self.factory = factory
    }

    /// A server as dimensions, of which there are not many.
    func dimensions(of server: Server) -> Dimensions {
        let isKnown = state.withLock { state in
            if state.servers.contains(server) { return true }
            guard state.servers.count < Self.mostServers else { return false }
            state.servers.insert(server)
            return true
        }
        guard isKnown else { return [("server.address", "_OTHER"), ("server.port", "0")] }
        return [("server.address", server.address), ("server.port", String(server.port))]
    }

    func count(_ metric: Metric, _ dimensions: Dimensions = []) {
        let key = key(metric, dimensions)
        let counter = state.withLock { state in
            if let known = state.counters[key] { return known }
            let new = Counter(label: metric.rawValue, dimensions: dimensions, factory: factory)
            state.counters[key] = new
            return new
        }
        counter.increment()
    }

    func time(_ metric: Metric, _ duration: Duration, _ dimensions: Dimensions = []) {
        let key = key(metric, dimensions)
        let timer = state.withLock { state in
            if let known = state.timers[key] { return known }
            let new = Timer(
                label: metric.rawValue,
                dimensions: dimensions,
                preferredDisplayUnit: .seconds,
                factory: factory
            )
            state.timers[key] = new
            return new
        }
        timer.recordNanoseconds(max(0, duration.whole(.nanoseconds(1))))
    }

    func set(_ metric: Metric, _ value: Double, _ dimensions: Dimensions = []) {
        meter(metric, dimensions).set(value)
    }

    func add(_ metric: Metric, _ amount: Double, _ dimensions: Dimensions = []) {
        let meter = meter(metric, dimensions)
        if amount < 0 { meter.decrement(by: -amount) } else { meter.increment(by: amount) }
    }

    private func meter(_ metric: Metric, _ dimensions: Dimensions) -> Meter {
        let key = key(metric, dimensions)
        return state.withLock { state in
            if let known = state.meters[key] { return known }
            let new = Meter(label: metric.rawValue, dimensions: dimensions, factory: factory)
            state.meters[key] = new
            return new
        }
    }

    private func key(_ metric: Metric, _ dimensions: Dimensions) -> String {
        dimensions.reduce(metric.rawValue) { "\($0)\u{0}\($1.0)=\($1.1)" }
    }
}
#endif
