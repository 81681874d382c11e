import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import CurlTransport

/// A place that becomes free is given to whoever can use it.
@Suite(.timeLimit(.minutes(30)))
struct QueueTests {
    /// The next in the queue runs out of time in the same turn in which the place in front of it becomes free.
    @Test
    func whoRunsOutOfTimeAtTheHeadOfTheQueueHoldsNobodyUp() async throws {
        let server = try FaultServer(.stall, .answer(body: "served"))
        let transport = CurlTransport.patient(.init(maxConnectionsPerOrigin: 1))
        let executor = try #require(transport.taskExecutor)
        let first = Task { try await transport.fetch(.to(server.authority)) }
        _ = try await server.requests(count: 1)
        let limit = Duration.milliseconds(50)
        // All on the loop's own thread, so that what happens in one turn is known.
        let second = Task(executorPreference: executor) {
            try await transport.failure(.to(server.authority), timeout: limit)
        }
        let third = Task(executorPreference: executor) { try await transport.fetch(.to(server.authority)).body }
        await Task(executorPreference: executor) {
            // Now both are in the queue.
            await Task.yield()
            first.cancel()
            let end = ContinuousClock.now.advanced(by: limit * 2)
            while ContinuousClock.now < end {}
        }.value
        #expect(try await second.value.code == .timedOut)
        #expect(try await third.value == "served")
        _ = await first.result
    }

    @Test
    func fiveHundredInAQueueAllComeToAnEnd() async throws {
        let server = try FaultServer(.stall)
        let transport = CurlTransport.patient()
        let errors = try await withThrowingTaskGroup(of: TransportError.self) { group in
            for _ in 0..<500 {
                group.addTask { try await transport.failure(.to(server.authority), timeout: .seconds(1)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors.count == 500)
        #expect(errors.allSatisfy { $0.code == .timedOut })
        #expect(try await transport.failure(.to(server.authority), timeout: .milliseconds(10)).code == .timedOut)
    }

    @Test
    func nothingIsKeptOfAnOriginWhoseOnlyTransferCouldNotStart() async throws {
        let loop = try #require(EventLoop(configuration: CurlTransport.Configuration().normalized()))
        let request = try EncodedRequest(.to("127.0.0.1:9"), body: nil, decompresses: true)
        let transfer = Transfer(request: request, deadline: Monotonic.now(), loop: loop)
        await #expect(throws: TransportError.self) { _ = try await transfer.submit() }
        let origins = await Task(executorPreference: loop) { loop.origins.count }.value
        #expect(origins == 0)
        await loop.stop()
    }
}

/// What the loop's thread leaves to others.
@Suite(.timeLimit(.minutes(30)))
struct LoopThreadTests {
    /// A crash on the loop's thread must reach the program's crash handler; all else is not for this thread.
    @Test
    func signalsOfACrashAreNotBlockedAndAllOthersAre() async throws {
        let transport = CurlTransport.patient()
        let executor = try #require(transport.taskExecutor)
        let (crash, other) = await Task(executorPreference: executor) {
            var mask = sigset_t()
            unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
            let isBlocked = { (signal: Int32) in unsafe sigismember(&mask, signal) == 1 }
            return (
                [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS].filter(isBlocked),
                [SIGPIPE, SIGINT, SIGTERM, SIGCHLD, SIGUSR1].filter { !isBlocked($0) }
            )
        }.value
        #expect(crash == [])
        #expect(other == [])
        await transport.shutdown()
    }
}

/// No secret of a configuration can be printed.
struct ConfigurationSecrecyTests {
    @Test
    func aProxysPasswordIsNotPrinted() async {
        let configuration = CurlTransport.Configuration(proxy: .url("http://user:hunter2@proxy.example:3128"))
        let transport = CurlTransport.patient(configuration)
        var texts = [
            "\(configuration)", String(reflecting: configuration), "\(configuration.proxy)",
            String(reflecting: configuration.proxy), "\(transport)",
        ]
        for value in [configuration, configuration.proxy] as [Any] {
            var text = ""
            dump(value, to: &text)
            texts.append(text)
        }
        for text in texts { #expect(!text.contains("hunter2") && !text.contains("user:")) }
        // What is no secret stays readable.
        #expect("\(configuration.proxy)".contains("proxy.example:3128"))
        #expect("\(CurlTransport.Proxy.none)" == "none")
        #expect("\(CurlTransport.Proxy.environment)" == "environment")
        await transport.shutdown()
    }

    @Test(arguments: [
        ("http://proxy.example:3128", "http://proxy.example:3128"),
        ("http://u:p@proxy.example:3128/", "http://proxy.example:3128/"),
        ("u:p@proxy.example", "proxy.example"), ("socks5h://u:p@ss@[::1]:1080", "socks5h://[::1]:1080"),
    ])
    func whatStandsBeforeTheHostIsLeftOut(url: String, text: String) {
        #expect("\(CurlTransport.Proxy.url(url))" == text)
    }
}
