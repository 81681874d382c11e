#if Redis
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import RedisRecoveryStore

/// A cluster of real servers, of which the store is told one.
@Suite(.enabled(if: RedisServer.isAvailable), .timeLimit(.minutes(30))) struct ClusterTests {
    private static let shared = StartedOnce { try await RedisCluster.start() }
    private static let subject = StoreUnderTest(clock: .own) { namespace in
        try RedisStore(configuration: try await shared.value.configuration(namespace))
    }

    @Test(arguments: RecoveryStoreConformance.checks(for: subject))
    func aClusterConforms(_ check: RecoveryStoreConformance.Check) async throws {
        try await check(Self.subject)
    }

    private static func account(_ number: Int) -> SharedState.Gate.Key {
        SharedState.Gate.Key(
            scope: .account,
            origin: Origin(scheme: "https", authority: "api.example.com"),
            name: "user\(number)@example.com"
        )
    }

    private static func gate(_ number: Int, for span: Duration = .seconds(6000)) -> SharedState.Gate {
        SharedState.Gate(key: account(number), reason: .accountLocked, opensAt: .system().advanced(by: span))
    }

    @Test func oneFleetIsSpreadOverTheNodes() async throws {
        let cluster = try await RedisCluster.start()
        let store = try RedisStore(configuration: cluster.configuration())
        for number in 0..<600 { try await store.close(Self.gate(number), at: .system()) }
        for server in cluster.primaries {
            // The lists of what is closed are among them.
            let size = try await server.size
            #expect((600 + 256) / 5...(600 + 256) / 2 ~= size, "\(size) keys")
        }
        // A call asks for several gates at once, wherever they are.
        let keys = [Self.account(1000), Self.account(2000), Self.account(77), Self.account(3000)]
        #expect(try await store.closedGate(among: keys, at: .system())?.key == Self.account(77))
        try await store.open(Self.account(77))
        #expect(try await store.closedGate(among: keys, at: .system()) == nil)
        await store.shutdown()
    }

    @Test func keysAreFoundWhileTheyMove() async throws {
        let cluster = try await RedisCluster.start()
        let store = try RedisStore(configuration: cluster.configuration())
        let key = store.keys.record("tokens").name
        let slot = try await cluster.primaries[0].ask("CLUSTER", "KEYSLOT", key).integer()
        let source = cluster.primaries[min(2, slot * 3 / RedisCluster.slots)]
        let target = cluster.primaries[source === cluster.primaries[0] ? 1 : 0]
        var record = try #require(try await store.replaceRecord("tokens", version: nil, with: [0]))
        var number = UInt8(0)
        try await cluster.move(slot, from: source, to: target) {
            number += 1
            let present = try await store.record("tokens")
            #expect(present == record)
            record = try #require(try await store.replaceRecord("tokens", version: record.version, with: [number]))
        }
        #expect(number >= 3)
        // What needs several keys has to wait until all of them are at one node.
        let lease = try #require(try await store.acquireLease("tokens", for: .seconds(60), at: .system()))
        #expect(try await store.acquireLease("tokens", for: .seconds(60), at: .system()) == nil)
        try await store.releaseLease(lease)
        #expect(try await target.size > 0)
        // One that comes to the old node is sent on.
        let other = try RedisStore(configuration: source.configuration())
        #expect(try await other.record("tokens") == record)
        await other.shutdown()
        await store.shutdown()
    }

    @Test func aNodeThatDiesIsReplacedByItsReplica() async throws {
        let cluster = try await RedisCluster.start(hasReplica: true)
        var configuration = cluster.configuration()
        configuration.alternatives = cluster.primaries.dropFirst().map { .tcp(host: "127.0.0.1", port: $0.port) }
        let store = try RedisStore(configuration: configuration)
        var records: [String: SharedState.Record] = [:]
        for number in 0..<60 {
            records["\(number)"] = try #require(try await store.replaceRecord("\(number)", version: nil, with: [1]))
        }
        let first = cluster.primaries[0]
        var leases: [SharedState.Lease] = []
        for number in 0..<60 {
            leases.append(try #require(try await store.acquireLease("\(number)", for: .seconds(3600), at: .system())))
        }
        let replica = try #require(cluster.replica)
        let size = try await first.size
        #expect(size > 10)
        try await untilTrue { try await replica.size == size }
        first.kill()
        for (key, record) in records {
            // Its keys cannot be had until the replica is in its place.
            var found: SharedState.Record?
            while found == nil {
                found = try? await store.record(key)
                if found == nil { try await Task.sleep(for: .milliseconds(20)) }
            }
            #expect(found == record)
        }
        for lease in leases {
            #expect(try await store.acquireLease(lease.name, for: .seconds(60), at: .system()) == nil)
            #expect(try await store.extendLease(lease, for: .seconds(3600), at: .system()))
        }
        await store.shutdown()
    }
}
#endif
