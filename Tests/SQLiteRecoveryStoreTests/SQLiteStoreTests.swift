#if SQLite
import GRDB
import HTTPRecovery
import HTTPRecoveryTesting
import ProcessSupport
import SQLiteRecoveryStore
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct SQLiteStoreTests {
    private let directory = TemporaryDirectory()
    private let start = Timestamp(secondsSinceEpoch: 1_893_456_000)
    private let key = SharedState.Gate.Key(
        scope: .account,
        origin: Origin(scheme: "https", authority: "api.example.com"),
        name: "a"
    )

    private var path: String { directory.file("store.db") }

    private func gate(_ name: String = "a", opensIn time: Duration?, at now: Timestamp) -> SharedState.Gate {
        var key = key
        key.name = name
        return SharedState.Gate(key: key, reason: .accountLocked, opensAt: time.map { now.advanced(by: $0) })
    }

    private func left(_ store: SQLiteStore, at now: Timestamp) async throws -> Duration? {
        guard let gate = try await store.closedGate(among: [key], at: now) else { return nil }
        return gate.opensAt?.elapsed(since: now) ?? .longest
    }

    // MARK: The file

    @Test func theFileAndItsDirectoryAreTheOwnersAlone() async throws {
        let path = directory.file("one/two/store.db")
        let store = SQLiteStore(path: path, lockTimeout: .seconds(600))
        _ = try await store.replaceRecord("a", version: nil, with: [1])
        for folder in ["one", "one/two"] {
            #expect(TemporaryDirectory.permissions(of: directory.file(folder)) == 0o700)
        }
        for suffix in ["", "-wal", "-shm"] { #expect(TemporaryDirectory.permissions(of: path + suffix) == 0o600) }
        await store.shutdown()
        Files.setMode(0o644, of: path)
        let again = SQLiteStore(path: path, lockTimeout: .seconds(600))
        #expect(try await again.record("a")?.bytes == [1])
        #expect(TemporaryDirectory.permissions(of: path) == 0o600)
        await again.shutdown()
    }

    /// Whoever copies the file of a program that has ended has what it knew.
    @Test func afterACleanEndTheFileIsWhole() async throws {
        let store = SQLiteStore(path: path, lockTimeout: .seconds(600))
        _ = try await store.replaceRecord("a", version: nil, with: [1])
        #expect(try await store.record("a")?.bytes == [1])
        await store.shutdown()
        #expect(Files.read(path + "-wal") == [])
        let copy = directory.file("copy.db")
        Files.write(Files.read(path), to: copy)
        let again = SQLiteStore(path: copy, lockTimeout: .seconds(600))
        #expect(try await again.record("a")?.bytes == [1])
        await again.shutdown()
    }

    @Test func aLinkOfOnesOwnIsFollowed() async throws {
        let link = directory.file("link.db")
        Files.link(link, to: path)
        // One that leads nowhere is not filled.
        await #expect(throws: SharedState.StoreError.self) { try await SQLiteStore(path: link).record("a") }
        let store = SQLiteStore(path: path, lockTimeout: .seconds(600))
        _ = try await store.replaceRecord("a", version: nil, with: [1])
        let linked = SQLiteStore(path: link)
        #expect(try await linked.record("a")?.bytes == [1])
        await linked.shutdown()
        await store.shutdown()
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make files of another user"))
    func whatAnotherUserHasPlantedIsNotTouched() async throws {
        let victim = directory.file("victim")
        Files.write([1], to: victim)
        let link = directory.file("link.db")
        Files.link(link, to: victim, owner: 65_534)
        let planted = directory.file("planted.db")
        Files.write(to: planted, mode: 0o666, owner: 65_534)
        let side = directory.file("side.db")
        Files.link(side + "-wal", to: victim)
        for path in [link, planted, side] {
            await #expect(throws: SharedState.StoreError.self) { try await SQLiteStore(path: path).record("a") }
        }
        #expect(Files.read(victim) == [1])
    }

    @Test func aDirectoryWhereEverybodyMayRenameFilesIsRefused() async throws {
        let open = directory.file("open")
        Files.makeDirectory(open)
        Files.setMode(0o777, of: open)
        let error = await #expect(throws: SharedState.StoreError.self) {
            try await SQLiteStore(path: open + "/s.db").record("a")
        }
        #expect(error?.description.contains("everybody") == true)
        Files.setMode(0o1777, of: open)
        #expect(try await SQLiteStore(path: open + "/s.db").record("a") == nil)
    }

    @Test func pathsThatCannotBeSaySo() async throws {
        let file = directory.file("file")
        Files.write(to: file)
        Files.makeDirectory(directory.file("folder"))
        for path in [file + "/store.db", directory.file("folder"), "/proc/store.db", "/dev/null"] {
            let error = await #expect(throws: SharedState.StoreError.self) {
                try await SQLiteStore(path: path).record("a")
            }
            #expect(error?.description.contains(path) == true || error?.description.contains("/proc") == true)
        }
    }

    @Test func whatIsNoDatabaseIsLeftAlone() async throws {
        let garbage = [UInt8](repeating: 0x41, count: 8192)
        Files.write(garbage, to: path)
        try await isLeftAlone("move it away")
        // As it says.
        Files.move(path, to: path + ".old")
        let store = SQLiteStore(path: path, lockTimeout: .seconds(600))
        #expect(try await store.replaceRecord("a", version: nil, with: [1]) != nil)
        await store.shutdown()
    }

    @Test(arguments: [
        "CREATE TABLE gate (mine TEXT)", "PRAGMA user_version = 1", "PRAGMA application_id = 7",
        "PRAGMA journal_mode = WAL; CREATE TABLE gate (mine TEXT)",
    ])
    func theDatabaseOfAnotherProgramIsLeftAlone(change: String) async throws {
        let other = try DatabaseQueue(path: path)
        try await other.writeWithoutTransaction { try $0.execute(sql: change) }
        try other.close()
        try await isLeftAlone("another program")
    }

    /// Neither its bytes nor who may read it: another program goes on with it.
    private func isLeftAlone(_ sentence: String) async throws {
        #expect(unsafe chmod(path, 0o644) == 0)
        let before = Files.read(path)
        let error = await #expect(throws: SharedState.StoreError.self) { try await SQLiteStore(path: path).record("a") }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
        #expect(Files.read(path) == before)
        var information = stat()
        #expect(unsafe stat(path, &information) == 0 && information.st_mode & 0o777 == 0o644)
        for suffix in ["-wal", "-shm", "-journal"] {
            #expect(unsafe stat(path + suffix, &information) != 0, "\(suffix)")
        }
    }

    @Test func aFileThatIsDamagedInTheMiddleIsAnError() async throws {
        let store = SQLiteStore(path: path, lockTimeout: .seconds(600))
        for index in 0..<50 {
            _ = try await store.replaceRecord("\(index)", version: nil, with: Array(repeating: 7, count: 5000))
        }
        await store.shutdown()
        var bytes = Files.read(path)
        for index in 4096..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
        Files.write(bytes, to: path)
        let damaged = SQLiteStore(path: path, lockTimeout: .seconds(600))
        for _ in 0..<2 {
            let error = await #expect(throws: SharedState.StoreError.self) { try await damaged.record("7") }
            #expect(error?.description.contains("damaged") == true)
        }
    }

    @Test func aFileThatIsDeletedIsMadeAnew() async throws {
        let store = SQLiteStore(path: path, lockTimeout: .seconds(600))
        _ = try await store.replaceRecord("a", version: nil, with: [1])
        for suffix in ["", "-wal", "-shm"] { Files.remove(path + suffix) }
        let error = await #expect(throws: SharedState.StoreError.self) { try await store.record("a") }
        #expect(error?.description.contains("deleted") == true)
        #expect(try await store.record("a") == nil)
        #expect(try await store.replaceRecord("a", version: nil, with: [2]) != nil)
        #expect(try await SQLiteStore(path: path).record("a")?.bytes == [2])
        await store.shutdown()
    }

    @Test func aClientKeepsItsRecordsWhenTheFileIsDeleted() async throws {
        let clock = ManualClock()
        let store = SQLiteStore(path: path, lockTimeout: .seconds(600))
        let state = SharedState(store, timeout: .seconds(60), time: clock.timeSource())
        _ = try await state.replaceRecord("a", version: nil, with: [1])
        for suffix in ["", "-wal", "-shm"] { Files.remove(path + suffix) }
        #expect(try await state.record("a")?.bytes == [1])
        #expect(state.health != .available)
        clock.advance(by: .seconds(1))
        #expect(try await state.record("a")?.bytes == [1])
        #expect(state.health == .available)
        #expect(try await store.record("a")?.bytes == [1])
        await state.shutdown()
    }

    @Test func noVersionOrFenceIsGivenTwiceWhenTheFileIsDeleted() async throws {
        let store = SQLiteStore(path: path, lockTimeout: .seconds(600))
        var old = try #require(try await store.replaceRecord("a", version: nil, with: [1]))
        for byte in 2...5 as ClosedRange<UInt8> {
            old = try #require(try await store.replaceRecord("a", version: old.version, with: [byte]))
        }
        let lost = try #require(try await store.acquireLease("a", for: .seconds(600), at: start))
        for suffix in ["", "-wal", "-shm"] { Files.remove(path + suffix) }
        // Others go on with a new file.
        let other = SQLiteStore(path: path, lockTimeout: .seconds(600))
        let new = try #require(try await other.replaceRecord("a", version: nil, with: [9]))
        #expect(new.version > old.version)
        let held = try #require(try await other.acquireLease("a", for: .seconds(600), at: start))
        #expect(held.fence > lost.fence)
        // Who knows the old one changes nothing of theirs.
        let late = SQLiteStore(path: path, lockTimeout: .seconds(600))
        #expect(try await late.replaceRecord("a", version: old.version, with: [6]) == nil)
        #expect(try await !late.extendLease(lost, for: .seconds(600), at: start))
        for store in [store, other, late] { await store.shutdown() }
    }

    @Test func aDatabaseThatIsLockedIsNotWaitedForForEver() async throws {
        let store = SQLiteStore(path: path, lockTimeout: .milliseconds(30))
        let record = try await store.replaceRecord("a", version: nil, with: Array("s3cret".utf8))
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let error = await #expect(throws: SharedState.StoreError.self) {
            try await store.replaceRecord("a", version: record?.version, with: Array("s3cret2".utf8))
        }
        #expect(error?.description.contains("locked") == true)
        #expect(error?.description.contains("s3cret") == false)
        // Reading goes on.
        #expect(try await store.record("a") == record)
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        #expect(try await store.replaceRecord("a", version: record?.version, with: [2]) != nil)
        await store.shutdown()
    }

    @Test func aDiskThatIsFullIsAnErrorAndNotHalfARecord() async throws {
        // It ends in the middle of its work, where everything is still held: no place to look for leaks.
        // A limit on the size of files is to SQLite what a full disk is; it holds for a process as a whole.
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = SQLiteStore(path: path, lockTimeout: .seconds(600))
            let small = try await store.replaceRecord("a", version: nil, with: [1])
            _ = signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 200_000, rlim_max: 200_000)
            _ = unsafe setrlimit(__rlimit_resource_t(1), &limit)
            let large = [UInt8](repeating: 0x73, count: 1_000_000)
            do {
                _ = try await store.replaceRecord("a", version: small?.version, with: large)
                _exit(1)
            } catch let error as SharedState.StoreError {
                guard !error.description.contains("sss") else { _exit(2) }
            }
            guard try await store.record("a") == small else { _exit(3) }
            guard try await store.replaceRecord("a", version: small?.version, with: [2]) != nil else { _exit(4) }
            _exit(0)
        }
        #expect(try await SQLiteStore(path: path).record("a")?.bytes == [2])
    }

    @Test func aNewerVersionOfTheFileIsStillRead() async throws {
        let store = SQLiteStore(path: path, lockTimeout: .seconds(600))
        _ = try await store.replaceRecord("a", version: nil, with: [1])
        await store.shutdown()
        let newer = try DatabaseQueue(path: path)
        try await newer.write { db in
            try db.execute(sql: "ALTER TABLE gate ADD COLUMN added TEXT NOT NULL DEFAULT 'x'")
            try db.execute(sql: "ALTER TABLE record ADD COLUMN added TEXT; CREATE TABLE more (id INTEGER)")
            try db.execute(sql: "PRAGMA user_version = 7")
        }
        try newer.close()
        let older = SQLiteStore(path: path, lockTimeout: .seconds(600))
        let record = try await older.record("a")
        #expect(record?.bytes == [1])
        #expect(try await older.replaceRecord("a", version: record?.version, with: [2]) != nil)
        try await older.close(gate(opensIn: .seconds(60), at: start), at: start)
        // By the machine's own clock, which goes on meanwhile.
        let span = try #require(try await left(older, at: start))
        #expect(span > .seconds(30) && span <= .seconds(60))
        await older.shutdown()
        let level = try await DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        #expect(level == 7)
    }

    // MARK: Time

    @Test func aClockThatIsSetBackKeepsNothingClosedForLonger() async throws {
        let boot = Locked(BootClock.Value(boot: "one", microseconds: 5_000_000))
        let clock = BootClock { boot.withLock { $0 } }
        let store = SQLiteStore(path: path, namespace: "", clock: clock)
        try await store.close(gate(opensIn: .seconds(60), at: start), at: start)
        let lease = try #require(try await store.acquireLease("a", for: .seconds(60), at: start))
        let early = start.advanced(by: .seconds(-3600))
        #expect(try await left(store, at: early) == .seconds(60))
        boot.withLock { $0.microseconds += 45_000_000 }
        #expect(try await left(store, at: early) == .seconds(15))
        // It is not closed for less than it was, either.
        try await store.close(gate(opensIn: .seconds(10), at: early), at: early)
        #expect(try await left(store, at: early) == .seconds(15))
        #expect(try await store.acquireLease("a", for: .seconds(60), at: early) == nil)
        // Another process may not have seen the change of the clock.
        #expect(try await left(store, at: start.advanced(by: .seconds(45))) == .seconds(15))
        boot.withLock { $0.microseconds += 15_000_000 }
        #expect(try await left(store, at: early) == nil)
        #expect(try await !store.extendLease(lease, for: .seconds(60), at: early))
        #expect(try await store.acquireLease("a", for: .seconds(60), at: early) != nil)
        await store.shutdown()
    }

    @Test func aClockThatIsSetForwardEndsNoLease() async throws {
        let boot = Locked(BootClock.Value(boot: "one", microseconds: 5_000_000))
        let clock = BootClock { boot.withLock { $0 } }
        let store = SQLiteStore(path: path, namespace: "", clock: clock)
        let lease = try #require(try await store.acquireLease("a", for: .seconds(60), at: start))
        let late = start.advanced(by: .seconds(3600))
        #expect(try await store.acquireLease("a", for: .seconds(60), at: late) == nil)
        boot.withLock { $0.microseconds += 45_000_000 }
        #expect(try await store.acquireLease("a", for: .seconds(60), at: late) == nil)
        #expect(try await store.extendLease(lease, for: .seconds(60), at: late))
        boot.withLock { $0.microseconds += 59_000_000 }
        #expect(try await store.acquireLease("a", for: .seconds(60), at: start) == nil)
        boot.withLock { $0.microseconds += 1_000_000 }
        #expect(try await store.acquireLease("a", for: .seconds(60), at: start) != nil)
        await store.shutdown()
    }

    @Test func aClockThatIsSetBackWhileTheMachineIsOffKeepsNothingClosedForLonger() async throws {
        let boot = Locked(BootClock.Value(boot: "one", microseconds: 900_000_000))
        let clock = BootClock { boot.withLock { $0 } }
        let store = SQLiteStore(path: path, namespace: "", clock: clock)
        try await store.close(gate(opensIn: .seconds(60), at: start), at: start)
        _ = try await store.acquireLease("a", for: .seconds(60), at: start)
        boot.withLock { $0 = BootClock.Value(boot: "two", microseconds: 1_000_000) }
        let early = start.advanced(by: .seconds(-3600))
        #expect(try await left(store, at: early) == .seconds(60))
        // From its first sight on it runs out.
        boot.withLock { $0.microseconds += 40_000_000 }
        #expect(try await left(store, at: early.advanced(by: .seconds(40))) == .seconds(20))
        #expect(try await left(store, at: early.advanced(by: .seconds(60))) == nil)
        // Whoever held a lease then runs no more.
        #expect(try await store.acquireLease("a", for: .seconds(60), at: early) != nil)
        await store.shutdown()
    }

    @Test func aGateThatNoTimeOpensIsForgottenAfterAnHour() async throws {
        let store = SQLiteStore(path: path, lockTimeout: .seconds(600))
        try await store.close(gate(opensIn: nil, at: start), at: start)
        #expect(SQLiteStore.indefiniteGateLifetime == .seconds(3600))
        let later = start.advanced(by: .seconds(3000))
        #expect(try await left(store, at: later) == .longest)
        // Said again, it is remembered for another hour.
        try await store.close(gate(opensIn: nil, at: later), at: later)
        #expect(try await left(store, at: start.advanced(by: .seconds(6000))) == .longest)
        #expect(try await left(store, at: start.advanced(by: .seconds(6600))) == nil)
        await store.shutdown()
    }

    @Test func gatesAreBoundedAndThoseThatAreOverAreRemoved() async throws {
        let store = SQLiteStore(path: path, namespace: "", clock: .system, gateLimit: 20)
        for index in 0..<100 {
            try await store.close(gate("\(index)", opensIn: .seconds(1000 + index), at: start), at: start)
        }
        try await store.close(gate("indefinite", opensIn: nil, at: start), at: start)
        func count() async throws -> Int? {
            try await DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM gate") }
        }
        #expect(try await count() == 20)
        let kept = try await store.closedGate(among: [gate("99", opensIn: nil, at: start).key], at: start)
        #expect(kept != nil)
        #expect(try await store.closedGate(among: [gate("3", opensIn: nil, at: start).key], at: start) == nil)
        let later = start.advanced(by: .seconds(86_400))
        try await store.close(gate("new", opensIn: .seconds(60), at: later), at: later)
        #expect(try await count() == 1)
        await store.shutdown()
    }
}
#endif
