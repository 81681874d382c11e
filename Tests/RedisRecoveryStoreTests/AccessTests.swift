#if Redis
import HTTPRecovery
import Testing

@testable import RedisRecoveryStore

@Suite(.enabled(if: RedisServer.isAvailable), .timeLimit(.minutes(30))) struct AccessTests {
    /// Uses each kind of command once.
    private func use(_ store: RedisStore) async throws {
        let now = Timestamp.system()
        let key = SharedState.Gate.Key(scope: .origin, origin: Origin(scheme: "https", authority: "h"))
        try await store.close(
            SharedState.Gate(key: key, reason: .rateLimited, opensAt: now.advanced(by: .seconds(60))),
            at: now
        )
        #expect(try await store.closedGate(among: [key], at: now) != nil)
        #expect(try await store.closedGate(among: [], at: now) == nil)
        #expect(try await store.joinQueue(at: key) == 0)
        try await store.open(key)
        let lease = try #require(try await store.acquireLease("a", for: .seconds(60), at: now))
        #expect(try await store.extendLease(lease, for: .seconds(60), at: now))
        try await store.releaseLease(lease)
        let entry = SharedState.BudgetEntry(key: "a", deposit: 1, withdrawal: 1, limit: 1, initial: 1)
        #expect(try await store.settle(entry, at: now).isGranted)
        let record = try await store.record("a")
        #expect(try await store.replaceRecord("a", version: record?.version, with: [1]) != nil)
    }

    private func fails(_ configuration: RedisStore.Configuration, _ advice: String) async throws {
        let store = try RedisStore(configuration: configuration)
        do {
            _ = try await store.record("a")
            Issue.record("expected an error")
        } catch {
            #expect(error is SharedState.StoreError)
            #expect("\(error)".contains(advice), "\(error)")
            #expect(!"\(error)".contains("s3cret"))
        }
        await store.shutdown()
    }

    private func works(_ configuration: RedisStore.Configuration) async throws {
        let store = try RedisStore(configuration: configuration)
        try await use(store)
        await store.shutdown()
    }

    @Test func aUserOfAnAccessControlListWithNoMoreThanTheStoreNeeds() async throws {
        let server = try await RedisServer.start([
            "--user", "ann", "on", ">s3cret@:/", "~{test:*", "&{test:*", "+@read", "+@write", "+@scripting", "+@pubsub",
            "+ping", "+select", "+time", "+info", "+role",
        ])
        var configuration = server.configuration()
        configuration.user = "ann"
        configuration.password = "s3cret@:/"
        try await works(configuration)
        configuration.namespace = "other"
        try await fails(configuration, "{namespace:")
        configuration.password = "s3cret"
        try await fails(configuration, "user and password")
        configuration.user = "bob"
        try await fails(configuration, "user and password")

        var parsed = try RedisStore.Configuration(url: "redis://ann:s3cret%40%3A%2F@127.0.0.1:\(server.port)")
        parsed.namespace = "test"
        parsed.commandTimeout = .seconds(600)
        try await works(parsed)
    }

    /// Who may not ask which server it is cannot notice that another has taken over, and with it granted leases were lost.
    @Test func aUserWhoMayNotAskForTheServerGetsNoLease() async throws {
        let server = try await RedisServer.start([
            "--user", "ann", "on", ">s3cret", "~*", "+@read", "+@write", "+@scripting", "+ping", "+time",
        ])
        var configuration = server.configuration()
        configuration.user = "ann"
        configuration.password = "s3cret"
        let store = try RedisStore(configuration: configuration)
        #expect(try await store.replaceRecord("a", version: nil, with: [1]) != nil)
        let error = await #expect(throws: SharedState.StoreError.self) {
            try await store.acquireLease("a", for: .seconds(60), at: Timestamp.system())
        }
        #expect(error?.description.contains("+info +role") == true, "\(error?.description ?? "")")
        await store.shutdown()
        // Nor is another database taken for the one that is meant.
        configuration.database = 3
        try await fails(configuration, "+select")
    }

    @Test func aPasswordOfTheServer() async throws {
        let server = try await RedisServer.start(["--requirepass", "s3cret"], password: "s3cret")
        var configuration = server.configuration()
        try await fails(configuration, "password")
        configuration.password = "s3cret-wrong"
        try await fails(configuration, "user and password")
        configuration.password = "s3cret"
        try await works(configuration)
        let open = try await RedisServer.start()
        configuration = open.configuration()
        configuration.password = "s3cret"
        try await fails(configuration, "user and password")
    }

    @Test func aSocketAndADatabase() async throws {
        let server = try await RedisServer.start()
        var configuration = server.configuration()
        configuration.endpoint = .unix(path: server.socket)
        configuration.database = 3
        try await works(configuration)
        #expect(try await server.ask("DBSIZE") == .integer(0))
        configuration.database = 99
        try await fails(configuration, "database")
        configuration.endpoint = .unix(path: server.socket + "-none")
        try await fails(configuration, "cannot connect")
    }

    @Test func tlsIsVerified() async throws {
        let certificates = try await Certificates(for: "IP:127.0.0.1,DNS:redis.test")
        let server: RedisServer
        do {
            server = try await RedisServer.start(tls: certificates)
        } catch {
            print("!!! this redis-server has no TLS: its test is SKIPPED")
            return
        }
        var configuration = server.configuration()
        configuration.tls = RedisStore.TLS(caFile: certificates.caFile)
        try await works(configuration)
        // By name, which is sent and verified in place of the address.
        configuration.tls?.serverName = "redis.test"
        try await works(configuration)
        configuration.tls?.serverName = "other.test"
        try await fails(configuration, "certificate")
        configuration.tls?.serverName = "127.0.0.2"
        try await fails(configuration, "certificate")
        configuration.tls = RedisStore.TLS()
        try await fails(configuration, "certificate")
        configuration.tls = RedisStore.TLS(caFile: try await Certificates(for: "IP:127.0.0.1").caFile)
        try await fails(configuration, "certificate")
        configuration.tls = RedisStore.TLS(caFile: "/does/not/exist")
        try await fails(configuration, "certificates cannot be read")
        configuration.tls = RedisStore.TLS(
            caFile: certificates.caFile,
            clientCertificate: .init(chainFile: certificates.chainFile, keyFile: "/does/not/exist")
        )
        try await fails(configuration, "key cannot be read")
        // Plain text to a port that speaks TLS: what the server makes of it differs from version to version.
        configuration.tls = nil
        configuration.commandTimeout = .milliseconds(500)
        try await fails(configuration, "")
        // TLS to a port that does not.
        let plain = try await RedisServer.start()
        configuration = plain.configuration()
        configuration.commandTimeout = .milliseconds(500)
        configuration.tls = RedisStore.TLS(caFile: certificates.caFile)
        try await fails(configuration, "")
    }

    @Test func aServerThatAsksForTheClientsCertificate() async throws {
        let certificates = try await Certificates(for: "IP:127.0.0.1")
        guard let server = try? await RedisServer.start(["--tls-auth-clients", "yes"], tls: certificates) else {
            print("!!! this redis-server has no TLS: its test is SKIPPED")
            return
        }
        var configuration = server.configuration()
        configuration.tls = RedisStore.TLS(
            caFile: certificates.caFile,
            clientCertificate: .init(chainFile: certificates.chainFile, keyFile: certificates.keyFile)
        )
        let store = try RedisStore(configuration: configuration)
        try await use(store)
        // Large both ways, in more than one TLS record.
        let bytes = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let stored = try await store.replaceRecord("large", version: nil, with: bytes)
        #expect(try await store.record("large") == stored)
        await store.shutdown()
        configuration.tls?.clientCertificate = nil
        try await fails(configuration, "")
    }
}
#endif
