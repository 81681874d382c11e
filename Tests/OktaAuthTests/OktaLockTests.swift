import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import OktaAuth
import Testing

@testable import AuthSandbox

@Suite("Okta: wrong codes that were given in several sign-ins")
struct OktaLockTests {
    /// Somebody with an authenticator app, who has given as many wrong codes as the org takes.
    private static func locked(_ way: OktaConfiguration.Way) async throws -> OktaSandboxBench {
        let bench = try OktaSandboxBench(
            { $0.okta.factors = [.init("token:software:totp")] },
            configuration: { $0.way = way }
        )
        for _ in 0..<2 {
            let wrong = [Challenge.Answer](repeating: .text("0"), count: 5)
            let reader = Reader(bench, [.totp: wrong])
            _ = await #expect(throws: (any Error).self) { try await bench.signIn(reader) }
        }
        return bench
    }

    @Test func theyLockAtDirectAuthentication() async throws {
        let bench = try await Self.locked(.directAuthentication)
        let lock = bench.world.withLock { $0.world.okta.account(named: OktaSandboxBench.eva)?.lock }
        #expect(lock != .open)
        #expect(bench.counters.codeAttempts <= 6, "\(bench.counters.codeAttempts)")
        // The right password is not taken, and nobody is asked for a code any more.
        let reader = Reader(bench)
        _ = await #expect(throws: (any Error).self) { try await bench.signIn(reader) }
        #expect(reader.keys == [.password])
        #expect(reader.asked.withLock { $0.first?.previousFailure?.kind } == .invalidCredentials)
    }

    @Test func theySuspendTheFactorAtTheIdentityEngine() async throws {
        let bench = try await Self.locked(.identityEngine)
        #expect(bench.counters.codeAttempts == 5, "\(bench.counters.codeAttempts)")
        // The right code is not taken, and not asked for again.
        let reader = Reader(bench)
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn(reader) }
        #expect(error?.kind == .factorUnavailable && reader.keys == [.totp], "\(String(describing: error))")
        #expect(bench.counters.codeAttempts == 5)
    }
}
