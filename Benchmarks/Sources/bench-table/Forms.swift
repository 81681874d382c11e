import HTTPRecovery
import Plots

/// What was measured, for programs and for the eye.
enum Forms {
    static func json(_ results: Results) -> String {
        let numbers = results.rounds.sorted { first, second in
            let keys = [first.key, second.key].map { [$0.part, $0.point, $0.contestant, $0.metric] }
            return keys[0].lexicographicallyPrecedes(keys[1])
        }
        let measured = numbers.map { key, rounds in
            let values = rounds.sorted { $0.key < $1.key }.map { number($0.value) }
            return JSONValue.object([
                .init("part", .string(key.part)), .init("point", .string(key.point)),
                .init("contestant", .string(key.contestant)), .init("metric", .string(key.metric)),
                .init("median", number(results.median(key))), .init("rounds", .array(values)),
            ])
        }
        let limits = Limit.all.map { limit in
            let value = limit.value(in: results)
            return JSONValue.object([
                .init("name", .string(limit.name)), .init("measured", number(value)),
                .init("limit", number(limit.most)),
                .init("met", value.map { .bool($0 <= limit.most) } ?? .null),
            ])
        }
        let facts = results.facts.map { JSONValue.Member($0.key, .string($0.text)) }
        return JSONValue.object([
            .init("facts", .object(facts)), .init("results", .array(measured)), .init("limits", .array(limits)),
        ]).description + "\n"
    }

    private static func number(_ value: Double?) -> JSONValue { value.map { .number(.init($0)) } ?? .null }

    /// The ratio to C by concurrency.
    static func svg(_ results: Results) -> String {
        let sizes = ["1", "16", "64", "256", "1024", "4096"]
        let shown = ["c", "bare", "bare-loop", "stack", "stack-loop", "ahc"]
        let charts = [("h1", "HTTP/1.1"), ("h2", "HTTP/2 over TLS")].compactMap { part, name -> Chart? in
            let lines = Tables.contestants.filter { shown.contains($0.key) }.compactMap { contestant -> Chart.Line? in
                let points = sizes.enumerated().compactMap { index, size -> (x: Double, y: Double)? in
                    let key = Results.Key(part: part, point: size, contestant: contestant.key, metric: "cpu_us")
                    var base = key
                    base.contestant = "c"
                    return results.median(key, base, /).map { (Double(index), $0) }
                }
                return points.isEmpty ? nil : Chart.Line(name: contestant.name, points: points)
            }
            guard !lines.isEmpty else { return nil }
            return Chart(
                title: "\(name), 200 bytes: CPU per request as a ratio to libcurl from C, by requests at a time",
                lines: lines,
                most: 4,
                labels: sizes
            )
        }
        return Chart.svg(charts)
    }

    /// An article in which the tables stand between two marks.
    ///
    /// - Returns: Nil if the marks are not there.
    static func article(_ text: String, with results: Results) -> String? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let begin = lines.firstIndex(of: "<!-- begin of what Benchmarks/run measured -->"),
            let end = lines.firstIndex(of: "<!-- end of what Benchmarks/run measured -->"), begin < end
        else { return nil }
        let facts = results.facts.map { "\($0.key): \($0.text)" }.joined(separator: "; ") + "."
        let tables = Tables.all(results).map(\.markdown)
        let (before, after) = (lines[...begin].joined(separator: "\n"), lines[end...].joined(separator: "\n"))
        return ([before, facts + "\n"] + tables + [after]).joined(separator: "\n")
    }
}
