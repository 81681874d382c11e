import ArgumentParser
import AuthSandbox
import Foundation
import ServiceTrials

/// Loads both services for a few seconds; a failed request is a failure.
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Loads both services for a few seconds, and prints requests a second and how long they took."
    )

    @Option(help: "How many seconds each is loaded.")
    var seconds = 3.0

    @Option(help: "How many requests are under way at a time.")
    var callers = 16

    func validate() throws {
        guard (0.1...3600).contains(seconds), (1...1000).contains(callers) else {
            throw ValidationError("--seconds takes 0.1 to 3600, --callers 1 to 1000.")
        }
    }

    func run() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        let directory = try TemporaryDirectory()
        print(Self.row("service", ["requests", "req/s", "p50 ms", "p99 ms", "max ms", "failed"]))
        let gateway = try await RunningService.gateway(before: sandbox, ["STATE": "\(directory.path)/gateway.db"])
        var isGood = try await load("resource-gateway", gateway, "\(gateway.url)/resources/items", expecting: "request")
        let backend = try await RunningService.signInBackend(before: sandbox.url, state: "\(directory.path)/sign-in.db")
        isGood =
            try await load(
                "sign-in-backend",
                backend,
                "\(backend.url)/sign-in",
                json: #"{"identifier": "ada@example.com", "password": "\#(SandboxScenario.defaultPassword)"}"#,
                expecting: "signedIn"
            ) && isGood
        if !isGood { throw ExitCode.failure }
    }

    /// Loads a service, ends it, and tells whether all went well.
    private func load(
        _ name: String,
        _ service: RunningService,
        _ url: String,
        json: String? = nil,
        expecting word: String
    ) async throws -> Bool {
        let caller = ServiceCaller()
        let report = await Load.run(for: .seconds(seconds), callers: callers) {
            let answer = try await caller.call(url, json: json)
            return answer.status == 200 && answer.text.contains(word)
                ? nil : "\(answer.status) \(answer.text.prefix(200))"
        }
        let failed = report.failures.values.reduce(0, +)
        let times = [0.5, 0.99, 1].map { String(format: "%.1f", report.quantile($0) * 1000) }
        let rate = String(format: "%.0f", report.perSecond)
        print(Self.row(name, ["\(report.latencies.count)", rate] + times + ["\(failed)"]))
        for (problem, count) in report.failures.sorted(by: { $0.value > $1.value }).prefix(5) {
            print("  \(count) times: \(problem)")
        }
        service.send(SIGTERM)
        let status = await service.exit()
        if status != 0 { print("  ended with \(status.map(String.init) ?? "nothing") after SIGTERM") }
        return failed == 0 && !report.latencies.isEmpty && status == 0
    }

    private static func row(_ name: String, _ cells: [String]) -> String {
        name.padding(toLength: 18, withPad: " ", startingAt: 0)
            + cells.map { String(repeating: " ", count: max(1, 10 - $0.count)) + $0 }.joined()
    }
}
