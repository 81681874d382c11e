#if Redis
import Glibc
import HTTPRecovery
import Testing

@testable import RedisRecoveryStore

/// A process that ends takes its TLS library down while connections may be at work.
@Suite(.enabled(if: RedisServer.isAvailable), .timeLimit(.minutes(30))) struct ProcessExitTests {
    @Test func aProcessMayExitAmidHandshakes() async throws {
        let certificates = try await Certificates(for: "IP:127.0.0.1")
        guard let server = try? await RedisServer.start(tls: certificates) else {
            print("!!! this redis-server has no TLS: its test is SKIPPED")
            return
        }
        for answers in 1...12 {
            await #expect(processExitsWith: .success) {
                [port = server.port as Int, caFile = certificates.caFile as String, answers = answers as Int] in
                // Last, and before what looks for leaks: it takes what the connections hold for one.
                atexit { _exit(ProcessEnd.isAnyAtWork ? EXIT_FAILURE : EXIT_SUCCESS) }
                let seen = Locked(0)
                var configuration = RedisStore.Configuration(
                    endpoint: .tcp(host: "127.0.0.1", port: port),
                    patient: true
                )
                configuration.tls = RedisStore.TLS(caFile: caFile)
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask { [configuration] in
                            // A connection of its own for each answer.
                            while let store = try? RedisStore(configuration: configuration) {
                                do { _ = try await store.record("a") } catch { _exit(EXIT_FAILURE) }
                                let isEnough = seen.withLock { seen in
                                    seen += 1
                                    return seen == answers
                                }
                                if isEnough {
                                    guard ProcessEnd.isAnyAtWork else { _exit(EXIT_FAILURE) }
                                    exit(EXIT_SUCCESS)
                                }
                            }
                        }
                    }
                }
                _exit(EXIT_FAILURE)
            }
        }
        withExtendedLifetime((server, certificates)) {}
    }
}
#endif
