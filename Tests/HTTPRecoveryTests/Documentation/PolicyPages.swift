import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// An API that answers 423 with the seconds until the account is unlocked, or without if only a person can unlock it.
struct DoorClassifier: OutcomeClassifier {
    func classify(_ exchange: Exchange) -> Outcome {
        var outcome = HTTPClassifier().classify(exchange)
        guard case .response(let head, _) = exchange.result, head.status.code == 423 else { return outcome }
        (outcome.kind, outcome.processed, outcome.remedies) = (.accountLocked, .no, [.wait])
        let seconds = head.headerFields[HTTPField.Name("Unlock-In")!].flatMap { Double($0) }
        outcome.lockout = seconds.map { .remaining(.saturating(seconds: $0)) } ?? .indefinite
        return outcome
    }
}

/// The pages of the policies: each is laid out alike, and its examples stand here, compiled.
@Suite struct PolicyPages {
    @Test func retries() {
        let engine = Recovery(maxAttempts: 4, maxWait: .seconds(20)) {
            RateLimitBackoff(backoff: .exponential(base: .seconds(1), jitter: .equal))
            TransientRetry(backoff: .exponential(base: .milliseconds(50), cap: .seconds(5), jitter: .decorrelatedV2))
        }
        #expect(engine.place == .recovery)
    }

    @Test func lockouts() async throws {
        let (transport, request) = (ScriptedTransport(), Bench.post)
        let client = RecoveringClient(transport: transport, runtime: Runtime(classifier: DoorClassifier())) {
            Deadline(.seconds(900))
            Recovery(maxWait: .seconds(600)) {
                RateLimitBackoff()
                LockoutWait(atMost: .seconds(600))
                TransientRetry()
            }
            AttemptTimeout(.seconds(10))
        }
        let response = try await client.send(request, options: RequestOptions(resend: .spending, account: "ada"))
        #expect(response.status == .ok)
    }

    /// What the page says of lockouts that are short, long, without an end, or the second one.
    @Test(
        arguments: [
            (["60"], nil, 2), (["60", "60"], .accountLocked, 2), (["3600"], .waitExceedsLimit, 1),
            ([nil], .accountLocked, 1),
        ] as [([String?], History.StopReason?, Int)]
    )
    func aLockoutGoesAsThePageSays(answers: [String?], reason: History.StopReason?, attempts: Int) async throws {
        let transport = ScriptedTransport(answers.map { .status(423, $0.map { ["unlock-in": $0] } ?? [:]) })
        let clock = ManualClock()
        let client = RecoveringClient(transport: transport, runtime: .manual(clock, classifier: DoorClassifier())) {
            Deadline(.seconds(900))
            Recovery(maxWait: .seconds(600)) { LockoutWait(atMost: .seconds(600)) }
        }
        let options = RequestOptions(resend: .spending, account: "ada")
        do {
            _ = try await clock.skippingWaits { try await client.send(Bench.post, options: options) }
            #expect(reason == nil)
        } catch let error as RecoveryError {
            #expect(error.reason == reason && error.kind == .accountLocked)
        }
        #expect(transport.received.count == attempts)
    }

    @Test func redirects() async throws {
        let (transport, request) = (ScriptedTransport([.status(302, ["location": "/new"])]), Bench.get)
        let client = RecoveringClient(transport: transport) {
            Deadline(.seconds(30))
            Redirects(limit: 5)
            Recovery()
            AttemptTimeout(.seconds(10))
        }
        var options = RequestOptions()
        options.followsRedirects = false
        let answer = try await client.send(request, options: options)
        let target = Redirects.target(of: answer.head, from: request)
        #expect(answer.status.code == 302 && target?.path == "/new")
    }

    /// What the page says first: nobody follows who has not asked for it.
    @Test func aClientFollowsNoRedirectByItself() async throws {
        let transport = ScriptedTransport([.status(302, ["location": "/new"])])
        let response = try await RecoveringClient(transport: transport, runtime: .manual()).send(Bench.get)
        #expect(response.status.code == 302 && response.headerFields[.location] == "/new")
        #expect(transport.received.count == 1)
    }

    @Test func budgets() {
        let shared = Recovery(budget: .ratio(.init(ratio: 0.1, burst: 20)))
        let costs = Recovery(budget: .tokens(capacity: 500, retryCost: 14, throttleCost: 5))
        let crowd = Recovery(budget: .ratio(.init(ratio: 0.2, burst: 50)))
        #expect(shared.place == costs.place && crowd.place == costs.place)
    }

    /// What the page says of fifty calls at once.
    @Test(arguments: [(10, 15...20), (50, 50...50)])
    func aCrowdThatMeetsOneLimit(burst: Int, ends: ClosedRange<Int>) async throws {
        let (clock, asked) = (ManualClock(), Locked(0))
        let transport = InProcessTransport { _ in
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            // None is told before all have asked: else the gate would hold the others back.
            while asked.withLock({ $0 }) < 50 { await Task.yield() }
            return number <= 50 ? .scripted(429, ["retry-after": "30"]) : .scripted(200)
        }
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) {
            Recovery(budget: .ratio(.init(ratio: 0.2, burst: burst)))
        }
        let calls = (0..<50).map { _ in
            Task { try? await client.send(HTTPRequest(url: "https://api.example.com/items")) }
        }
        let good = await withTaskGroup(of: Int.self) { group in
            for call in calls { group.addTask { await call.value == nil ? 0 : 1 } }
            return try? await clock.skippingWaits {
                var sum = 0
                for await one in group { sum += one }
                return sum
            }
        }
        #expect(ends.contains(try #require(good)))
    }

    @Test func breakers() async throws {
        let transport = ScriptedTransport()
        let breaker = Recovery.CircuitBreaker(.init(failureRatio: 0.5, minimumCalls: 20, breakDuration: .seconds(10)))
        let client = RecoveringClient(transport: transport) {
            Deadline(.seconds(30))
            Recovery(admissions: [breaker])
            AttemptTimeout(.seconds(10))
        }
        #expect(try await client.send(Bench.get).status == .ok)
    }

    @Test func hedging() {
        let engine = Recovery(hedging: .init(after: .milliseconds(300), quantile: 0.95))
        #expect(engine.place == .recovery)
    }

    @Test func limits() {
        let engine = Recovery(admissions: [
            Recovery.Pacing(perSecond: 50, burst: 10),
            Recovery.ConcurrencyLimit(.aimd(initial: 20, min: 5, max: 200), queue: 500),
        ])
        #expect(engine.place == .recovery)
    }

    @Test func staleAnswers() async throws {
        let transport = ScriptedTransport()
        let stale = RecoveringClient.StaleAnswers(mostEntries: 500, mostBytes: 4 << 20)
        let client = RecoveringClient(transport: transport) {
            stale
            Deadline(.seconds(10))
            Recovery()
            AttemptTimeout(.seconds(5))
        }
        #expect(try await client.send(Bench.get).status == .ok)
    }

    @Test func announcedAndPublishedLimits() {
        let engine = Recovery(admissions: [
            Recovery.AnnouncedLimits(per: .endpoint, spacingBelow: 0.2),
            Recovery.PublishedLimits { attempt, _ in
                attempt.request.pathWithoutQuery == "/search" ? ("search", .init(30, per: .seconds(60))) : nil
            },
        ])
        #expect(engine.place == .recovery)
    }

    @Test func timeouts() {
        let transport = ScriptedTransport()
        let client = RecoveringClient(transport: transport) {
            Deadline(.seconds(120))
            Recovery()
            AttemptTimeout(.seconds(60), idle: .seconds(10))
        }
        print(client)
    }

    @Test func downloads() async throws {
        struct Target: RecoveringClient.Download.Target {
            var canRestart: Bool { true }
            func restart() -> Bool { true }
            func write(_ bytes: ArraySlice<UInt8>) {}
        }
        let (client, target, request) = (RecoveringClient(transport: ScriptedTransport()), Target(), Bench.get)
        var options = RequestOptions()
        options.attemptLayers = [RecoveringClient.Download(to: target, resumes: true)]
        let response = try await client.send(request, options: options)
        #expect(response.status == .ok)
    }

    @Test func fallbacksAndChaos() {
        let fallback = RecoveringClient.Fallback { request, outcome in
            var second = request
            second.authority = "second.example.com"
            return .request(second)
        }
        let chaos = RecoveringClient.Chaos([
            .init(rate: 0.01, .latency(.seconds(2))),
            .init(.every(200), .status(503, [.retryAfter: "1"])),
            .init(.first(2), .lostAnswer, toPath: "/orders"),
        ])
        #expect(fallback.place == .outsideRecovery && !chaos.isEnabled)
    }

    @Test func identity() async throws {
        let transport = ScriptedTransport()
        let requestID = HTTPField.Name("X-Request-ID")!
        let client = RecoveringClient(transport: transport) {
            Deadline(.seconds(30))
            RecoveringClient.RequestIdentity.idempotencyKey
            RecoveringClient.RequestIdentity.requestID(in: requestID)
            Recovery()
            RecoveringClient.AttemptNumber.amazon(maxAttempts: 3)
            AttemptTimeout(.seconds(10))
        }
        #expect(try await client.send(Bench.post).status == .ok)
        #expect(transport.received.first?.request.headerFields[requestID] != nil)
    }

    @Test func replayBuffers() async throws {
        let (client, request) = (RecoveringClient(transport: ScriptedTransport()), Bench.post)
        let upload = AsyncStream<ArraySlice<UInt8>> { continuation in
            continuation.yield([1, 2, 3])
            continuation.finish()
        }
        let body = MessageBody(once: upload, keepingUpTo: 256 << 10)
        let response = try await client.send(request, body: body)
        #expect(response.status == .ok && body.canBeRead)
    }

    @Test func liveState() async throws {
        let (client, successor) = (
            RecoveringClient(transport: ScriptedTransport()), RecoveringClient(transport: ScriptedTransport())
        )
        let (breaker, limit) = (Recovery.CircuitBreaker(), Recovery.ConcurrencyLimit(.aimd()))
        let text = client.liveState().json.description
        let json = try JSONValue(parsing: text)
        if let state = RecoveringClient.LiveState(json: json) {
            let left = await successor.restore(state)
            if !left.isEmpty { print("not taken over: \(left)") }
        }
        breaker.configuration.breakDuration = .seconds(20)
        limit.algorithm = .aimd(initial: 20, min: 5, max: 400)
        #expect(breaker.configuration.breakDuration == .seconds(20))
    }

    @Test func settings() async throws {
        let transport = ScriptedTransport()
        var settings = RecoveringClient.Settings.interactive
        settings.breaker = .consecutive(5)
        precondition(settings.problem == nil)
        let client = RecoveringClient(transport: transport) { settings.layers() }
        #expect(try await client.send(Bench.get).status == .ok)

        let maintenance = Maintenance(isOn: { false })
        let careful = RecoveringClient(transport: transport) {
            settings.layers(admissions: [maintenance]) { ConflictRetry() }
        }
        let reloadable = RecoveringClient.ReloadableRecovery(settings) { ConflictRetry() }
        #expect(
            "\(careful)".contains(
                "[admissions: RetryBudgets, Maintenance, CircuitBreaker, Gates; policies: ConflictRetry, "
            )
        )
        #expect(reloadable.summary.contains("policies: ConflictRetry, RateLimitBackoff, "))
    }

    /// The default written out in full is the default.
    @Test func theStandardIsWrittenOut() {
        let standard = RecoveringClient.Settings(
            deadline: .seconds(60),
            attemptTimeout: .seconds(30),
            maxAttempts: 3,
            maxWait: .seconds(120),
            backoff: .exponential(base: .milliseconds(100), cap: .seconds(20), multiplier: 2, jitter: .full),
            throttledBackoff: .exponential(base: .seconds(1), cap: .seconds(20), multiplier: 2, jitter: .equal),
            longestLockout: .seconds(120),
            budget: .ratio(.init(ratio: 0.2, burst: 10))
        )
        #expect(standard == .standard)
        let presets: [RecoveringClient.Settings] = [
            .standard, .aggressive, .batch, .interactive, .none, .awsStandard, .grpc, .pollyStandard,
        ]
        for preset in presets { #expect(preset.problem == nil) }
        var broken = RecoveringClient.Settings.standard
        broken.attemptTimeout = .seconds(61)
        #expect(broken.problem == "an attempt cannot take longer than the call that it belongs to")
    }

    @Test(arguments: [
        "Retries", "Lockouts", "FollowingRedirects", "RetryBudgets", "CircuitBreakers", "Hedging", "Limits",
        "KnownLimits", "Timeouts", "Presets", "Fallbacks", "StaleAnswers", "Downloads", "Chaos", "Identity",
        "ReplayBuffers", "LiveState",
    ])
    func thePageIsLaidOutLikeTheOthers(page: String) throws {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { directory, _ in directory.deletingLastPathComponent() }
        let path = root.appending(path: "Sources/HTTPRecovery/HTTPRecovery.docc/Policies/\(page).md")
        let text = try String(contentsOf: path, encoding: .utf8)
        let titles = text.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3) }
        #expect(titles == ["What it is for", "Usage", "Defaults", "Telemetry", "How it goes", "When not to use it"])
    }
}
