import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Settings that change while a client runs: new calls go by them, and nothing that was learned is lost.
@Suite struct ReloadableRecoveryTests {
    private typealias Settings = RecoveringClient.Settings
    private typealias Reloadable = RecoveringClient.ReloadableRecovery

    /// A client that can be changed, on a manual clock.
    private struct Setting {
        let clock = ManualClock()
        let transport: ScriptedTransport
        let recovery: Reloadable
        let client: RecoveringClient

        init(_ settings: Settings, _ steps: [ScriptedTransport.Step]) {
            let (transport, recovery) = (ScriptedTransport(steps), Reloadable(settings))
            self.transport = transport
            self.recovery = recovery
            client = RecoveringClient(transport: transport, runtime: .manual(clock)) { recovery }
        }

        /// How a call ends: its status, or why it was given up.
        func call() async throws -> String {
            do {
                return "\(try await client.send(Bench.get).status.code)"
            } catch let error as RecoveryError {
                return error.reason.rawValue
            }
        }
    }

    /// One attempt; retries without a wait.
    private static func settings(_ change: (inout Settings) -> Void = { _ in }) -> Settings {
        var settings = Settings(maxAttempts: 1, backoff: .constant(.zero), throttledBackoff: nil, budget: .unlimited)
        change(&settings)
        return settings
    }

    @Test func callsThatBeginLaterGoByTheNewSettings() async throws {
        let setting = Setting(Self.settings(), [.status(503), .status(503), .status(200)])
        #expect(try await setting.call() == "attempts_exhausted")
        let new = Self.settings {
            $0.maxAttempts = 2
            $0.deadline = .seconds(7)
            $0.attemptTimeout = .seconds(5)
        }
        try setting.recovery.apply(new, in: setting.client.runtime)
        #expect(try await setting.call() == "200" && setting.transport.received.count == 3)
        #expect(setting.recovery.settings == new && "\(setting.client)".contains("Deadline 7.0 seconds"))
    }

    /// What is the program's own is asked first, and stays.
    @Test func whatIsNoMatterOfTheSettingsStays() async throws {
        let transport = ScriptedTransport([.status(409), .status(200), .status(409), .status(200), .status(409)])
        let asked = Locked(0)
        struct Noting: Admission {
            let asked: Locked<Int>
            func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
                asked.withLock { $0 += 1 }
                return .go()
            }
        }
        let recovery = Reloadable(Self.settings { $0.maxAttempts = 2 }, admissions: [Noting(asked: asked)]) {
            ConflictRetry()
        }
        let clock = ManualClock()
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) { recovery }
        #expect(try await clock.skippingWaits { try await client.send(Bench.get) }.status == .ok)
        let before = asked.withLock { $0 }
        #expect(before >= 2)
        try recovery.apply(Self.settings { $0.maxAttempts = 3 }, in: client.runtime)
        #expect(try await clock.skippingWaits { try await client.send(Bench.get) }.status == .ok)
        #expect(asked.withLock { $0 } == 2 * before)
        try recovery.apply(Self.settings(), in: client.runtime)
        let error = await #expect(throws: RecoveryError.self) { try await client.send(Bench.get) }
        #expect(error?.reason == .attemptsExhausted && transport.received.count == 5)
    }

    @Test func aCallUnderWayEndsByTheOldOnes() async throws {
        let old = Self.settings {
            $0.maxAttempts = 2
            $0.backoff = .constant(.seconds(10))
        }
        let setting = Setting(old, [.status(503), .status(200)])
        async let answer = setting.call()
        await setting.clock.waitForSleeper(of: .seconds(10))
        try setting.recovery.apply(Self.settings(), in: setting.client.runtime)
        setting.clock.advance(by: .seconds(10))
        #expect(try await answer == "200")
    }

    @Test func anOpenBreakerStaysOpenForItsTime() async throws {
        let old = Self.settings { $0.breaker = .consecutive(1, breakDuration: .seconds(10)) }
        let setting = Setting(old, [.status(500), .status(200)])
        #expect(try await setting.call() == "attempts_exhausted")
        let new = Self.settings {
            $0.breaker = .consecutive(5, breakDuration: .seconds(99))
            $0.deadline = .seconds(45)
        }
        try setting.recovery.apply(new, in: setting.client.runtime)
        #expect(try await setting.call() == "breaker_open")
        setting.clock.advance(by: .seconds(10))
        #expect(try await setting.call() == "200")
    }

    /// Whoever watches goes by where the breakers stand, and not by where they stood.
    @Test func whatOtherSettingsDoToABreakerIsToldAtOnce() async throws {
        let old = Self.settings { $0.breaker = .consecutive(1, breakDuration: .seconds(10)) }
        let setting = Setting(old, [.status(200), .status(200), .status(500), .status(200)])
        let recorder = EventRecorder(setting.client.runtime.events)
        func told(_ change: (inout Settings) -> Void) throws -> [String] {
            let before = recorder.events.count
            try setting.recovery.apply(Self.settings(change), in: setting.client.runtime)
            let events = recorder.events.dropFirst(before)
            return events.map { "\($0.call) \($0.url ?? "") \($0.kind.words)" }
        }
        #expect(try await setting.call() == "200")
        let isForced = { (word: Recovery.CircuitBreaker.Override?) in
            { (settings: inout Settings) in (settings.breaker, settings.breakerOverride) = (old.breaker, word) }
        }
        let start = "0 https://api.example.com breaker"
        #expect(try told(isForced(.open)) == ["\(start) forced_open"])
        #expect(try await setting.call() == "breaker_open")
        #expect(try told(isForced(.closed)) == ["\(start) forced_closed"])
        #expect(try told(isForced(nil)) == ["\(start) closed"])
        let longer = { (settings: inout Settings) in
            settings.breaker = .consecutive(1, breakDuration: .seconds(20))
        }
        #expect(try told(longer) == [], "it stands where it stood")
        #expect(try await setting.call() == "200")
        #expect(try await setting.call() == "attempts_exhausted")
        #expect(recorder.words.contains("breaker open 20.0"))
        #expect(try told { $0.breaker = nil } == ["\(start) forced_closed"])
        #expect(try await setting.call() == "200")
    }

    /// Before the first attempt nobody knows of which origins to tell.
    @Test func aBreakerThatIsForcedBeforeItWasAskedIsToldOfWhenItIs() async throws {
        let setting = Setting(Self.settings { $0.breaker = .init() }, [.status(200)])
        let recorder = EventRecorder(setting.client.runtime.events)
        let forced = Self.settings { ($0.breaker, $0.breakerOverride) = (.init(), .open) }
        try setting.recovery.apply(forced, in: setting.client.runtime)
        for _ in 1...2 { #expect(try await setting.call() == "breaker_open") }
        #expect(recorder.words.filter { $0.hasPrefix("breaker") } == ["breaker forced_open"])
    }

    @Test func whatABudgetHasSpentIsSpent() async throws {
        let old = Self.settings {
            $0.maxAttempts = 3
            $0.budget = .ratio(.init(ratio: 0, burst: 2))
        }
        let setting = Setting(old, Array(repeating: .status(503), count: 9))
        #expect(try await setting.call() == "attempts_exhausted")
        var new = old
        new.budget = .ratio(.init(ratio: 0.01, burst: 50))
        try setting.recovery.apply(new, in: setting.client.runtime)
        #expect(try await setting.call() == "budget_exhausted")
        #expect(setting.transport.received.count == 4)
        new.budget = .unlimited
        try setting.recovery.apply(new, in: setting.client.runtime)
        #expect(try await setting.call() == "attempts_exhausted", "another model begins anew")
    }

    @Test func aGateStaysClosedAndAPlaceTaken() async throws {
        let old = Self.settings {
            $0.maxWait = .seconds(1)
            $0.pace = .init(perSecond: 0.1)
        }
        let setting = Setting(old, [.status(200), .status(429, ["retry-after": "100"]), .status(200)])
        #expect(try await setting.call() == "200")
        var new = old
        new.pace = .init(perSecond: 0.05)
        try setting.recovery.apply(new, in: setting.client.runtime)
        #expect(try await setting.call() == "wait_exceeds_limit" && setting.transport.received.count == 1)
        new.pace = nil
        try setting.recovery.apply(new, in: setting.client.runtime)
        #expect(try await setting.call() == "attempts_exhausted" && setting.transport.received.count == 2)
        new.deadline = .seconds(50)
        try setting.recovery.apply(new, in: setting.client.runtime)
        #expect(try await setting.call() == "deadline_would_pass" && setting.transport.received.count == 2)
    }

    @Test func whatIsKnownIsToldAndTakenOver() async throws {
        let old = Self.settings { $0.breaker = .consecutive(1) }
        let (setting, successor) = (Setting(old, [.status(500)]), Setting(old, [.status(200)]))
        #expect(try await setting.call() == "attempts_exhausted")
        try setting.recovery.apply(Self.settings { $0.breaker = .consecutive(2) }, in: setting.client.runtime)
        #expect(await successor.client.restore(setting.client.liveState()) == [])
        #expect(try await successor.call() == "breaker_open")
    }

    @Test func whatCannotWorkChangesNothing() async throws {
        let setting = Setting(Self.settings(), [])
        let none = Self.settings { $0.maxAttempts = 0 }
        #expect(throws: Settings.Invalid.self) { try setting.recovery.apply(none, in: setting.client.runtime) }
        let hedged = Self.settings { $0.hedging = .init(after: .seconds(1)) }
        let error = #expect(throws: Settings.Invalid.self) {
            try setting.recovery.apply(hedged, in: setting.client.runtime)
        }
        #expect(error?.key == "hedge" && setting.recovery.settings == Self.settings())
    }
}
