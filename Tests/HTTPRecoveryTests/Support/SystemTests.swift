import Glibc
import Testing

@testable import HTTPRecovery

@Suite("Threads, clocks and directories of the system")
struct SystemTests {
    @Test func aThreadRunsItsWorkAndIsWaitedFor() throws {
        let names = Locked<[UInt]>([])
        let thread = try #require(SystemThread { names.withLock { $0.append(pthread_self()) } })
        thread.join()
        #expect(names.withLock { $0.count } == 1)
        #expect(names.withLock { $0.first } != pthread_self())
    }

    /// Signals are the program's; a SIGPIPE is nobody's, and a crash stays where it happens.
    @Test func aThreadLeavesSignalsToTheProgram() throws {
        let blocked = Locked<[Int32]>([])
        let thread = try #require(
            SystemThread {
                var mask = sigset_t()
                unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
                blocked.withLock { blocked in
                    for signal in [SIGINT, SIGTERM, SIGPIPE, SIGSEGV, SIGABRT] {
                        if unsafe sigismember(&mask, signal) == 1 { blocked.append(signal) }
                    }
                }
            }
        )
        thread.join()
        #expect(blocked.withLock { $0 } == [SIGINT, SIGTERM, SIGPIPE])
    }

    @Test func aThreadThatNobodyWaitsForRunsToo() async throws {
        let flight = Flight<UInt>()
        #expect(SystemThread.run { flight.land(.success(pthread_self())) })
        #expect(try await flight.value != pthread_self())
    }

    /// By itself it would have that of whoever began it: here of one of the concurrency runtime's.
    @Test func aThreadHasANameOfItsOwn() async throws {
        let flight = Flight<String>()
        let isRunning = SystemThread.run {
            var name = [CChar](repeating: 0, count: 32)
            if let file = unsafe fopen("/proc/thread-self/comm", "r") {
                unsafe fgets(&name, Int32(name.count), file)
                unsafe fclose(file)
            }
            flight.land(.success(String(decoding: name.prefix { $0 > 0x0a }.map { UInt8($0) }, as: UTF8.self)))
        }
        #expect(isRunning)
        #expect(try await flight.value == SystemThread.name)
    }

    /// The thread itself does not wait for its own end.
    @Test func aThreadMayBeWaitedForByItself() async throws {
        let own = Flight<SystemThread>()
        let end = Flight<Void>()
        let started = SystemThread {
            while own.result == nil { sched_yield() }
            try? own.result?.get().join()
            end.land(.success(()))
        }
        own.land(.success(try #require(started)))
        try await end.value
    }

    @Test(
        arguments: [
            (0, 0, 0), (5, 3, 0), (0, 1, 1), (0, 1_000_000, 1), (0, 1_000_001, 2), (7, 1_000_007, 1),
            (0, UInt64.max, 2_000_000_000),
        ] as [(UInt64, UInt64, Int)]
    )
    func millisecondsAreRoundedUp(now: UInt64, deadline: UInt64, milliseconds: Int) {
        #expect(Monotonic.milliseconds(from: now, to: deadline) == milliseconds)
    }

    @Test(
        arguments: [
            (.zero, 0), (.seconds(-1), 0), (.nanoseconds(1), 1), (.seconds(2), 2_000_000_000),
            (.longest, 3_153_600_000_000_000_000), (.zero - .longest, 0),
        ] as [(Duration, UInt64)]
    )
    func durationsAreBoundedByACentury(duration: Duration, nanoseconds: UInt64) {
        #expect(Monotonic.nanoseconds(duration) == nanoseconds)
    }

    @Test func deadlinesLieAhead() {
        let before = Monotonic.now()
        #expect(Monotonic.deadline(after: .seconds(1)) >= before + 1_000_000_000)
        #expect(Monotonic.deadline(after: .longest) < Monotonic.never)
        #expect(Monotonic.pollTimeout(until: Monotonic.never) == -1)
        #expect(Monotonic.pollTimeout(until: 0) == 0)
        #expect((1...60_000).contains(Monotonic.pollTimeout(until: Monotonic.deadline(after: .seconds(60)))))
    }

    @Test(arguments: [("/a/b", "/a"), ("/a", "/"), ("a", "."), ("a/b/c", "a/b"), ("/", "/"), ("", "."), ("é/x", "é")])
    func aPathLeadsIntoADirectory(path: String, directory: String) {
        #expect(Directory.of(path) == directory)
    }

    @Test func directoriesAreMadeForTheirOwnerAlone() throws {
        let root = "/tmp/http-recovery-\(Hexadecimal.encode(Runtime.RandomSource().bytes(8)))"
        defer { for folder in ["\(root)/a/b", "\(root)/a", root] { unsafe rmdir(folder) } }
        #expect(Directory.make("\(root)/a/b") == nil)
        #expect(Directory.make("\(root)/a/b") == nil)
        for folder in [root, "\(root)/a", "\(root)/a/b"] {
            var status = stat()
            let result = unsafe stat(folder, &status)
            #expect(result == 0)
            #expect(status.st_mode & 0o777 == 0o700)
        }
        #expect(Directory.make("/proc/no/such") == "/proc/no")
    }
}
