import AuthRecovery
import AuthSandbox
import CurlTransport
import Foundation
import HTTPRecovery
import RedisRecoveryStore
import ServiceTrials

/// Four processes that share tokens, lockouts and waits in a Redis, of which one is killed again and again: at moments
/// that nobody chose, and every third time while it renews and holds the lease.
struct Kills {
    /// How long a process that renews holds the others back if it dies.
    static let lease: Duration = .seconds(2)
    private static let workers = 4
    /// How long the API locks an account or wants to be left alone.
    private static let stated: Int64 = 1000
    /// What is on its way when an answer comes, on a machine that is busy, may still arrive.
    private static let tolerance: Int64 = 400
    /// The longest pause before a process looks again whether the lease is free.
    private static let look: Int64 = 250
    /// By how much longer than stated a wait is, at most, so that those who wait do not all come at once.
    private static let spread: Int64 = 500
    /// How long the token endpoint takes, most times: a renewal is something to die in.
    private static let renewing: Int64 = 250
    private static let tokenPath = "/oauth/token"

    private static let faults = [
        #"{"kind": "latency", "delay_ms": \#(renewing), "percent": 90, "times": 0, "match": {"path": "\#(tokenPath)"}}"#,
        #"{"kind": "status", "status": 423, "retry_after": 1, "percent": 3, "times": 0, "match": {"path": "/api/"}}"#,
        #"{"kind": "status", "status": 429, "retry_after": 1, "percent": 2, "times": 0, "match": {"path": "/api/"}}"#,
        #"{"kind": "status", "status": 503, "percent": 5, "times": 0}"#,
        #"{"kind": "reset_after", "percent": 3, "times": 0}"#,
    ]

    private let count: Int
    private let directory: TemporaryDirectory
    private let sandbox: AuthSandbox
    private let redisServer: String
    private var redis: String { "redis+unix://\(directory.path)/redis.sock" }
    private var records: [Int: SandboxRequestRecord] = [:]
    private var deaths: [Death] = []
    private var failures: [String] = []
    private var report = ChaosReport()

    private struct Death {
        var worker: Int
        /// When it was dead, by the sandbox's clock.
        var at: Int64
        /// The request by which it was seen to renew.
        var renewal: SandboxRequestRecord?

        /// Whether no answer had come when it died: it held the lease, and what it was given is lost.
        var hitsRenewal: Bool {
            guard let renewal else { return false }
            return renewal.fault == SandboxFault.Kind.latency.name && at < renewal.receivedAt + Kills.renewing
        }
    }

    init(count: Int, redisServer: String) async throws {
        self.count = count
        self.redisServer = redisServer
        directory = try TemporaryDirectory()
        sandbox = try await AuthSandbox.start(scenario: .unlimited, seed: 5)
        sandbox.updateSettings { $0.oauth.accessLifetime = 1500 }
        for fault in Self.faults { sandbox.add(try SandboxFault(json: fault)) }
    }

    mutating func run() async throws -> ChaosReport {
        defer { sandbox.stop() }
        let server = try await RunningService.redis(in: directory, program: redisServer)
        let client = RecoveringClient(
            transport: CurlTransport(),
            runtime: Runtime(store: try RedisStore(url: redis), storeTimeout: .seconds(2))
        )
        let tokens = try FleetWorkerCommand.manager(before: sandbox.url, client)
        let first = try sandbox.issueTokens(for: "ada@example.com")
        _ = try await tokens.store.replace(
            version: 0,
            with: Credentials(
                accessToken: Secret(first.accessToken),
                refreshToken: first.refreshToken.map { Secret($0) }
            )
        )
        var workers: [RunningService] = []
        for number in 0..<Self.workers { workers.append(try await worker(number)) }
        for death in 1...count {
            let renewal = death.isMultiple(of: 3) ? try await nextRenewal() : nil
            if renewal == nil { try await Task.sleep(for: .milliseconds(Int.random(in: 50...600))) }
            let number = renewal.flatMap(FleetWorkerCommand.asker(of:)) ?? Int.random(in: 0..<Self.workers)
            workers[number].send(SIGKILL)
            _ = await workers[number].exit()
            deaths.append(Death(worker: number, at: now, renewal: renewal))
            note(workers[number])
            workers[number] = try await worker(number)
            look()
            if death.isMultiple(of: 25) { print("\(death) killed, \(records.count) requests so far") }
        }
        // All of them live for a while at the end.
        for _ in 0..<10 {
            try await Task.sleep(for: .milliseconds(500))
            look()
        }
        for worker in workers {
            worker.send(SIGKILL)
            _ = await worker.exit()
            note(worker)
        }
        look()
        // What was lost is asked for, not what one more fault would do: a renewal whose answer is lost fails, rightly.
        sandbox.clearFaults()
        await judge(tokens, client)
        await client.shutdown()
        server.send(SIGTERM)
        _ = await server.exit()
        return report
    }

    private var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    private func worker(_ number: Int) async throws -> RunningService {
        try await RunningService(
            "service-trials",
            ["fleet-worker", "--url", sandbox.url, "--redis", redis, "--number", "\(number)"],
            announces: false
        )
    }

    /// Waits until a process renews, and for a part of the time that this takes; nil if none does.
    ///
    /// One renewal before it is let go: a session whose every renewal is cut off ends with the grace of its refresh token.
    private func nextRenewal() async throws -> SandboxRequestRecord? {
        let last = sandbox.requests(path: Self.tokenPath).last?.number ?? 0
        for _ in 0..<2000 {
            let renewals = sandbox.requests(path: Self.tokenPath).filter { $0.number > last }
            if renewals.count > 1, let renewal = renewals.last {
                try await Task.sleep(for: .milliseconds(Int64.random(in: 0..<Self.renewing / 2)))
                return renewal
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        return nil
    }

    private mutating func look() {
        for record in sandbox.requests() { records[record.number] = record }
    }

    private mutating func note(_ worker: RunningService) {
        failures += worker.lines.filter { !$0.isEmpty }
    }

    // MARK: Judging

    private mutating func judge(_ tokens: TokenManager, _ client: RecoveringClient) async {
        let calls = records.values.filter { $0.path.hasPrefix("/api/") }.sorted { $0.number < $1.number }
        report.tell("processes killed", "\(deaths.count)")
        report.tell("calls that the API has seen", "\(calls.count)")
        // A call ends that meets one lockout after another, or a fault at each attempt; nothing else may end one.
        let expected = ["account_locked", "rate_limited", "transport", "unavailable"].map { "failed: \($0) " }
        let others = failures.filter { failure in !expected.contains { failure.hasPrefix($0) } }
        report.tell("calls that met fault after fault", "\(failures.count - others.count)")
        report.check("calls that failed otherwise", "\(others.count)", others.isEmpty)
        for failure in Set(others).prefix(5) { report.tell("  " + failure.prefix(160), "") }

        let counters = sandbox.oauthCounters()
        report.check("renewals", "\(counters.refreshes)", counters.refreshes >= Int64(count / 10))
        report.check("refresh tokens used again too late", "\(counters.violations)", counters.violations == 0)
        do {
            _ = try await tokens.renew(by: client)
            report.check("the token of the end can be renewed", "yes", true)
        } catch {
            report.check("the token of the end can be renewed", "no: \(error)", false)
        }

        let stated = calls.filter { $0.fault == "status" && ($0.status == 423 || $0.status == 429) }
        let told = stated.filter { !diedWith($0) }
        report.tell("lockouts and limits that were stated", "\(stated.count)")
        report.tell("  of which a process was killed with", "\(stated.count - told.count)")
        let early = told.reduce(0) { sum, answer in sum + calls.count { isEarly($0, after: answer) } }
        report.check("calls before such a time was over", "\(early)", early == 0)

        judgeLeases(stated)
        let good = calls.filter { $0.status == 200 }.map(\.receivedAt)
        report.tell("longest gap of calls in ms", "\(zip(good.dropFirst(), good).map { $0 - $1 }.max() ?? 0)")
    }

    /// Who dies while it renews holds the others back until its lease has run out, and no longer: then one of them renews,
    /// unless all are told to wait.
    private mutating func judgeLeases(_ stated: [SandboxRequestRecord]) {
        let asked = records.values.filter { $0.path == Self.tokenPath }.map(\.receivedAt).sorted()
        let hits = deaths.filter(\.hitsRenewal)
        report.check("processes killed while they renewed", "\(hits.count)", hits.count >= count / 10)
        let lease = Int64(Self.lease / .milliseconds(1))
        var (longest, late) = (Int64.zero, 0)
        for death in hits {
            guard let next = asked.first(where: { $0 > death.at }) else { continue }
            let isHeld = stated.contains {
                (death.at - Self.stated - Self.tolerance...death.at + lease + Self.look).contains($0.receivedAt)
            }
            let most = lease + Self.look + Self.tolerance + (isHeld ? Self.stated + Self.spread : 0)
            if !isHeld { longest = max(longest, next - death.at) }
            if next - death.at > most { late += 1 }
        }
        report.tell("  the longest that nobody renewed after it, in ms", "\(longest)")
        report.check("leases stuck longer than their time", "\(late)", late == 0)
    }

    /// Whether the process that was told so may have been killed before it could tell the others.
    private func diedWith(_ answer: SandboxRequestRecord) -> Bool {
        let prefix = "x-worker: "
        let worker = answer.headers.first { $0.lowercased().hasPrefix(prefix) }.flatMap {
            Int($0.dropFirst(prefix.count))
        }
        return deaths.contains { death in
            death.worker == worker && (answer.receivedAt - 5...answer.receivedAt + Self.tolerance).contains(death.at)
        }
    }

    private func isEarly(_ call: SandboxRequestRecord, after answer: SandboxRequestRecord) -> Bool {
        // A lockout holds the account, a limit all that presents the credential, wherever.
        (answer.status == 429 || call.path == answer.path)
            && call.receivedAt > answer.receivedAt + Self.tolerance
            && call.receivedAt < answer.receivedAt + Self.stated - 5
    }
}
