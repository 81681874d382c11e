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

    @Test func thePageHoldsWhatIsCompiledHere() throws {
        let source = try String(contentsOf: Self.file, encoding: .utf8).filter { !$0.isWhitespace }
        let parts = try Self.page().components(separatedBy: "```swift\n").dropFirst()
        #expect(parts.count == 2)
        for part in parts {
            let code = try #require(part.components(separatedBy: "```").first).filter { !$0.isWhitespace }
            #expect(source.contains(code), "\(code.prefix(60))")
        }
    }

    @Test func theTableHoldsEachMetric() throws {
        let rows = try Self.page().split(separator: "\n").filter { $0.hasPrefix("| `http.") }
        let cells = rows.map { $0.split(separator: "|").map { $0.filter { $0 != "`" && $0 != " " } } }
        #expect(cells.map { $0[0] } == Metric.allCases.map(\.rawValue))
        #expect(cells.map { $0[1] } == Metric.allCases.map { "\($0.form)" })
    }

    private struct Dashboard: Decodable {
        struct Panel: Decodable {
            struct Target: Decodable { let expr: String }
            let id: Int
            let title: String
            let targets: [Target]
        }
        let panels: [Panel]
    }

    @Test func theDashboardAsksForWhatThereIs() throws {
        let data = try Data(contentsOf: Self.root.appending(path: "Examples/Dashboards/http-recovery.json"))
        let panels = try JSONDecoder().decode(Dashboard.self, from: data).panels
        #expect(Set(panels.map(\.id)).count == panels.count)
        let labels: Set = [
            "http_response_status_code", "server_address", "error_type", "recovery_reason", "recovery_result",
        ]
        let names = Set(Metric.allCases.flatMap(\.prometheusNames))
        var asked: Set<String> = []
        for query in panels.flatMap(\.targets).map(\.expr) {
            let words = query.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
            let found = words.filter { $0.hasPrefix("http_") && !labels.contains($0) }
            #expect(!found.isEmpty, "\(query)")
            #expect(Set(found).isSubset(of: names), "\(query)")
            asked.formUnion(found)
        }
        for metric in Metric.allCases {
            #expect(!asked.isDisjoint(with: metric.prometheusNames), "\(metric) is on no panel")
        }
    }
}
#endif
