/// The tables of all that was measured.
enum Tables {
    static let contestants: [(key: String, name: String)] = [
        ("c", "libcurl from C"),
        ("c-textbook", "libcurl from C, textbook epoll"),
        ("c-fresh", "libcurl from C, fresh memory for each body"),
        ("c-16k", "libcurl from C, buffer of 16 KiB"),
        ("bare", "CurlTransport"),
        ("bare-loop", "CurlTransport, loop executor"),
        ("stack", "CurlTransport, default stack"),
        ("stack-loop", "CurlTransport, default stack, loop executor"),
        ("ahc", "AsyncHTTPClient"),
        ("urlsession", "URLSession"),
    ]

    private static let unit = "us of CPU a request (ratio to C)"

    static func all(_ results: Results) -> [Table] {
        let sizes = ["1", "16", "64", "256", "1024", "4096"].map { (part: "", point: $0, title: $0) }
        func columns(_ part: String) -> [(part: String, point: String, title: String)] {
            sizes.map { (part, $0.point, $0.title) }
        }
        func bodies(_ version: String) -> [(part: String, point: String, title: String)] {
            ["collected", "streamed"].flatMap { part in
                ["1", "16"].map { ("\(version)\(part)", $0, "\(part), \($0) at a time") }
            }
        }
        let (flight, idle) = (results.fact("flight") ?? "?", results.fact("idle") ?? "?")
        let beside = [
            ("beside", "alone", "16 at a time alone"), ("beside", "idle", "16 at a time beside \(idle) idle"),
        ]
        return [
            cost("HTTP/1.1, 200 bytes, by requests at a time: \(unit)", columns("h1"), results),
            cost("HTTP/2 over TLS, 200 bytes, by requests at a time: \(unit)", columns("h2"), results),
            cost("HTTP/1.1, 1 MiB: \(unit)", bodies(""), results),
            cost("HTTP/2 over TLS, 1 MiB: \(unit)", bodies("h2-"), results),
            plain(
                "\(flight) requests in flight",
                [
                    ("flight", "all", "bytes_each", "bytes each"), ("flight", "all", "idle_ms_per_s", "CPU, ms/s"),
                    ("flight", "all", "cancel_us", "cancel to return, median, us"),
                    ("flight", "all", "cancel_worst_us", "worst of 200, us"),
                ],
                results
            ),
            cost("HTTP/1.1, 200 bytes: \(unit)", beside, results),
            plain(
                "Cancelled during a name lookup, us",
                [
                    ("lookup", "all", "cancel_us", "to return, median"), ("lookup", "all", "cancel_worst_us", "worst"),
                    ("lookup", "all", "next_us", "to the answer of the next request, median"),
                    ("lookup", "all", "next_worst_us", "worst"),
                ],
                results
            ),
            plain(
                "64 at a time: heap, a request",
                [("alloc", "64", "allocations", "allocations"), ("alloc", "64", "bytes", "bytes")],
                results
            ),
            plain(
                "64 at a time over HTTP/1.1: instructions a request, by the library that they are in",
                [
                    ("libcurl", "libcurl"), ("libc", "C library"), ("program", "the program and its packages"),
                    ("swift", "Swift's standard library"), ("concurrency", "Swift's concurrency, dispatch"),
                    ("rest", "dynamic linker and the rest"), ("all", "in all"),
                ].map { (part: "instructions", point: $0.0, metric: "count", title: $0.1) },
                results
            ),
            plain(
                "Connections of a burst over HTTP/2; how often a POST is seen whose connection dies",
                [
                    ("burst", "64", "connections", "64 at once"), ("burst", "600", "connections", "600 at once"),
                    ("post", "used", "seen", "POST on a used connection"),
                ],
                results
            ),
        ].compactMap(\.self) + [limits(results)]
    }

    private static func cost(
        _ title: String,
        _ columns: [(part: String, point: String, title: String)],
        _ results: Results
    ) -> Table? {
        table(title, columns.map(\.title)) { contestant in
            columns.map { column in
                let key = Results.Key(
                    part: column.part,
                    point: column.point,
                    contestant: contestant,
                    metric: "cpu_us"
                )
                var base = key
                base.contestant = "c"
                return results.value(key).map { value in
                    let ratio = results.median(key, base, /).map { " (\(fixed($0)))" }
                    return Table.number(value) + (ratio ?? "")
                }
            }
        }
    }

    private static func plain(
        _ title: String,
        _ columns: [(part: String, point: String, metric: String, title: String)],
        _ results: Results
    ) -> Table? {
        table(title, columns.map(\.title)) { contestant in
            columns.map { column in
                let key = Results.Key(
                    part: column.part,
                    point: column.point,
                    contestant: contestant,
                    metric: column.metric
                )
                return results.value(key).map(Table.number)
            }
        }
    }

    /// Leaves out what nobody has a number for.
    private static func table(
        _ title: String,
        _ columns: [String],
        cells: (String) -> [String?]
    ) -> Table? {
        let rows = contestants.map { (name: $0.name, cells: cells($0.key)) }
            .filter { row in row.cells.contains { $0 != nil } }
        let measured = columns.indices.filter { column in rows.contains { $0.cells[column] != nil } }
        guard !measured.isEmpty else { return nil }
        let body = rows.map { row in [row.name] + measured.map { row.cells[$0] ?? "-" } }
        return Table(title: title, rows: [[""] + measured.map { columns[$0] }] + body)
    }

    private static func limits(_ results: Results) -> Table {
        let rows = Limit.all.map { limit in
            let value = limit.value(in: results)
            let verdict = value.map { $0 <= limit.most ? "met" : "MISSED" } ?? "not measured"
            // So that one is not shown as met which is above by less than a hundredth.
            let shown = value.map { value in
                value < 10 && value != value.rounded() ? "\((value * 1000).rounded() / 1000)" : Table.number(value)
            }
            return [limit.name, shown ?? "-", Table.number(limit.most), verdict]
        }
        return Table(
            title: "The limits, for CurlTransport with the default stack",
            rows: [["", "measured", "limit", ""]] + rows
        )
    }

    /// A ratio with two digits behind the point.
    private static func fixed(_ ratio: Double) -> String {
        let hundredths = Int((ratio * 100).rounded())
        return "\(hundredths / 100)." + (hundredths % 100 < 10 ? "0" : "") + "\(hundredths % 100)"
    }
}
