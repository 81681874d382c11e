import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Several managers on one store, as several processes are.
@Suite struct RenewalLeaseTests {
    /// Stores that several processes could share, each opened anew by whoever uses it.
    enum Backing: String, CaseIterable, Sendable {
        case file, shared

        func opener(_ directory: TemporaryDirectory) -> @Sendable () -> any TokenStore {
            switch self {
            case .file:
                let path = directory.file("tokens.json")
                return { FileTokenStore(path: path) }
            case .shared:
                let store = InMemoryRecoveryStore()
                return { SharedTokenStore(SharedState(store), name: "one") }
            }
        }
    }

    @Test(arguments: Backing.allCases)
    func oneOfManyRenewsAndTheOthersTakeItsToken(backing: Backing) async throws {
        let directory = TemporaryDirectory()
        let open = backing.opener(directory)
        try await open().update { $0 = RotatingServer.first }
        let server = RotatingServer(time: .system)
        server.expireAccess()
        let statuses = try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
            for _ in 0..<6 {
                // A process of its own: nothing is shared but the store and the server.
                let client = Self.client(
                    TokenManager(store: open(), renewer: server, options: RenewalBench.patient),
                    server
                )
                for _ in 0..<10 { group.addTask { try await client.send(Bench.get).status } }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count == 60)
        #expect(statuses.allSatisfy { $0 == .ok })
        #expect(server.presented == ["refresh-1"])
        #expect(try await open().read().credentials.refreshToken == "refresh-3")
    }

    @Test func aHolderThatDiesIsSurvived() async throws {
        let clock = ManualClock()
        let store = InMemoryTokenStore(RotatingServer.first)
        // Somebody takes the lease and is never heard of again.
        let lease = try #require(await store.acquireLease(for: .seconds(5), time: clock.timeSource()))
        let bench = RenewalBench(store: store, clock: clock)
        bench.server.expireAccess()
        #expect(try await bench.sendSkipping() == .ok)
        #expect(bench.clock.now.offset >= .seconds(5), "not before the lease has run out")
        #expect(await lease.extend(for: .seconds(5)) == false)
    }

    @Test func aHolderThatIsStoppedLosesTheLeaseOfAFileWhenItRunsOut() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("tokens.json")
        let store = FileTokenStore(path: path)
        try await store.update { $0 = RotatingServer.first }
        let clock = ManualClock()
        // This process lives, and does nothing for its lease.
        let lease = try await FileTokenStore(path: path).acquireLease(for: .seconds(5), time: clock.timeSource())
        let held = try #require(lease)
        #expect(try await store.acquireLease(for: .seconds(5), time: clock.timeSource()) == nil)
        let bench = RenewalBench(store: store, clock: clock)
        bench.server.expireAccess()
        #expect(try await bench.sendSkipping() == .ok)
        #expect(clock.now.offset >= .seconds(5), "not before the lease has run out")
        #expect(await held.extend(for: .seconds(5)) == false, "a newer fence has taken it over")
    }

    @Test func aLostLeaseSendsNothingAndLeavesNoDoubt() async throws {
        let bench = RenewalBench(store: LosingTokenStore(RotatingServer.first))
        bench.server.expireAccess()
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(error?.outcome.processed == .no)
        #expect(bench.server.presented.isEmpty)
        #expect(try await bench.store.read().credentials == RotatingServer.first)
    }

    @Test func aDeadHoldersLeaseOfAFileIsTakenAtOnce() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("tokens.json")
        let store = FileTokenStore(path: path)
        try await store.update { $0 = RotatingServer.first }
        let soon = Timestamp.system().secondsSinceEpoch * 1000 + 60_000
        // No process has the number that comes after the last that there can be.
        TemporaryDirectory.write("7 \(soon) 2147483647\n", to: path + ".lease")
        let lease = try #require(try await store.acquireLease(for: .seconds(5), time: .system))
        #expect(lease.fence == 8)
        // Nor does anything else that somebody may have written there hold anybody up.
        for text in ["nonsense", "", "1 \(soon) 0", "1 \(soon) -1", "1 9223372036854775807 \(getpid())", "1 2 3 4"] {
            TemporaryDirectory.write(text, to: path + ".lease")
            #expect(try await store.acquireLease(for: .seconds(5), time: .system) != nil, "\(text)")
        }
    }

    @Test func aHolderThatCannotBeSeenByItsNumberIsNotTakenForDead() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("tokens.json")
        let (holder, other) = (FileTokenStore(path: path), FileTokenStore(path: path))
        let lease = try #require(try await holder.acquireLease(for: .seconds(86_400), time: .system))
        // In another PID namespace the holder has another number, or none.
        var words = try #require(TemporaryDirectory.read(path + ".lease")).split { $0 == " " || $0 == "\n" }
        #expect(words.last == "\(getpid())")
        words[words.count - 1] = "2147483647"
        TemporaryDirectory.write(words.joined(separator: " ") + "\n", to: path + ".lease")
        #expect(try await other.acquireLease(for: .seconds(86_400), time: .system) == nil)
        #expect(await lease.extend(for: .seconds(86_400)))
        await lease.release()
        #expect(try await other.acquireLease(for: .seconds(86_400), time: .system) != nil)
    }

    @Test(arguments: [3600, -3600])
    func aStepOfTheWallClockDoesNotEndALeaseOfAFile(seconds: Int) async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("tokens.json")
        let lease = try #require(
            try await FileTokenStore(path: path).acquireLease(for: .seconds(86_400), time: .system)
        )
        // A process that is started after the step.
        let stepped = TimeSource(
            clock: ContinuousClock(),
            wallTime: Timestamp.system().advanced(by: .seconds(seconds))
        )
        let other = FileTokenStore(path: path)
        #expect(try await other.acquireLease(for: .seconds(86_400), time: stepped) == nil)
        await lease.release()
        let next = try #require(try await other.acquireLease(for: .seconds(86_400), time: stepped))
        #expect(next.fence > lease.fence)
        #expect(await next.extend(for: .seconds(86_400)))
    }

    @Test func aKilledHoldersLeaseOfAFileIsTakenAtOnce() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("tokens.json")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let lease = try await FileTokenStore(path: path).acquireLease(for: .seconds(3600), time: .system)
            guard lease != nil else { exit(1) }
            kill(getpid(), SIGKILL)
        }
        let lease = try #require(
            try await FileTokenStore(path: path).acquireLease(for: .seconds(86_400), time: .system)
        )
        #expect(lease.fence == 2)
    }

    @Test func aLeaseOfAnEarlierRunOfTheMachineIsFree() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("tokens.json")
        let system = TimeSource(clock: ContinuousClock())
        func time(_ boot: String, _ seconds: Int64) -> TimeSource {
            let reading = BootClock.Value(boot: boot, microseconds: seconds * 1_000_000)
            return TimeSource(system, bootClock: BootClock { reading })
        }
        let store = FileTokenStore(path: path)
        do {
            let lease = try await store.acquireLease(for: .seconds(3600), time: time("one", 900))
            #expect(lease != nil)
            #expect(try await store.acquireLease(for: .seconds(86_400), time: time("two", 1)) == nil, "it lives")
            withExtendedLifetime(lease) {}
        }
        // Nothing of that run has survived its end.
        let next = try #require(try await store.acquireLease(for: .seconds(86_400), time: time("two", 1)))
        #expect(next.fence == 2)
    }

    @Test func whereNothingProvesTheHoldersLifeALeaseHoldsUntilItRunsOut() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("tokens.json")
        let store = FileTokenStore(path: path)
        try await store.update { $0 = RotatingServer.first }
        let now = Timestamp(secondsSinceEpoch: 1_800_000_000)
        func isFree(boot: String, _ bootSeconds: Int64, wall: Int) async throws -> Bool {
            TemporaryDirectory.write("7 1800000000000 60000 one 900000000 unlocked 1\n", to: path + ".lease")
            let reading = BootClock.Value(boot: boot, microseconds: bootSeconds * 1_000_000)
            let source = TimeSource(clock: ManualClock(), wallTime: now.advanced(by: .seconds(wall)))
            let time = TimeSource(source, bootClock: BootClock { reading })
            return try await store.acquireLease(for: .seconds(1), time: time) != nil
        }
        // The boot clock tells, whatever the wall clock says.
        #expect(try await !isFree(boot: "one", 900, wall: 0))
        #expect(try await !isFree(boot: "one", 959, wall: 7200))
        #expect(try await !isFree(boot: "one", 959, wall: -7200))
        #expect(try await isFree(boot: "one", 960, wall: 0))
        // On another host, or after another start, only the wall clock is left.
        #expect(try await !isFree(boot: "two", 3, wall: 59))
        #expect(try await isFree(boot: "two", 3, wall: 60))
        #expect(try await isFree(boot: "two", 3, wall: -60))
    }

    @Test func aLeaseIsKeptForAsLongAsTheRenewalLasts() async throws {
        let latch = Latch()
        let clock = ManualClock()
        let store = InMemoryTokenStore(RotatingServer.first)
        let bench = RenewalBench([.held(latch)], store: store, options: TokenManager.RenewalOptions(), clock: clock)
        bench.server.expireAccess()
        let call = Task { try await bench.send() }
        while bench.server.presented.isEmpty { await Task.yield() }
        for _ in 0..<8 {
            // The heartbeat and the renewal's timeout sleep.
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(2))
            #expect(await store.acquireLease(for: .seconds(5), time: clock.timeSource()) == nil)
        }
        await latch.open()
        #expect(try await call.value == .ok)
        #expect(await store.acquireLease(for: .seconds(5), time: clock.timeSource()) != nil, "given back")
    }

    /// Skipping waits does not skip to it: a renewal that takes long holds its lease, and time stands still.
    @Test func theHeartbeatOfALeaseIsAGuard() async throws {
        let latch = Latch()
        let clock = ManualClock()
        let bench = RenewalBench([.held(latch)], options: TokenManager.RenewalOptions(lease: .seconds(6)), clock: clock)
        bench.server.expireAccess()
        let call = Task { try await bench.send() }
        await clock.waitForSleeper(of: .seconds(2), purpose: .guard)
        await latch.open()
        #expect(try await call.value == .ok)
    }

    @Test func fencesGrow() async throws {
        let directory = TemporaryDirectory()
        for backing in Backing.allCases {
            var last: UInt64 = 0
            for _ in 0..<5 {
                let lease = try #require(
                    try await backing.opener(directory)().acquireLease(for: .seconds(5), time: .system)
                )
                if backing == .file { #expect(lease.fence > last) } else { #expect(lease.fence > 0) }
                last = lease.fence
                await lease.release()
            }
        }
    }

    private static func client(_ tokens: TokenManager, _ server: RotatingServer) -> RecoveringClient {
        let transport = ScriptedTransport(
            then: .run { received in
                let token = received.request.headerFields[.authorization].map { String($0.dropFirst("Bearer ".count)) }
                return .scripted(
                    server.accepts(token) ? 200 : 401,
                    ["www-authenticate": "Bearer error=\"invalid_token\""]
                )
            }
        )
        return RecoveringClient(transport: transport) {
            Recovery { SessionRenewal(tokens) }
            Authorization(tokens, audience: [Bench.origin])
        }
    }
}
