import CoreMetrics
import Synchronization

/// One counter, gauge or histogram with its labels.
final class PrometheusSeries: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    /// What it is, by Prometheus's word.
    enum Form: String {
        case counter, gauge, histogram
    }

    private struct State {
        /// The count, the gauge or the sum.
        var value = 0.0
        /// How many fell between two bounds; the last are those above all.
        var counts: [UInt64] = []
    }

    /// The upper bounds of a histogram: seconds, for what is timed.
    private static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

    private let form: Form
    private let state: Mutex<State>

    init(_ form: Form) {
        self.form = form
        let counts = form == .histogram ? Array(repeating: UInt64(0), count: Self.bounds.count + 1) : []
        state = Mutex(State(counts: counts))
    }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { state.withLock { $0.value += amount } }
    func decrement(by amount: Double) { increment(by: -amount) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { state.withLock { $0.value = value } }
    func reset() { set(0.0) }
    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Double) {
        guard form == .histogram else { return set(value) }
        let place = Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count
        state.withLock { state in
            state.counts[place] += 1
            state.value += value
        }
    }

    /// What Prometheus is told.
    func lines(_ name: String, _ labels: String) -> [String] {
        let state = state.withLock { $0 }
        let place = labels.isEmpty ? "" : "{\(labels)}"
        guard form == .histogram else { return ["\(name)\(place) \(state.value)"] }
        var count: UInt64 = 0
        var lines: [String] = []
        for (bound, own) in zip(Self.bounds.map { "\($0)" } + ["+Inf"], state.counts) {
            count += own
            lines.append("\(name)_bucket{\(labels)\(labels.isEmpty ? "" : ",")le=\"\(bound)\"} \(count)")
        }
        return lines + ["\(name)_sum\(place) \(state.value)", "\(name)_count\(place) \(count)"]
    }
}
