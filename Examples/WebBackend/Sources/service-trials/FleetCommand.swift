import ArgumentParser
import AuthRecovery
import Foundation
import HTTPRecovery
import HTTPTypes
import RedisRecoveryStore
import ServiceTrials
import Synchronization

/// What a Redis costs a process that calls about very many accounts: time, and commands, a call; of calls that present
/// nothing, of those that present a token of the fleet, and of those about accounts that are locked.
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Measures what shared state costs a call: processor time here and in Redis, and commands."
    )

    @Option(help: "How many seconds each way is measured.")
    var seconds = 10.0

    @Option(help: "How many calls a second are made.")
    var rate = 10_000

    @Option(help: "How many accounts the calls are about.")
    var accounts = 1_000_000

    @Option(help: "How many of them are locked.")
    var locked = 1000

    @Option(help: "Where redis-server is.")
    var redisServer = "/usr/bin/redis-server"

    func validate() throws {
        guard (0.1...3600).contains(seconds), (1...1_000_000).contains(rate), (1...1_000_000_000).contains(accounts),
            (0...min(accounts, 50_000)).contains(locked)
        else {
            throw ValidationError(
                "--seconds takes 0.1 to 3600, --rate and --accounts whole numbers above 0, --locked at most 50000."
            )
        }
    }

    func run() async throws {
        let directory = try TemporaryDirectory()
        let redis = try await RunningService.redis(in: directory, program: redisServer)
        print("\(rate) calls a second about \(accounts) accounts, of which \(locked) are locked\n")
        print(Self.row("state", ["calls/s", "us here", "us in Redis", "commands"]))
        for (name, freshness, kind) in Self.states.flatMap({ state in Kind.allCases.map { (state.0, state.1, $0) } }) {
            var store: any RecoveryStore = InMemoryRecoveryStore()
            if let freshness {
                var configuration = try RedisStore.Configuration(url: "redis+unix://\(directory.path)/redis.sock")
                configuration.gateFreshness = freshness
                configuration.namespace = "\(name)-\(kind)"
                store = try RedisStore(configuration: configuration)
            }
            let cost = try await measure(kind, Runtime(store: store), socket: "\(directory.path)/redis.sock")
            let cells = [String(format: "%.0f", cost.rate)] + cost.each.map { String(format: "%.2f", $0) }
            print(Self.row("\(name), \(kind.rawValue)", cells))
            await store.shutdown()
        }
        redis.send(SIGTERM)
        _ = await redis.exit()
    }

    private static let states: [(String, Duration?)] = [
        ("in memory", nil), ("asked", .zero), ("told", .milliseconds(500)),
    ]

    /// What the calls are.
    private enum Kind: String, CaseIterable {
        case plain
        case token = "with a token"
        case locked
    }

    /// Answers at once.
    private struct Immediate: HTTPTransport {
        var name: String { "immediate" }
        var enforcesTimeouts: Bool { true }

        func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse
        {
            TransportResponse(head: HTTPResponse(status: .ok))
        }
    }

    private func measure(
        _ kind: Kind,
        _ runtime: Runtime,
        socket: String
    ) async throws -> (rate: Double, each: [Double]) {
        let client = RecoveringClient(transport: Immediate(), runtime: runtime)
        let request = try HTTPRequest(url: "https://api.example.com/items")
        let origin = Origin(of: request)
        for number in 0..<locked {
            let key = SharedState.Gate.Key(scope: .account, origin: origin, name: "locked-\(number)")
            let end = Timestamp.system().advanced(by: .seconds(3600))
            await runtime.state.close(SharedState.Gate(key: key, reason: .accountLocked, opensAt: end))
        }
        // It may need a moment to know what is closed.
        for _ in 0..<200 where runtime.state.mayHoldGates {
            _ = try await client.send(request)
            try await Task.sleep(for: .milliseconds(5))
        }
        let tokens = SharedTokenStore(runtime.state, name: "fleet")
        _ = try await tokens.replace(version: 0, with: Credentials(accessToken: "of-the-fleet"))
        let layers = kind == .token ? [Authorization(tokens, audience: [origin])] : []
        let (name, accounts) = kind == .locked && locked > 0 ? ("locked", locked) : ("user", accounts)
        let (made, seconds, rate) = (Counter(), seconds, rate)
        let before = (Self.processorTime, try Self.redis(socket))
        let start = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<32 {
                group.addTask {
                    while ContinuousClock.now - start < .seconds(seconds) {
                        let number = made.next()
                        let due = start + .seconds(Double(number) / Double(rate))
                        // Calls come as they are due; late ones at once.
                        if due - ContinuousClock.now > .milliseconds(2) { try? await Task.sleep(until: due) }
                        var options = RequestOptions()
                        options.account = "\(name)-\(Int.random(in: 0..<accounts))"
                        options.attemptLayers = layers
                        _ = try? await client.send(request, options: options)
                    }
                }
            }
        }
        let calls = Double(made.next())
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        let after = (Self.processorTime, try Self.redis(socket))
        return (
            calls / elapsed,
            [
                (after.0 - before.0) / calls * 1e6, (after.1.time - before.1.time) / calls * 1e6,
                (after.1.commands - before.1.commands) / calls,
            ]
        )
    }

    private final class Counter: Sendable {
        private let count = Atomic(0)
        func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }

    private static var processorTime: Double {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// What Redis has used and done, by its own count.
    private static func redis(_ socket: String) throws -> (time: Double, commands: Double) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/redis-cli")
        process.arguments = ["-s", socket, "INFO"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        func value(_ name: String) -> Double {
            let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name + ":") }
            return line.flatMap { Double($0.dropFirst(name.count + 1)) } ?? .nan
        }
        return (value("used_cpu_user") + value("used_cpu_sys"), value("total_commands_processed"))
    }

    private static func row(_ name: String, _ cells: [String]) -> String {
        name.padding(toLength: 24, withPad: " ", startingAt: 0)
            + cells.map { String(repeating: " ", count: max(1, 14 - $0.count)) + $0 }.joined()
    }
}
