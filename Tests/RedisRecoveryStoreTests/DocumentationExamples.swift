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

        var sentinels = try RedisStore.Configuration(url: "redis+sentinel://:p%40ss@s1.example.com,s2.example.com/main")
        sentinels.sentinel?.password = "of the Sentinels"
        let cluster = try RedisStore.Configuration(url: "rediss://:p%40ss@node1.example.com,node2.example.com")

        #expect(sentinels.sentinel == RedisStore.Sentinel(primary: "main", password: "of the Sentinels"))
        #expect(sentinels.endpoint == .tcp(host: "s1.example.com", port: 26_379))
        #expect(cluster.alternatives == [.tcp(host: "node2.example.com")])
        #expect(configuration.password == "p@ss")
        #expect(state.health == .available)
        await state.shutdown()
    }
}
#endif
