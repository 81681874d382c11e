import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting

/// Gives out numbered tokens that live for ten minutes, and counts how often it was asked.
final class Renewals: TokenRenewer {
    private let count = Locked(0)
    let reuse = RefreshTokenGrant.Reuse.reusable
    private let time: TimeSource

    /// How many tokens it has given out.
    var number: Int { count.withLock { $0 } }

    init(_ time: TimeSource) {
        self.time = time
    }

    func canRenew(_ credentials: Credentials) -> Bool { credentials.refreshToken != nil }

    func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return self.credentials(number: number)
    }

    func credentials(number: Int) -> Credentials {
        Credentials(
            accessToken: Secret("token \(number)"),
            refreshToken: "refresh",
            expiresAt: time.wallTime.advanced(by: .seconds(600))
        )
    }
}

/// A store in memory that notes when it is closed.
final class NotingStore: MemoryBackedStore {
    let name = "noting"
    private let isClosed = Locked(false)
    var wasClosed: Bool { isClosed.withLock { $0 } }
    private let memory = InMemoryRecoveryStore()

    var isLocal: Bool { false }

    func shutdown() async { isClosed.withLock { $0 = true } }

    func asked<Value>(_ question: (InMemoryRecoveryStore) async -> Value) async throws -> Value {
        await question(memory)
    }
}
