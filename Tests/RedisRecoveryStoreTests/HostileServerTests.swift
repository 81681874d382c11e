#if Redis
import Glibc
import HTTPRecovery
import Testing

@testable import RedisRecoveryStore

@Suite(.timeLimit(.minutes(30))) struct HostileServerTests {
    struct Answer: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        var testDescription: String { name }

        init(_ name: String, _ text: String) {
            self.name = name
            bytes = Array(text.utf8)
        }
    }

    static let unreadable: [Answer] = [
        Answer("not Redis", "HTTP/1.1 400 Bad Request\r\n\r\n"),
        Answer("TLS alert", "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}F"),
        Answer("an unknown type", "@1\r\n"),
        Answer("two billion elements", "*2147483647\r\n"),
        Answer("1025 elements", "*1025\r\n"),
        Answer("more elements than fit", "*9999999999999999999\r\n"),
        Answer("a negative count", "*-2\r\n"),
        Answer("nested without end", String(repeating: "*1\r\n", count: 50)),
        Answer("a number that is none", ":12x\r\n"),
        Answer("a length that is none", "$x\r\n"),
        Answer("more replies than commands", "*2\r\n$-1\r\n$-1\r\n*2\r\n$-1\r\n$-1\r\n"),
        Answer("a string of two gigabytes", "$2147483000\r\n" + String(repeating: "x", count: (16 << 20) + 70_000)),
    ]

    @Test(arguments: unreadable)
    func bytesThatAreNoRepliesEndTheConnection(_ answer: Answer) async throws {
        let server = try FakeServer(answer: answer.bytes)
        let store = try RedisStore(configuration: server.configuration())
        do {
            _ = try await store.record("a")
            // Only the first of several replies has been read then.
            #expect(answer.name == "more replies than commands")
        } catch {
            #expect(
                error as? SharedState.StoreError == .brokenProtocol
                    || "\(error)".hasPrefix("\(SharedState.StoreError.brokenProtocol);")
            )
        }
        // Whatever came, the next command has a new connection.
        _ = try? await store.record("b")
        #expect(server.connections == 2)
        await store.shutdown()
    }

    static let unexpected: [Answer] = [
        Answer("a status", "+OK\r\n"), Answer("a number", ":1\r\n"), Answer("nothing", "$-1\r\n"),
        Answer("no array", "*-1\r\n"), Answer("an empty array", "*0\r\n"), Answer("an array of one", "*1\r\n:1\r\n"),
        Answer("nested arrays", "*4\r\n*0\r\n*0\r\n*0\r\n*0\r\n"), Answer("words", "*2\r\n$1\r\nx\r\n$1\r\ny\r\n"),
        Answer("four words", "*4\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n"),
        Answer("an index beyond", "*4\r\n:9\r\n:1\r\n:1\r\n$1\r\nx\r\n"),
        Answer("the lowest number", "*4\r\n:-9223372036854775808\r\n:-9223372036854775808\r\n:1\r\n$0\r\n\r\n"),
        Answer("an error without a code", "-\r\n"), Answer("an error of rubbish", "-s3cret s3cret\r\n"),
    ]

    @Test(arguments: unexpected)
    func aReplyOfAnotherKindIsAnErrorOrNothing(_ answer: Answer) async throws {
        let now = Timestamp.system()
        let key = SharedState.Gate.Key(scope: .origin, origin: Origin(scheme: "https", authority: "h"))
        let operations: [@Sendable (RedisStore) async throws -> Void] = [
            { _ = try await $0.closedGate(among: [key], at: now) },
            { try await $0.close(SharedState.Gate(key: key, reason: .rateLimited, opensAt: nil), at: now) },
            { try await $0.open(key) },
            { _ = try await $0.joinQueue(at: key) },
            { _ = try await $0.acquireLease("a", for: .seconds(1), at: now) },
            { _ = try await $0.extendLease(SharedState.Lease(name: "a", fence: 1), for: .seconds(1), at: now) },
            { _ = try await $0.settle(SharedState.BudgetEntry(key: "a", limit: 1, initial: 1), at: now) },
            { _ = try await $0.record("a") },
            { _ = try await $0.replaceRecord("a", version: nil, with: [1]) },
        ]
        for operation in operations {
            let server = try FakeServer(answer: answer.bytes)
            let store = try RedisStore(configuration: server.configuration())
            do {
                try await operation(store)
            } catch {
                #expect(error is SharedState.StoreError)
                #expect(!"\(error)".contains("s3cret"))
            }
            await store.shutdown()
        }
    }

    @Test func aTrickleIsCutOffByTheCommandsTimeout() async throws {
        let server = try FakeServer(
            answer: Array("*2\r\n".utf8) + Array("$10000\r\n".utf8) + Array(repeating: 120, count: 10_000),
            chunk: 1
        )
        let store = try RedisStore(configuration: server.configuration(timeout: .milliseconds(100)))
        do {
            _ = try await store.record("a")
            Issue.record("expected an error")
        } catch {
            // On a busy machine the time may be over before the command has left.
            #expect("\(error)".contains("within 0.1 seconds"))
        }
        await store.shutdown()
    }

    @Test func whoIsCancelledBeforeThereIsAConnectionLeavesHisPlace() async throws {
        let server = try FakeServer(greeting: nil, answer: nil)
        var configuration = server.configuration(timeout: .seconds(600))
        configuration.maxPendingCommands = 2
        let store = try RedisStore(configuration: configuration)
        for _ in 0..<10 {
            let task = Task { try await store.record("a") }
            task.cancel()
            // Not a SharedState.StoreError: there is a place for it.
            await #expect(throws: CancellationError.self) { try await task.value }
            // The thread takes note of it in its next turn.
            try await untilTrue { store.router.pending == 0 }
        }
        await store.shutdown()
    }

    @Test func aServerThatTalksWithoutEndStopsNobodysClock() async throws {
        let server = try FakeServer(answer: Array("$5\r\nhel".utf8), repeats: true)
        let store = try RedisStore(configuration: server.configuration())
        await #expect(throws: SharedState.StoreError.self) { try await store.record("a") }
        await store.shutdown()
    }

    @Test func aServerThatAcceptsAndSaysNothingFailsTheCommandInTime() async throws {
        let server = try FakeServer(greeting: nil, answer: nil)
        let store = try RedisStore(configuration: server.configuration(timeout: .milliseconds(100)))
        await #expect(throws: SharedState.StoreError.self) { try await store.record("a") }
        await store.shutdown()
    }

    @Test func aServerThatClosesFailsWhatWasSent() async throws {
        let server = try FakeServer(answer: nil)
        let store = try RedisStore(configuration: server.configuration())
        await #expect(throws: SharedState.StoreError.self) { try await store.record("a") }
        await store.shutdown()
    }

    @Test func aLeaseWhoseConnectionWasLostIsGivenBackOnTheNext() async throws {
        // Nobody has to ask for another thing.
        let server = try FakeServer(answer: nil)
        let store = try RedisStore(configuration: server.configuration())
        await #expect(throws: SharedState.StoreError.self) {
            try await store.acquireLease("a", for: .seconds(60), at: .system())
        }
        #expect(server.hasHeard(Scripts.acquireLease.digest))
        try await untilTrue { server.hasHeard(Scripts.disownLease.text) }
        // It is said three times at most to a server that closes each time.
        try await untilTrue { server.connections >= 3 }
        for _ in 0..<5 { _ = try? await store.record("a") }
        #expect(server.connections < 20)
        await store.shutdown()
    }

    static let refusals: [(String, String)] = [
        ("-LOADING Redis is loading the dataset in memory s3cret", "loading"),
        ("-READONLY You can't write against a read only replica. s3cret", "primary"),
        (
            "-ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY You can't s3cret",
            "primary"
        ),
        ("-OOM command not allowed when used memory > 'maxmemory'. s3cret", "maxmemory"),
        ("-NOAUTH Authentication required. s3cret", "password"),
        ("-WRONGPASS invalid username-password pair s3cret", "password"),
        ("-NOPERM this user has no permissions to run the 'eval' command s3cret", "+@scripting"),
        ("-MOVED 3999 127.0.0.1:1 s3cret", "refused"),
        ("-ASK 3999 127.0.0.1:1 s3cret", "refused"),
        ("-CROSSSLOT Keys in request don't hash to the same slot s3cret", "cluster"),
        ("-CLUSTERDOWN Hash slot not served s3cret", "cluster"),
        ("-MISCONF Redis is configured to save RDB snapshots s3cret", "save"),
        ("-MASTERDOWN Link with MASTER is down s3cret", "primary"),
        ("-BUSY Redis is busy running a script. s3cret", "busy"),
        ("-WRONGTYPE Operation against a key holding the wrong kind of value s3cret", "another application"),
        ("-ERR unknown command 'EVALSHA', with args beginning with: 's3cret'", "enable EVAL"),
        ("-ERR s3cret", "Redis 5"),
        ("-NOSCRIPT No matching script. s3cret", "NOSCRIPT"),
    ]

    @Test(arguments: refusals)
    func aRefusalSaysWhatToDoAndNothingOfTheContent(reply: String, advice: String) async throws {
        let refusal = Array((reply + "\r\n").utf8)
        // The script is sent in full after a NOSCRIPT, and that is refused in the same way.
        let server = try FakeServer(answer: refusal)
        let store = try RedisStore(configuration: server.configuration())
        do {
            _ = try await store.replaceRecord("a", version: nil, with: Array("s3cret".utf8))
            Issue.record("expected an error")
        } catch {
            #expect("\(error)".contains(advice), "\(error)")
            #expect(!"\(error)".contains("s3cret"))
            #expect(error is SharedState.StoreError)
        }
        _ = try? await store.record("a")
        let leadsElsewhere = ["primary", "password"].contains(advice) && !reply.hasPrefix("-WRONGPASS")
        #expect(server.connections == (leadsElsewhere ? 2 : 1), "after a failover the name leads to another server")
        await store.shutdown()
    }

    @Test(arguments: [("-LOADING Redis is loading", "loading"), ("-NOAUTH Authentication required.", "password")])
    func aSignInThatIsRefusedFailsWhatWaitsAndWhatComesSoonAfter(greeting: String, advice: String) async throws {
        let server = try FakeServer(greeting: greeting + "\r\n", answer: nil)
        let store = try RedisStore(configuration: server.configuration())
        for _ in 0..<2 {
            do {
                _ = try await store.record("a")
                Issue.record("expected an error")
            } catch {
                #expect("\(error)".contains(advice), "\(error)")
            }
        }
        await store.shutdown()
    }

    @Test func aNameThatDoesNotExistIsAnError() async throws {
        var configuration = RedisStore.Configuration(endpoint: .tcp(host: "does-not-exist.invalid"))
        configuration.commandTimeout = .seconds(600)
        configuration.connectTimeout = .seconds(600)
        let store = try RedisStore(configuration: configuration)
        await #expect(throws: SharedState.StoreError.self) { try await store.record("a") }
        await store.shutdown()
    }

    @Test func aShutdownDoesNotWaitForANameOrAServer() async throws {
        let server = try FakeServer(greeting: nil, answer: nil)
        let store = try RedisStore(configuration: server.configuration(timeout: .seconds(600)))
        let waiting = Task { try await store.record("a") }
        while server.connections == 0 { try await Task.sleep(for: .milliseconds(2)) }
        await store.shutdown()
        await #expect(throws: SharedState.StoreError.self) { try await waiting.value }
        await #expect(throws: SharedState.StoreError.self) { try await store.record("a") }
    }
}
#endif
