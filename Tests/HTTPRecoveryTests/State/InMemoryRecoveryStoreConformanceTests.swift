import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@Suite struct InMemoryRecoveryStoreConformanceTests {
    /// The memory of one process: a namespace is a store of its own.
    private static var subject: StoreUnderTest {
        let stores = Locked<[String: InMemoryRecoveryStore]>([:])
        return StoreUnderTest(clock: .callers, closes: false) { namespace in
            stores.withLock { stores in
                let store = stores[namespace] ?? InMemoryRecoveryStore()
                stores[namespace] = store
                return store
            }
        }
    }

    @Test(arguments: RecoveryStoreConformance.checks(for: subject))
    func theMemoryConforms(_ check: RecoveryStoreConformance.Check) async throws {
        try await check(Self.subject)
    }
}
