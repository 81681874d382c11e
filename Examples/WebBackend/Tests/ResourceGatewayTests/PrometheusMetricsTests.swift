import Metrics
import Testing

@testable import ResourceGateway

@Suite struct PrometheusMetricsTests {
    @Test func countersGaugesAndHistogramsAreWrittenAsPrometheusReadsThem() {
        let metrics = PrometheusMetrics()
        Counter(label: "calls.made", dimensions: [("recovery.result", "ok")], factory: metrics).increment(by: 2)
        Counter(label: "calls.made", dimensions: [("recovery.result", "ok")], factory: metrics).increment()
        let meter = Meter(label: "waiting", factory: metrics)
        meter.increment(by: 3)
        meter.decrement()
        let timer = Timer(label: "took", dimensions: [("a", "b")], factory: metrics)
        for seconds in [0.005, 0.3, 100] { timer.recordSeconds(seconds) }
        let lines = metrics.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "# TYPE calls_made_total counter" && lines.last == "")
        for line in [
            "calls_made_total{recovery_result=\"ok\"} 3.0", "# TYPE waiting gauge", "waiting 2.0",
            "# TYPE took_seconds histogram", "took_seconds_bucket{a=\"b\",le=\"0.005\"} 1",
            "took_seconds_bucket{a=\"b\",le=\"0.25\"} 1", "took_seconds_bucket{a=\"b\",le=\"0.5\"} 2",
            "took_seconds_bucket{a=\"b\",le=\"60.0\"} 2", "took_seconds_bucket{a=\"b\",le=\"+Inf\"} 3",
            "took_seconds_sum{a=\"b\"} 100.305", "took_seconds_count{a=\"b\"} 3",
        ] {
            #expect(lines.contains(Substring(line)), "\(line)")
        }
    }

    @Test func whatAValueSaysEndsNoLabel() {
        let metrics = PrometheusMetrics()
        Gauge(label: "1 odd-name", dimensions: [("ä", "\"}\n\\")], factory: metrics).record(1)
        #expect(metrics.text == "# TYPE _1_odd_name gauge\n_1_odd_name{_=\"\\\"}\\n\\\\\"} 1.0\n")
    }

    /// Prometheus reads bytes, whatever characters they are parts of.
    @Test(arguments: [
        ("\"\u{301}", #"\""# + "\u{301}"), ("\r\n", "\r" + #"\n"#), ("\\\u{20DD}", #"\\"# + "\u{20DD}"),
        ("\n\u{308}", #"\n"# + "\u{308}"), ("ä \u{1F9D1}\u{200D}\u{1F680}", "ä \u{1F9D1}\u{200D}\u{1F680}"),
    ])
    func aValueIsEscapedByteByByte(value: String, written: String) {
        let metrics = PrometheusMetrics()
        Gauge(label: "g", dimensions: [("a", value)], factory: metrics).record(1)
        #expect(Array(metrics.text.utf8) == Array("# TYPE g gauge\ng{a=\"\(written)\"} 1.0\n".utf8))
    }

    @Test func aNameHasOneTypeAndGoesWithItsLastSeries() {
        let metrics = PrometheusMetrics()
        let first = Meter(label: "size", factory: metrics)
        first.set(1)
        Recorder(label: "size", factory: metrics).record(5)
        #expect(metrics.text == "# TYPE size gauge\nsize 1.0\n")
        first.destroy()
        #expect(metrics.text.isEmpty)
    }
}
