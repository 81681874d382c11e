#if Redis
import HTTPRecovery
import Testing

@testable import RedisRecoveryStore

@Suite(.enabled(if: RedisServer.isAvailable), .timeLimit(.minutes(30))) struct ConnectionTests {
    static let key = SharedState.Gate.Key(scope: .origin, origin: Origin(scheme: "https", authority: "h"))

    @Test func thousandsOfTasksShareOneConnectionAndEachHasItsOwnReply() async throws {
        let server = try await RedisServer.start()
        let store = try RedisStore(configuration: server.configuration())
        for index in 0..<50 { _ = try await store.replaceRecord("\(index)", version: nil, with: [UInt8(index)]) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<3000 {
                group.addTask {
                    let record = try await store.record("\(index % 50)")
                    #expect(record?.bytes == [UInt8(index % 50)])
                }
            }
            try await group.waitForAll()
        }
        let clients = String(decoding: try await server.ask("CLIENT", "LIST", "TYPE", "normal").string(), as: UTF8.self)
        // The other one asks.
        #expect(clients.split(separator: "\n").count == 2)
        await store.shutdown()
    }

    @Test func recordsOfEveryByteAndSizeComeBack() async throws {
        let server = try await RedisServer.start()
        let store = try RedisStore(configuration: server.configuration())
        for bytes in [[], [0], Array("a\r\nb".utf8), (0...255).map { UInt8($0) }, Array(repeating: 7, count: 3 << 20)] {
            let key = "\(bytes.count)\u{0}\r\n"
            let stored = try await store.replaceRecord(key, version: nil, with: bytes)
            #expect(stored?.bytes == bytes)
            #expect(try await store.record(key) == stored)
        }
        let tooLarge = [UInt8](repeating: 0, count: RedisStore.maxRecordBytes + 1)
        await #expect(throws: SharedState.StoreError.self) {
            try await store.replaceRecord("large", version: nil, with: tooLarge)
        }
        await store.shutdown()
    }

    @Test func aCancelledTaskIsGoneAtOnceAndTheOthersHaveTheirReplies() async throws {
        let server = try await RedisServer.start()
        let store = try RedisStore(configuration: server.configuration())
        for index in 0..<10 { _ = try await store.replaceRecord("\(index)", version: nil, with: [UInt8(index)]) }
        server.freeze()
        let tasks = (0..<400).map { index in
            Task { try await store.record("\(index % 10)") }
        }
        for (index, task) in tasks.enumerated() where !index.isMultiple(of: 3) { task.cancel() }
        // The server stands still: only a cancellation can end these.
        for (index, task) in tasks.enumerated() where !index.isMultiple(of: 3) {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        server.thaw()
        for (index, task) in tasks.enumerated() where index.isMultiple(of: 3) {
            #expect(try await task.value?.bytes == [UInt8(index % 10)])
        }
        await store.shutdown()
    }

    @Test func whatIsAskedWhileTheConnectionEndsFailsToo() async throws {
        let server = try FakeServer(greeting: nil, answer: nil)
        // Its thread begins with the command, and finds both at once most of the times.
        for _ in 0..<200 {
            let connection = Connection(server.configuration())
            let task = Task { try await connection.ask(Command("PING"), by: Monotonic.deadline(after: .seconds(600))) }
            while connection.pending == 0 { await Task.yield() }
            connection.abandon()
            await #expect(throws: Unsent.self) { try await task.value }
        }
    }

    /// Lets the server know the script, so that the first sight of it is enough to run it.
    private func loadScripts(_ store: RedisStore) async throws {
        let lease = try #require(try await store.acquireLease("other", for: .seconds(600), at: .system()))
        try await store.releaseLease(lease)
    }

    @Test func aLeaseThatItsCallerDidNotWaitForIsGivenBack() async throws {
        let server = try await RedisServer.start()
        let store = try RedisStore(configuration: server.configuration())
        try await loadScripts(store)
        server.freeze()
        let task = Task { try await store.acquireLease("a", for: .seconds(600), at: .system()) }
        // It is under way when the server has it in its hands.
        try await untilTrue { try server.hasUnreadBytes }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        server.thaw()
        try await untilTrue { try await store.acquireLease("a", for: .seconds(600), at: .system()) != nil }
        // One that was held by another is not given back with it.
        server.freeze()
        let second = Task { try await store.acquireLease("a", for: .seconds(600), at: .system()) }
        try await untilTrue { try server.hasUnreadBytes }
        second.cancel()
        _ = await second.result
        server.thaw()
        _ = try await store.record("after it")
        #expect(try await store.acquireLease("a", for: .seconds(600), at: .system()) == nil)
        await store.shutdown()
    }

    @Test func aLeaseWhoseAnswerCameTooLateIsGivenBack() async throws {
        let server = try await RedisServer.start()
        var configuration = server.configuration()
        let other = try RedisStore(configuration: configuration)
        configuration.commandTimeout = .milliseconds(500)
        let store = try RedisStore(configuration: configuration)
        try await loadScripts(other)
        try await untilTrue { (try? await store.joinQueue(at: Self.key)) != nil }
        server.freeze()
        do {
            _ = try await store.acquireLease("a", for: .seconds(600), at: .system())
            Issue.record("expected an error")
        } catch {
            #expect("\(error)".contains("within 0.5 seconds"))
        }
        server.thaw()
        try await untilTrue { try await other.acquireLease("a", for: .seconds(600), at: .system()) != nil }
        await store.shutdown()
        await other.shutdown()
    }

    @Test func whatWaitsIsBounded() async throws {
        let server = try await RedisServer.start()
        var configuration = server.configuration()
        configuration.maxPendingCommands = 10
        let store = try RedisStore(configuration: configuration)
        _ = try await store.record("connected")
        server.freeze()
        let results = Locked<[Result<Void, any Error>]>([])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    do {
                        _ = try await store.record("a")
                        results.withLock { $0.append(.success(())) }
                    } catch {
                        results.withLock { $0.append(.failure(error)) }
                    }
                }
            }
            while results.withLock({ $0.count }) < 40 { try? await Task.sleep(for: .milliseconds(2)) }
            server.thaw()
        }
        #expect(results.withLock { $0.prefix(40) }.allSatisfy { (try? $0.get()) == nil })
        #expect(results.withLock { $0.dropFirst(40) }.allSatisfy { (try? $0.get()) != nil })
        // All places are free again.
        for _ in 0..<20 { _ = try await store.record("a") }
        await store.shutdown()
    }

    @Test func scriptsThatTheServerHasForgottenAreSentAgain() async throws {
        let server = try await RedisServer.start()
        let store = try RedisStore(configuration: server.configuration())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var version: UInt64?
                    for round in 0..<50 {
                        let record = try await store.replaceRecord("\(task)", version: version, with: [UInt8(round)])
                        #expect(record != nil, "each replacement happens once")
                        version = record?.version
                    }
                }
            }
            group.addTask {
                for _ in 0..<20 { _ = try await server.ask("SCRIPT", "FLUSH") }
            }
            try await group.waitForAll()
        }
        await store.shutdown()
    }

    @Test func theServerKnowsTheScriptsByTheSameDigest() async throws {
        let server = try await RedisServer.start()
        for script in [Scripts.probe, Scripts.closedGate, Scripts.settle, Scripts.replaceRecord] {
            let text = String(decoding: script.text, as: UTF8.self)
            #expect(try await server.ask("SCRIPT", "LOAD", text) == .bytes(script.digest))
        }
    }

    @Test func fencesAndVersionsGrowWhenTheServerHasLostItsData() async throws {
        let server = try await RedisServer.start()
        let store = try RedisStore(configuration: server.configuration())
        var fences: [UInt64] = []
        var versions: [UInt64] = []
        for round in 0..<3 {
            for _ in 0..<20 {
                let lease = try #require(try await store.acquireLease("a", for: .seconds(600), at: .system()))
                fences.append(lease.fence)
                try await store.releaseLease(lease)
                let present = try await store.record("a")
                let stored = try await store.replaceRecord("a", version: present?.version, with: [1])
                versions.append(try #require(stored).version)
            }
            if round == 0 { _ = try await server.ask("FLUSHALL") }
            if round == 1 { try await server.restart() }
        }
        #expect(zip(fences, fences.dropFirst()).allSatisfy { $0 < $1 })
        #expect(zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 })
        await store.shutdown()
    }

    @Test func whatIsStoredHasAnEndExceptRecords() async throws {
        let server = try await RedisServer.start()
        let store = try RedisStore(configuration: server.configuration())
        let key = SharedState.Gate.Key(
            scope: .account,
            origin: Origin(scheme: "https", authority: "h"),
            name: "ann@example.com"
        )
        try await store.close(SharedState.Gate(key: key, reason: .accountBlocked, opensAt: nil), at: .system())
        _ = try await store.acquireLease("a", for: .seconds(3600), at: .system())
        _ = try await store.settle(SharedState.BudgetEntry(key: "a", limit: 1, initial: 1), at: .system())
        _ = try await store.replaceRecord("a", version: nil, with: [1])
        _ = try await store.closedGate(among: [], at: .system())
        // The probe of the last line lives for a second.
        _ = try await server.ask("DEL", "{test:00}:probe")
        let names = try await server.ask("KEYS", "*").elements(7).map {
            String(decoding: try $0.string(), as: UTF8.self)
        }
        for name in names {
            #expect(name.hasPrefix("{test:"))
            #expect(!name.contains("ann"), "no name of a person")
            let rest = try await server.ask("PTTL", name).integer()
            // The list of what is closed, and the home of leases, end too.
            #expect((rest == -1) == name.contains(":record:"), "\(name) lives \(rest) ms")
            // Some of the hour has passed since.
            if name.contains(":gate:") { #expect((2_000_000...3_600_001).contains(rest)) }
        }
        await store.shutdown()
    }

    @Test func amountsBeyondEveryBoundAreBookedWithoutATrap() async throws {
        let server = try await RedisServer.start()
        let store = try RedisStore(configuration: server.configuration())
        let most = 1 << 52
        let full = try await store.settle(
            SharedState.BudgetEntry(key: "a", deposit: .max, limit: .max, initial: 0),
            at: .system()
        )
        #expect(full == SharedState.BudgetBalance(isGranted: true, balance: most))
        let all = try await store.settle(
            SharedState.BudgetEntry(key: "a", withdrawal: .max, limit: .max, initial: 0),
            at: .system()
        )
        #expect(all == SharedState.BudgetBalance(isGranted: false, balance: most))
        let gate = SharedState.Gate(
            key: Self.key,
            reason: .rateLimited,
            opensAt: Timestamp(sinceEpoch: .longest)
        )
        try await store.close(gate, at: Timestamp(sinceEpoch: .zero - .longest))
        let found = try await store.closedGate(among: [gate.key], at: .system())
        #expect(found?.opensAt.map { $0 > Timestamp.system().advanced(by: .seconds(1_000_000_000)) } == true)
        let lease = try await store.acquireLease("a", for: .longest, at: .system())
        #expect(lease != nil)
        #expect(try await store.acquireLease("b", for: .zero - .longest, at: .system()) != nil)
        await store.shutdown()
    }

    @Test func aGateIsNeverOpenedEarly() async throws {
        let server = try await RedisServer.start()
        let store = try RedisStore(configuration: server.configuration())
        for _ in 0..<20 {
            let opensAt = Timestamp.system().advanced(by: .microseconds(15_300))
            try await store.close(
                SharedState.Gate(key: Self.key, reason: .rateLimited, opensAt: opensAt),
                at: .system()
            )
            while try await store.closedGate(among: [Self.key], at: .system()) != nil {}
            #expect(Timestamp.system() >= opensAt)
        }
        await store.shutdown()
    }
}

/// Waits for a fact.
func untilTrue(_ fact: () async throws -> Bool) async throws {
    while !(try await fact()) { try await Task.sleep(for: .milliseconds(5)) }
}
#endif
