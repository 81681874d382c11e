import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import ProcessSupport
import Testing

@testable import CurlTransport

/// A process that ends takes its TLS library down while loops may be at work.
@Suite(.enabled(if: TLSFront.isAvailable, "needs openssl and python3"), .timeLimit(.minutes(30)))
struct ProcessExitTests {
    @Test func aProcessMayExitAmidHandshakes() async throws {
        let server = try FaultServer(.answer(headers: [("Connection", "close")]))
        let front = try await TLSFront.start(port: server.port)
        for responses in 1...12 {
            await #expect(processExitsWith: .success) {
                [authority = front.authority as String, caFile = front.caFile as String, responses = responses as Int]
                in
                // Last, and before what looks for leaks: it takes what the loops hold for one.
                atexit { _exit(ProcessEnd.isAnyAtWork ? EXIT_FAILURE : EXIT_SUCCESS) }
                let seen = Locked(0)
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        let transport = CurlTransport.patient(.init(caFile: caFile))
                        group.addTask {
                            while (try? await transport.fetch(.to(authority, scheme: "https"))) != nil {
                                let isEnough = seen.withLock { seen in
                                    seen += 1
                                    return seen == responses
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
        withExtendedLifetime((server, front)) {}
    }
}
