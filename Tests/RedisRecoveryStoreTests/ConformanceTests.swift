#if Redis
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import RedisRecoveryStore

@Suite(.enabled(if: RedisServer.isAvailable)) struct ConformanceTests {
    private static let shared = StartedOnce { try await RedisServer.start() }
    private static let subject = StoreUnderTest(clock: .own) { namespace in
        try RedisStore(configuration: try await shared.value.configuration(namespace))
    } corrupt: { namespace in
        // Half of the keys change their type, the others their content.
        _ = try await shared.value.ask(
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

/// What all checks of the kit share, which have namespaces of their own in it: started by the first that needs it.
actor StartedOnce<Value: Sendable> {
    private let start: @Sendable () async throws -> Value
    private var starting: Task<Value, any Error>?

    init(_ start: @escaping @Sendable () async throws -> Value) {
        self.start = start
    }

    var value: Value {
        get async throws {
            let task = starting ?? Task { [start] in try await start() }
            starting = task
            return try await task.value
        }
    }
}
#endif
