public import CoreMetrics
import Synchronization

/// Keeps a program's metrics for Prometheus, which asks for them as text.
///
/// Names follow OpenTelemetry's rules: dots become underscores, a counter ends with `_total`, and what is timed is a histogram in
/// seconds, with the suffix `_seconds`.
public final class PrometheusMetrics: MetricsFactory {
    private struct Family {
        let form: PrometheusSeries.Form
        /// By their labels, as they are written.
        var series: [String: PrometheusSeries] = [:]
    }

    private let families = Mutex<[String: Family]>([:])

    /// Creates a registry without any metric.
    public init() {}

    /// All metrics as they are now, in Prometheus's text format 0.0.4, sorted by name.
    public var text: String {
        let families = families.withLock { $0 }
        var lines: [String] = []
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            lines.append("# TYPE \(name) \(family.form.rawValue)")
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                lines += series.lines(name, labels)
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Makes a counter.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series("\(label)_total", dimensions, .counter)
    }

    /// Makes a counter of fractions.
    public func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series("\(label)_total", dimensions, .counter)
    }

    /// Makes a gauge.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge)
    }

    /// Makes a histogram, or a gauge of what is recorded last.
    public func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        series(label, dimensions, aggregate ? .histogram : .gauge)
    }

    /// Makes a histogram of seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series("\(label)_seconds", dimensions, .histogram)
    }

    /// Forgets a counter.
    public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    /// Forgets a counter of fractions.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    /// Forgets a gauge.
    public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    /// Forgets a histogram.
    public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    /// Forgets a histogram of seconds.
    public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    /// The series of a name and its labels, which all who ask for it share.
    private func series(
        _ label: String,
        _ dimensions: [(String, String)],
        _ form: PrometheusSeries.Form
    ) -> PrometheusSeries {
        let name = Self.name(label)
        let labels = dimensions.map { "\(Self.name($0))=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        return families.withLock { families in
            var family = families[name] ?? Family(form: form)
            // A name has one type: what asks for it in another form is counted, and not shown.
            guard family.form == form else { return PrometheusSeries(form) }
            let series = family.series[labels] ?? PrometheusSeries(form)
            family.series[labels] = series
            families[name] = family
            return series
        }
    }

    private func remove(_ handler: AnyObject) {
        families.withLock { families in
            for (name, family) in families {
                guard let labels = family.series.first(where: { $0.value === handler })?.key else { continue }
                families[name]?.series[labels] = nil
                if families[name]?.series.isEmpty == true { families[name] = nil }
            }
        }
    }

    private static func name(_ text: String) -> String {
        let name = String(
            text.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") ? $0 : "_" }
        )
        return name.first?.isNumber == true ? "_\(name)" : name
    }

    private static func escaped(_ text: String) -> String {
        // Byte by byte: a quote with an accent behind it is a character of its own, and so are the two of a line's end.
        let bytes = text.utf8.reduce(into: [UInt8]()) { escaped, byte in
            switch byte {
            case UInt8(ascii: "\\"): escaped += "\\\\".utf8
            case UInt8(ascii: "\""): escaped += "\\\"".utf8
            case UInt8(ascii: "\n"): escaped += "\\n".utf8
            default: escaped.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
