/// A bound for what was measured.
struct Limit {
    /// How what was measured becomes one number.
    enum Measure {
        case value(Results.Key)
        /// The median of the ratios within each round.
        case ratio(Results.Key, Results.Key)
        case difference(Results.Key, Results.Key)
    }

    let name: String
    let measure: Measure
    let most: Double

    /// What was measured; nil if that part did not run.
    func value(in results: Results) -> Double? {
        switch measure {
        case .value(let key): results.value(key)
        case .ratio(let key, let base): results.median(key, base, /)
        case .difference(let key, let base): results.median(key, base, -)
        }
    }

    private static func cpu(_ part: String, _ point: String, _ contestant: String) -> Results.Key {
        Results.Key(part: part, point: point, contestant: contestant, metric: "cpu_us")
    }

    private static func flight(_ contestant: String, _ metric: String) -> Results.Key {
        Results.Key(part: "flight", point: "all", contestant: contestant, metric: metric)
    }

    private static func cpu(
        _ name: String,
        _ part: String,
        _ point: String,
        _ contestant: String = "stack",
        to base: String,
        _ most: Double
    ) -> Limit {
        Limit(name: name, measure: .ratio(cpu(part, point, contestant), cpu(part, point, base)), most: most)
    }

    /// The limits of `Benchmarks/run`, here and nowhere else.
    static let all = requests + flights + bodies + others

    private static let requests = [
        cpu("HTTP/1.1, 64 at a time, default executor, to C", "h1", "64", to: "c", 1.35),
        cpu("HTTP/1.1, 64 at a time, loop executor, to C", "h1", "64", "stack-loop", to: "c", 1.15),
        cpu("HTTP/1.1, 1 at a time, to C", "h1", "1", to: "c", 1.4),
        cpu("HTTP/1.1, 4096 at a time, to C with one multi handle", "h1", "4096", to: "c", 0.6),
        cpu("HTTP/1.1, 1 at a time, to AsyncHTTPClient", "h1", "1", to: "ahc", 0.5),
        cpu("HTTP/1.1, 64 at a time, to AsyncHTTPClient", "h1", "64", to: "ahc", 0.55),
        cpu("HTTP/1.1, 4096 at a time, to AsyncHTTPClient", "h1", "4096", to: "ahc", 0.35),
        cpu("HTTP/1.1, 64 at a time, to URLSession", "h1", "64", to: "urlsession", 0.08),
        cpu("HTTP/2 over TLS, 64 at a time, to C", "h2", "64", to: "c", 1.4),
        cpu("HTTP/2 over TLS, 64 at a time, to AsyncHTTPClient", "h2", "64", to: "ahc", 0.55),
        Limit(
            name: "4096 at a time to 64 at a time",
            measure: .ratio(cpu("h1", "4096", "stack"), cpu("h1", "64", "stack")),
            most: 1.35
        ),
        Limit(
            name: "16 at a time beside idle requests to 16 alone",
            measure: .ratio(cpu("beside", "idle", "stack"), cpu("beside", "alone", "stack")),
            most: 1.1
        ),
    ]

    private static let flights = [
        Limit(
            name: "Memory of a request in flight, to C",
            measure: .ratio(flight("stack", "bytes_each"), flight("c", "bytes_each")),
            most: 1.25
        ),
        Limit(
            name: "Memory of a request in flight, to AsyncHTTPClient",
            measure: .ratio(flight("stack", "bytes_each"), flight("ahc", "bytes_each")),
            most: 0.8
        ),
        Limit(name: "CPU of all in flight, ms/s", measure: .value(flight("stack", "idle_ms_per_s")), most: 2),
        Limit(name: "Cancel to return, median, us", measure: .value(flight("stack", "cancel_us")), most: 60),
    ]

    private static let others = [
        Limit(
            name: "Cancel to return during a name lookup, worst, us",
            measure: .value(
                Results.Key(part: "lookup", point: "all", contestant: "stack", metric: "cancel_worst_us")
            ),
            most: 10_000
        ),
        Limit(
            name: "Allocations above C",
            measure: .difference(
                Results.Key(part: "alloc", point: "64", contestant: "stack", metric: "allocations"),
                Results.Key(part: "alloc", point: "64", contestant: "c", metric: "allocations")
            ),
            most: 12
        ),
        Limit(
            name: "POST on a used connection that dies: times it is seen",
            measure: .value(Results.Key(part: "post", point: "used", contestant: "stack", metric: "seen")),
            most: 1
        ),
        Limit(
            name: "HTTP/2, 64 at once: connections",
            measure: .value(Results.Key(part: "burst", point: "64", contestant: "stack", metric: "connections")),
            most: 1
        ),
        Limit(
            name: "HTTP/2, 600 at once: connections",
            measure: .value(Results.Key(part: "burst", point: "600", contestant: "stack", metric: "connections")),
            most: 6
        ),
    ]

    private static let bodies = ["1", "16"].flatMap { count in
        [
            cpu("1 MiB collected, \(count) at a time, to C", "collected", count, to: "c", 1.25),
            cpu("1 MiB collected, \(count) at a time, to AsyncHTTPClient", "collected", count, to: "ahc", 0.5),
            Limit(
                name: "1 MiB, \(count) at a time, streamed to collected",
                measure: .ratio(cpu("streamed", count, "stack"), cpu("collected", count, "stack")),
                most: 1.4
            ),
        ]
    }
}
