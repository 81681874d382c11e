#if Redis
import HTTPRecovery
import RedisRecoveryStore
import Testing

/// The examples of the article, compiled and run.
@Suite struct DocumentationExamples {
    @Test func aStoreForAFleet() async throws {
        var configuration = try RedisStore.Configuration(url: "rediss://orders:p%40ss@redis.example.com:6380/0")
        configuration.tls?.caFile = "/etc/ssl/own-ca.pem"
        configuration.namespace = "orders"
        let state = SharedState(try RedisStore(configuration: configuration)) { health in
            print("shared state: \(health)")
        }

        #expect(configuration.password == "p@ss")
        #expect(state.health == .available)
        await state.shutdown()
    }
}
#endif
