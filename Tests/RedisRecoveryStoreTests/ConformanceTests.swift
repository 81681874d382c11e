#if Redis
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import RedisRecoveryStore

@Suite(.enabled(if: RedisServer.isAvailable)) struct ConformanceTests {
    /// One server for all checks, which have namespaces of their own.
    actor Shared {
        static let instance = Shared()
        private var starting: Task<RedisServer, any Error>?

        var server: RedisServer {
            get async throws {
                let task = starting ?? Task { try await RedisServer.start() }
                starting = task
                return try await task.value
            }
        }
    }

    private static let subject = StoreUnderTest(clock: .own) { namespace in
        try RedisStore(configuration: try await Shared.instance.server.configuration(namespace))
    } corrupt: { namespace in
        // Half of the keys change their type, the others their content.
        _ = try await Shared.instance.server.ask(
            "EVAL",
            """
            for index, key in ipairs(redis.call('KEYS', ARGV[1])) do
              if redis.call('TYPE', key).ok == 'hash' and index % 2 == 0 then
                for _, field in ipairs(redis.call('HKEYS', key)) do redis.call('HSET', key, field, '\\255{"') end
              else
                redis.call('SET', key, '\\255{"', 'PX', 60000)
              end
            end
            """,
            "0",
            "{\(namespace):*"
        )
    }

    @Test(arguments: RecoveryStoreConformance.checks(for: subject))
    func redisConforms(_ check: RecoveryStoreConformance.Check) async throws {
        try await check(Self.subject)
    }
}
#endif
