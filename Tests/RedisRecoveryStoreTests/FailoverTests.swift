#if Redis
import HTTPRecovery
import ProcessSupport
import Testing

@testable import RedisRecoveryStore

/// A primary that dies and a replica that takes its place, with real servers.
@Suite(.enabled(if: RedisServer.isAvailable), .timeLimit(.minutes(30))) struct FailoverTests {
    private func replica(of primary: RedisServer) async throws -> RedisServer {
        let replica = try await RedisServer.start(["--replicaof", "127.0.0.1", "\(primary.port)"])
        try await RedisCluster.untilEach([replica], "INFO", "replication", holds: "master_link_status:up")
        return replica
    }

    private func sentinel(of primary: RedisServer) async throws -> RedisServer {
        let sentinel = try await RedisServer.start(
            ["--sentinel"],
            file: """
                sentinel monitor main 127.0.0.1 \(primary.port) 1
                sentinel down-after-milliseconds main 1000
                sentinel failover-timeout main 3000

                """
        )
        try await RedisCluster.untilEach([sentinel], "INFO", "sentinel", holds: "status=ok", "slaves=1")
        return sentinel
    }

    private func configuration(_ sentinels: RedisServer...) -> RedisStore.Configuration {
        var configuration = sentinels[0].configuration()
        configuration.alternatives = sentinels.dropFirst().map { .tcp(host: "127.0.0.1", port: $0.port) }
        configuration.sentinel = RedisStore.Sentinel(primary: "main")
        return configuration
    }

    @Test func thePrimaryIsFoundAgainThatTheSentinelsHavePromoted() async throws {
        let primary = try await RedisServer.start()
        let replica = try await replica(of: primary)
        let sentinel = try await sentinel(of: primary)
        // The Sentinel that is named first is not there.
        let none = try await RedisServer.start()
        none.kill()
        let store = try RedisStore(configuration: configuration(none, sentinel))
        let record = try #require(try await store.replaceRecord("tokens", version: nil, with: [1]))
        let lease = try #require(try await store.acquireLease("renewal", for: .seconds(3600), at: .system()))
        try await untilTrue { try await replica.size == primary.size }
        primary.kill()
        var found: SharedState.Record?
        while found == nil {
            found = try? await store.record("tokens")
            if found == nil { try await Task.sleep(for: .milliseconds(20)) }
        }
        #expect(found == record)
        // What was granted before is granted to nobody else, and what comes after grows.
        #expect(try await store.acquireLease("renewal", for: .seconds(60), at: .system()) == nil)
        #expect(try await store.extendLease(lease, for: .seconds(60), at: .system()))
        let next = try #require(try await store.replaceRecord("tokens", version: record.version, with: [2]))
        #expect(next.version > record.version)
        await store.shutdown()
    }

    @Test func aReplicaIsNotTakenForThePrimary() async throws {
        let primary = try await RedisServer.start()
        let replica = try await replica(of: primary)
        var configuration = replica.configuration()
        configuration.sentinel = RedisStore.Sentinel(primary: "main")
        // As if the Sentinels named it before it is promoted.
        let connection = Connection(configuration)
        let error = await #expect(throws: Unsent.self) {
            try await connection.ask(Command("PING"), by: Monotonic.deadline(after: .seconds(600)))
        }
        #expect(error?.reason.description.contains("replica") == true)
        _ = try await replica.ask("REPLICAOF", "NO", "ONE")
        try await untilTrue {
            // After a failed attempt there is a pause.
            (try? await connection.ask(Command("PING"), by: Monotonic.deadline(after: .seconds(600)))) != nil
        }
        await connection.stop()
    }

    @Test func sentinelsThatDoNotKnowThePrimarySayWhichName() async throws {
        let primary = try await RedisServer.start()
        let replica = try await replica(of: primary)
        let sentinel = try await sentinel(of: primary)
        var configuration = configuration(sentinel)
        configuration.sentinel?.primary = "other"
        let store = try RedisStore(configuration: configuration)
        let error = await #expect(throws: SharedState.StoreError.self) { try await store.record("a") }
        #expect(error?.description.contains("'other'") == true)
        await store.shutdown()
        replica.kill()
    }

    /// A replica that has missed the last lease takes the place of the primary: the first lease of its part, or one
    /// after others.
    @Test(arguments: [false, true])
    func aLeaseThatAFailoverLosesIsNotGrantedTwice(isFirst: Bool) async throws {
        let primary = try await RedisServer.start()
        let replica = try await replica(of: primary)
        var configuration = primary.configuration()
        configuration.alternatives = [.tcp(host: "127.0.0.1", port: replica.port)]
        let store = try RedisStore(configuration: configuration)
        let span = Duration.seconds(2)
        let part = store.keys.lease("renewal").part
        let neighbour = try #require((0...).lazy.map { "\($0)" }.first { store.keys.lease($0).part == part })
        if !isFirst {
            // The replica knows whose leases they are, and of none that was so long.
            let short = try await store.acquireLease(neighbour, for: .milliseconds(50), at: .system())
            try await store.releaseLease(try #require(short))
        }
        try await untilTrue { try await replica.size == primary.size }
        _ = try await replica.ask("REPLICAOF", "NO", "ONE")
        let began = ContinuousClock.now
        let lost = try #require(try await store.acquireLease("renewal", for: span, at: .system()))
        primary.kill()
        // A shorter one that is asked for first does not shorten the rest.
        #expect(try await store.acquireLease(neighbour, for: .milliseconds(50), at: .system()) == nil)
        var next: SharedState.Lease?
        var refusals = 0
        while next == nil {
            next = try await store.acquireLease("renewal", for: span, at: .system())
            if next == nil { refusals += 1 }
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(refusals > 0)
        #expect(ContinuousClock.now - began >= span, "the lost lease has run out")
        #expect(try #require(next).fence > lost.fence)
        // From here on it is the home of leases.
        #expect(try await store.acquireLease(neighbour, for: span, at: .system()) != nil)
        await store.shutdown()
    }

    /// A server that has never been a replica has lost nothing: the first lease of each part is granted at once.
    @Test func theFirstLeaseWaitsForNothing() async throws {
        let primary = try await RedisServer.start()
        let replica = try await replica(of: primary)
        let store = try RedisStore(configuration: primary.configuration())
        for number in 0..<8 {
            #expect(try await store.acquireLease("\(number)", for: .seconds(60), at: .system()) != nil)
        }
        await store.shutdown()
        replica.kill()
    }
}
#endif
