#if Observability
import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Logging
import MetricsTestKit
import RecoveryObservability
import Testing

/// The examples of the documentation stand here, compiled, and its table and its dashboard are held to the code.
@Suite struct DocumentationExamples {
    @Test func oneLine() async throws {
        let transport = ScriptedTransport()
        let client = RecoveringClient(transport: transport, observability: Observability())
        #expect(try await client.send(Watched.get).status == .ok)
    }

    @Test func others() async throws {
        let (transport, factory) = (ScriptedTransport(), TestMetrics())
        var logger = Logger(label: "orders")
        logger[metadataKey: "service.version"] = "1.4.0"
        let observability = Observability(logger: logger, metrics: factory, tracer: nil)
        let client = RecoveringClient(transport: transport, observability: observability) {
            Deadline(.seconds(30))
            Recovery()
            AttemptTimeout(.seconds(10))
        }
        #expect(try await client.send(Watched.get).status == .ok)
        #expect(factory.counterTotal(label: "http.recovery.calls") == 1)
    }

    private static let file = URL(filePath: #filePath)
    private static let root = (0..<3).reduce(file) { directory, _ in directory.deletingLastPathComponent() }

    private static func page() throws -> String {
        let path = "Sources/RecoveryObservability/RecoveryObservability.docc/RecoveryObservability.md"
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func theTableHoldsEachMetric() throws {
        let rows = try Self.page().split(separator: "\n").filter { $0.hasPrefix("| `http.") }
        let cells = rows.map { $0.split(separator: "|").map { $0.filter { $0 != "`" && $0 != " " } } }
        #expect(cells.map { $0[0] } == Metric.allCases.map(\.rawValue))
        #expect(cells.map { $0[1] } == Metric.allCases.map { "\($0.form)" })
        let dimensions = Metric.allCases.map { metric in
            metric.dimensions.filter { $0 != "server.port" }.map { name in
                switch name {
                case "server.address": "server"
                case "http.request.method": "method"
                default: name
                }
            }
        }
        #expect(cells.map { $0[2].split(separator: ",").map(String.init) } == dimensions)
    }

    private struct Dashboard: Decodable {
        struct Panel: Decodable {
            struct Target: Decodable {
                let expr: String
                let legendFormat: String?
            }
            let id: Int
            let title: String
            let targets: [Target]
        }
        struct Templating: Decodable {
            struct Variable: Decodable { let query: String }
            let list: [Variable]
        }
        let panels: [Panel]
        let templating: Templating
    }

    /// What a query asks for; the labels by which it chooses and groups have to be those of the metric.
    private struct Query {
        let metrics: [Metric]
        /// By what it groups.
        let groups: Set<String>

        init(_ text: String) {
            let known = Dictionary(
                uniqueKeysWithValues: Metric.allCases.flatMap { metric in metric.prometheusNames.map { ($0, metric) } }
            )
            var (metrics, groups) = ([Metric](), Set<String>())
            for match in text.matches(of: /\bby \(([a-z_, ]*)\)/) {
                groups.formUnion(match.output.1.split { $0 == "," || $0 == " " }.map(String.init))
            }
            // What stands where a label does is none.
            let rest = text.replacing(/\bby \([a-z_, ]*\)/, with: "")
            for match in rest.matches(of: /\b(http_[a-z_]+)(?:\{([^}]*)\})?/) {
                let (name, selector) = (String(match.output.1), match.output.2 ?? "")
                guard let metric = known[name] else {
                    if Self.labels.contains(name) { continue }
                    Issue.record("\(name) is no metric: \(text)")
                    continue
                }
                metrics.append(metric)
                let chosen = selector.matches(of: /([a-z_]+) *(?:=~|!~|!=|=)/).map { String($0.output.1) }
                #expect(Set(chosen).isSubset(of: Self.labels(of: metric)), "\(text)")
                // The buckets of a timer are told apart by one more.
                let own = Self.labels(of: metric).union(name.hasSuffix("_bucket") ? ["le"] : [])
                #expect(groups.isSubset(of: own), "\(text)")
            }
            (self.metrics, self.groups) = (metrics, groups)
        }

        static func labels(of metric: Metric) -> Set<String> {
            Set(metric.dimensions.map(Metric.prometheusName))
        }

        static let labels = Metric.allCases.reduce(into: Set<String>()) { $0.formUnion(labels(of: $1)) }
    }

    @Test func theDashboardAsksForWhatThereIs() throws {
        let data = try Data(contentsOf: Self.root.appending(path: "Examples/Dashboards/http-recovery.json"))
        let dashboard = try JSONDecoder().decode(Dashboard.self, from: data)
        let panels = dashboard.panels
        #expect(Set(panels.map(\.id)).count == panels.count)
        var asked: [Metric] = []
        for target in panels.flatMap(\.targets) {
            let query = Query(target.expr)
            #expect(!query.metrics.isEmpty, "\(target.expr)")
            asked += query.metrics
            // What a line of the panel is called stands on each of its series.
            let names = (target.legendFormat ?? "").matches(of: /\{\{([a-z_]+)\}\}/).map { String($0.output.1) }
            #expect(Set(names).isSubset(of: query.groups), "\(target.expr)")
        }
        #expect(Metric.allCases.filter { !asked.contains($0) } == [], "each is on a panel")
        for variable in dashboard.templating.list {
            guard let values = variable.query.firstMatch(of: /label_values\((.*), *([a-z_]+)\)/) else { continue }
            let metric = try #require(Query(String(values.output.1)).metrics.first)
            #expect(Query.labels(of: metric).contains(String(values.output.2)))
        }
    }
}
#endif
