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

/// Where the file work of a token store is done, and how much of it.
@Suite(.timeLimit(.minutes(30))) struct FileTokenStoreThreadTests {
    /// A sealing that takes note of who asks it, in the middle of the file work.
    struct WatchingSealing: CredentialSealing {
        let threads = Locked<[UInt]>([])
        let openings = Locked(0)

        static var thread: UInt { UInt(bitPattern: pthread_self().hashValue) }

        func seal(_ plaintext: [UInt8], at place: String) throws -> [UInt8] {
            threads.withLock { $0.append(Self.thread) }
            return plaintext.reversed()
        }

        func open(_ sealed: [UInt8], at place: String) throws -> [UInt8] {
            threads.withLock { $0.append(Self.thread) }
            openings.withLock { $0 += 1 }
            return sealed.reversed()
        }
    }

    private let directory = TemporaryDirectory()
    private var path: String { directory.file("tokens.json") }

    @Test func noFileWorkIsDoneOnTheCallersThread() async throws {
        let sealing = WatchingSealing()
        let store = FileTokenStore(path: path, identity: "a", sealing: sealing)
        for number in 0..<20 {
            let before = WatchingSealing.thread
            let present = try await store.read()
            #expect(!sealing.threads.withLock { $0.contains(before) })
            sealing.threads.withLock { $0 = [] }
            let caller = WatchingSealing.thread
            _ = try await store.replace(version: present.version, with: Credentials(accessToken: Secret("\(number)")))
            let used = sealing.threads.withLock { threads in
                defer { threads = [] }
                return threads
            }
            #expect(!used.isEmpty && !used.contains(caller))
        }
    }

    // MARK: A disk that does not answer

    /// A sealing in which a file is stuck until it is let go.
    private struct StuckSealing: CredentialSealing {
        let isStuck = Locked(true)
        let entered = Locked(0)

        func seal(_ plaintext: [UInt8], at place: String) throws -> [UInt8] { plaintext }

        func open(_ sealed: [UInt8], at place: String) throws -> [UInt8] {
            entered.withLock { $0 += 1 }
            while isStuck.withLock({ $0 }) { sched_yield() }
            return sealed
        }
    }

    /// Neither who reads it nor who stands behind them is held up when they do not want it any more, or have no time left.
    @Test func whoGivesUpDoesNotWaitForTheDisk() async throws {
        let sealing = StuckSealing()
        let store = FileTokenStore(path: path, identity: "a", sealing: sealing)
        try await FileTokenStore(path: path, identity: "a", sealing: sealing).update { $0.accessToken = "1" }
        let clock = ManualClock()
        let tokens = TokenManager(store: store)
        let client = RecoveringClient(transport: ScriptedTransport(), runtime: .manual(clock)) {
            Deadline(.seconds(5))
            Authorization(tokens, audience: [Origin(scheme: "https", authority: "a.example")])
        }
        let readers = (0..<2).map { _ in Task { try await store.read() } }
        let request = HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/")
        let call = Task { try await client.send(request) }
        while sealing.entered.withLock({ $0 }) == 0 { await Task.yield() }
        for reader in readers {
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
        }
        await clock.waitForSleeper(of: .seconds(5), purpose: .guard)
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: RecoveryError.self) { try await call.value }
        #expect(error?.reason == .deadlinePassed && error?.outcome.kind == .timedOut)
        sealing.isStuck.withLock { $0 = false }
        #expect(try await store.read().credentials.accessToken == "1")
    }

    // MARK: What is read

    private func store(_ sealing: WatchingSealing, granularity: Duration? = nil) -> FileTokenStore {
        FileTokenStore(
            path: path,
            identity: "a",
            sealing: sealing,
            time: .system,
            random: Runtime.RandomSource(),
            granularity: granularity
        )
    }

    @Test func aFileThatHasNotChangedIsNotReadAgain() async throws {
        let sealing = WatchingSealing()
        let store = self.store(sealing, granularity: .zero)
        let other = FileTokenStore(path: path, identity: "a", sealing: WatchingSealing())
        try await other.update { $0.accessToken = "1" }
        for _ in 0..<5 { #expect(try await store.read().credentials.accessToken == "1") }
        #expect(sealing.openings.withLock { $0 } == 1)
        try await other.update { $0.accessToken = "2" }
        for _ in 0..<5 { #expect(try await store.read().credentials.accessToken == "2") }
        #expect(sealing.openings.withLock { $0 } == 2)
        unsafe unlink(path)
        #expect(try await store.read().credentials == Credentials())
    }

    /// Gives a file back the time of its content that it had before.
    private func keepingTime(_ body: () -> Void) {
        var status = stat()
        unsafe stat(path, &status)
        body()
        var times = [status.st_atim, status.st_mtim]
        unsafe utimensat(AT_FDCWD, path, &times, 0)
    }

    private func words(_ time: timespec) -> [UInt8] {
        unsafe withUnsafeBytes(of: time) { unsafe Array($0) }
    }

    @Test func aChangeThatHidesBehindSizeAndTimeIsSeen() async throws {
        let store = FileTokenStore(
            path: path,
            identity: "a",
            sealing: nil,
            time: .system,
            random: Runtime.RandomSource(),
            granularity: .zero
        )
        TemporaryDirectory.write(#"{"access_token":"1"}"#, to: path)
        #expect(try await store.read().credentials.accessToken == "1")
        // Another file in its place.
        keepingTime {
            TemporaryDirectory.write(#"{"access_token":"2"}"#, to: path + ".new")
            unsafe rename(path + ".new", path)
        }
        #expect(try await store.read().credentials.accessToken == "2")
        // Changed in its place. The clock of the file system has to go on first.
        var before = stat()
        unsafe stat(path, &before)
        var after = before
        repeat {
            keepingTime { TemporaryDirectory.write(#"{"access_token":"3"}"#, to: path) }
            unsafe stat(path, &after)
        } while words(after.st_ctim) == words(before.st_ctim)
        #expect(words(after.st_mtim) == words(before.st_mtim) && after.st_size == before.st_size)
        #expect(try await store.read().credentials.accessToken == "3")
    }

    @Test func aFileThatWasChangedJustNowIsReadAgain() async throws {
        let sealing = WatchingSealing()
        let store = self.store(sealing, granularity: .seconds(3600))
        try await store.update { $0.accessToken = "1" }
        sealing.openings.withLock { $0 = 0 }
        // Another change could have come with the same time.
        for _ in 0..<3 { _ = try await store.read() }
        #expect(sealing.openings.withLock { $0 } == 3)
    }

    // MARK: Waiting

    @Test func whatIsStoredIsStoredEvenWhereNobodyWaitsForIt() async throws {
        let descriptor = unsafe open(path + ".lock", O_RDWR | O_CREAT, 0o600)
        #expect(flock(descriptor, LOCK_EX) == 0)
        defer { close(descriptor) }
        let clock = ManualClock()
        let store = FileTokenStore(path: path, time: clock.timeSource(), random: Runtime.RandomSource(seed: 1))
        let task = Task { try await store.replace(version: 0, with: Credentials(accessToken: "renewed")) }
        // Somebody else is writing.
        await clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        flock(descriptor, LOCK_UN)
        clock.advance(by: .seconds(1))
        while try await store.read().credentials.accessToken == nil { await Task.yield() }
        #expect(try await store.read().credentials.accessToken == "renewed")
    }

    @Test func aFileThatStaysLockedIsGivenUpByTheInjectedTime() async throws {
        let descriptor = unsafe open(path + ".lock", O_RDWR | O_CREAT, 0o600)
        #expect(flock(descriptor, LOCK_EX) == 0)
        defer { close(descriptor) }
        let clock = ManualClock()
        let store = FileTokenStore(path: path, time: clock.timeSource(), random: Runtime.RandomSource(seed: 1))
        let error = await #expect(throws: Credentials.StoreError.self) {
            try await clock.skippingWaits { try await store.replace(version: 0, with: Credentials()) }
        }
        #expect(error?.description.contains("locked") == true)
        #expect(clock.now.offset >= .seconds(10))
    }

    // MARK: Temporary files

    @Test func nobodyCanTellTheNameOfATemporaryFileBeforehand() async throws {
        // Who knows the name stands in the way.
        unsafe mkdir(path + ".tmp", 0o700)
        try await FileTokenStore(path: path).update { $0.accessToken = "a" }
        #expect(TemporaryDirectory.permissions(of: path) == 0o600)
    }

    @Test func onlyWhatACrashHasLeftBehindGoes() async throws {
        let leftover = path + "." + String(repeating: "0a", count: 16) + ".tmp"
        let others = [path + ".notes.tmp", path + "." + String(repeating: "0a", count: 16), directory.file("x.tmp")]
        for file in others + [leftover] { TemporaryDirectory.write("s3cret", to: file) }
        try await FileTokenStore(path: path).update { $0.accessToken = "a" }
        #expect(TemporaryDirectory.read(leftover) == nil)
        for file in others { #expect(TemporaryDirectory.read(file) == "s3cret", "\(file)") }
    }
}
