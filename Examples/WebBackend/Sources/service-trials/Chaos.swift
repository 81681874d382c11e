import AuthSandbox
import Foundation
import ServiceTrials

/// The gateway under steady load, while a fifth of all that it sends goes wrong.
///
/// After a quarter of the time its Redis is killed, and started again a while later; in the middle the gateway is ended with
/// SIGTERM and started again; at the end it is ended once more.
struct Chaos {
    private let seconds: Double
    private let redisServer: String
    private let directory: TemporaryDirectory
    private let sandbox: AuthSandbox
    private let counts = CallCounts()
    private let start = ContinuousClock.now
    private var tokens: TokenRequests
    private var report = ChaosReport()

    /// A fifth of all requests, to the API and for tokens.
    private static let faults = [
        #"{"kind": "status", "status": 503, "percent": 6, "times": 0}"#,
        #"{"kind": "reset_before", "percent": 5, "times": 0}"#,
        #"{"kind": "truncate", "percent": 4, "times": 0}"#,
        #"{"kind": "reset_after", "percent": 4, "times": 0}"#,
        #"{"kind": "latency", "delay_ms": 300, "percent": 3, "times": 0}"#,
    ]

    /// How long an access token lives, in seconds.
    private var lifetime: Double { max(20, seconds / 10) }
    private var elapsed: Double { (ContinuousClock.now - start) / .seconds(1) }

    init(seconds: Double, redisServer: String) async throws {
        self.seconds = seconds
        self.redisServer = redisServer
        directory = try TemporaryDirectory()
        sandbox = try await AuthSandbox.start(scenario: .unlimited, seed: 11)
        tokens = TokenRequests(sandbox)
        let lifetime = Int64(lifetime * 1000)
        sandbox.updateSettings { $0.oauth.accessLifetime = lifetime }
        for fault in Self.faults { sandbox.add(try SandboxFault(json: fault)) }
    }

    mutating func run() async throws -> ChaosReport {
        defer { sandbox.stop() }
        var redis = try await RunningService.redis(in: directory, program: redisServer)
        let first = try await startGateway("127.0.0.1:0")
        let url = first.url
        let load = Task { [counts] in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask { await counts.call("\(url)/resources/item-\(number)", every: .milliseconds(80)) }
                }
            }
        }
        defer { load.cancel() }

        var memory = MemoryWatch()
        try await watch(first, &memory, until: seconds / 4)
        say("Redis is killed")
        redis.send(SIGKILL)
        _ = await redis.exit()
        try await watch(first, &memory, until: seconds * 0.3)
        say("Redis is started again")
        redis = try await RunningService.redis(in: directory, program: redisServer)
        try await watch(first, &memory, until: seconds / 2)
        // After a fresh token nothing is due for a while: whatever the successor asks for, was lost.
        let known = tokens.arrived
        while tokens.arrived == known { try await watch(first, &memory, until: elapsed + 0.5) }
        try await watch(first, &memory, until: elapsed + 1)
        say("The gateway is told to end, and another one starts")
        try await end(first, "first", memory)

        memory = MemoryWatch()
        let asked = tokens.sent
        let second = try await startGateway(String(url.dropFirst("http://".count)))
        let answered = counts.now.answered
        try await watch(second, &memory, until: elapsed + lifetime / 4)
        report.check(
            "calls answered by its successor at once",
            "\(counts.now.answered - answered)",
            counts.now.answered > answered
        )
        report.check("token requests of the successor then", "\(tokens.sent - asked)", tokens.sent == asked)
        try await watch(second, &memory, until: max(seconds, elapsed + lifetime / 2))
        load.cancel()
        await load.value
        try await end(second, "second", memory)
        redis.send(SIGTERM)
        _ = await redis.exit()
        judge()
        return report
    }

    /// Lets time pass, and takes note of what happens.
    private mutating func watch(_ gateway: RunningService, _ memory: inout MemoryWatch, until time: Double) async throws
    {
        repeat {
            memory.note(gateway.residentBytes)
            tokens.look()
            try await Task.sleep(for: .milliseconds(500))
        } while elapsed < time
        tokens.look()
    }

    /// Ends a gateway as an orchestrator does.
    private mutating func end(_ gateway: RunningService, _ name: String, _ memory: MemoryWatch) async throws {
        let began = ContinuousClock.now
        gateway.send(SIGTERM)
        let status = await gateway.exit()
        let took = String(format: "%.2f s", (ContinuousClock.now - began) / .seconds(1))
        tokens.look()
        report.check("exit status of the \(name) gateway", status.map(String.init) ?? "none", status == 0)
        report.check("its end took", took, ContinuousClock.now - began < .seconds(15))
        report.check("its memory, early and in the end", memory.text, memory.isSteady)
        if status != 0 { for line in gateway.lines.suffix(20) { say(line) } }
    }

    private mutating func judge() {
        let counts = counts.now
        let refused = counts.refused.values.reduce(0, +)
        let lost = counts.lost.values.reduce(0, +)
        let share = Double(counts.answered) / Double(max(1, counts.answered + refused))
        report.tell("calls answered", "\(counts.answered)")
        report.check("share of the calls that succeeded", String(format: "%.3f %%", share * 100), share >= 0.99)
        for (answer, count) in counts.refused.sorted(by: { $0.value > $1.value }).prefix(3) {
            report.tell("  refused \(count) times", answer)
        }
        report.tell("calls while nobody listened", "\(counts.away)")
        report.check("calls that were taken and lost", "\(lost)", lost == 0)
        for (error, count) in counts.lost.prefix(3) { report.tell("  lost \(count) times", error) }
        // A token is renewed when nine tenths of its life are over at the earliest.
        let needed = Int((elapsed / (lifetime * 0.9)).rounded(.up)) + 1
        report.tell("token requests sent", "\(tokens.sent)")
        report.check(
            "tokens that arrived, of at most \(needed)",
            "\(tokens.arrived)",
            (2...needed).contains(tokens.arrived)
        )
    }

    private func startGateway(_ address: String) async throws -> RunningService {
        try await RunningService.gateway(
            before: sandbox,
            [
                "LISTEN": address, "STATE": "redis+unix://\(directory.path)/redis.sock", "API_PRESET": "aggressive",
                "SHUTDOWN_NOTICE_S": "1",
            ]
        )
    }

    private func say(_ text: String) {
        // At once, also where a pipe reads it.
        FileHandle.standardOutput.write(Data((String(format: "%6.1f s  ", elapsed) + text + "\n").utf8))
    }
}
