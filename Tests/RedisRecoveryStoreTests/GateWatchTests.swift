#if Redis
import HTTPRecovery
import Testing

@testable import RedisRecoveryStore

/// What is known of closed gates without asking.
@Suite(.enabled(if: RedisServer.isAvailable), .timeLimit(.minutes(30))) struct GateWatchTests {
    private static func account(_ name: String) -> SharedState.Gate.Key {
        SharedState.Gate.Key(scope: .account, origin: Origin(scheme: "https", authority: "h"), name: name)
    }

    private static func gate(_ name: String, for span: Duration = .seconds(6000)) -> SharedState.Gate {
        SharedState.Gate(key: account(name), reason: .accountLocked, opensAt: .system().advanced(by: span))
    }

    /// With a freshness that a busy machine keeps.
    private static func store(_ configuration: RedisStore.Configuration) throws -> RedisStore {
        var configuration = configuration
        configuration.gateFreshness = .seconds(60)
        return try RedisStore(configuration: configuration)
    }

    private func untilNothingIsClosed(_ store: RedisStore, among names: String...) async throws {
        try await untilTrue { !store.mayHoldGates(among: names.map(Self.account)) }
    }

    @Test func whereNothingIsClosedNobodyAsks() async throws {
        let server = try await RedisServer.start()
        let store = try Self.store(server.configuration())
        let shared = SharedState(store, timeout: .seconds(600))
        #expect(shared.mayHoldGates, "it knows nothing yet")
        try await untilTrue { !shared.mayHoldGates }
        let before = try await server.commands
        for number in 0..<1000 { #expect(await shared.closedGate(among: [Self.account("\(number)")]) == nil) }
        // Others ask the server, and the store makes sure that it hears.
        let asked = try await server.commands - before
        #expect(asked < 20, "\(asked) commands for 1000 calls")
        await shared.shutdown()
    }

    @Test func aGateThatAnotherClosesOrOpensIsHeardOf() async throws {
        let server = try await RedisServer.start()
        let (store, other) = (try Self.store(server.configuration()), try Self.store(server.configuration()))
        try await untilNothingIsClosed(store, among: "ann")
        try await other.close(Self.gate("ann"), at: .system())
        try await untilTrue { store.mayHoldGates(among: [Self.account("bob"), Self.account("ann")]) }
        #expect(!store.mayHoldGates(among: [Self.account("bob")]), "others go on unasked")
        #expect(store.mayHoldGates)
        try await other.open(Self.account("ann"))
        try await untilNothingIsClosed(store, among: "ann")
        // One that is closed for longer than it was.
        try await other.close(Self.gate("bob", for: .milliseconds(1)), at: .system())
        try await other.close(Self.gate("bob"), at: .system())
        try await untilTrue { store.mayHoldGates(among: [Self.account("bob")]) }
        #expect(try await store.closedGate(among: [Self.account("bob")], at: .system()) != nil)
        await other.shutdown()
        await store.shutdown()
    }

    @Test func whatWasClosedBeforeIsKnown() async throws {
        let server = try await RedisServer.start()
        let other = try Self.store(server.configuration())
        for number in 0..<700 { try await other.close(Self.gate("\(number)"), at: .system()) }
        try await other.open(Self.account("6"))
        let store = try Self.store(server.configuration())
        try await untilNothingIsClosed(store, among: "ann", "6")
        for number in 0..<700 where number != 6 { #expect(store.mayHoldGates(among: [Self.account("\(number)")])) }
        await other.shutdown()
        await store.shutdown()
    }

    @Test func whoHearsNothingAsks() async throws {
        let server = try await RedisServer.start()
        var configuration = server.configuration()
        configuration.gateFreshness = .milliseconds(200)
        let store = try RedisStore(configuration: configuration)
        // On a busy machine it is known for moments only; one of them is enough.
        try await untilNothingIsClosed(store, among: "ann")
        server.freeze()
        try await untilTrue { store.mayHoldGates(among: [Self.account("ann")]) }
        server.thaw()
        try await untilNothingIsClosed(store, among: "ann")
        server.kill()
        try await untilTrue { store.mayHoldGates(among: [Self.account("ann")]) }
        try await server.restart()
        try await untilNothingIsClosed(store, among: "ann")
        await store.shutdown()
    }

    @Test func aConnectionThatIsLostIsNotTakenForSilence() async throws {
        let server = try await RedisServer.start()
        var configuration = server.configuration()
        configuration.gateFreshness = .milliseconds(500)
        let (store, other) = (try RedisStore(configuration: configuration), try Self.store(server.configuration()))
        try await untilNothingIsClosed(store, among: "ann")
        _ = try await server.ask("CLIENT", "KILL", "TYPE", "pubsub")
        try await other.close(Self.gate("ann"), at: .system())
        try await untilTrue { store.mayHoldGates(among: [Self.account("ann")]) }
        // It stays so: the list is read again when it listens again.
        try await untilNothingIsClosed(store, among: "bob")
        #expect(store.mayHoldGates(among: [Self.account("ann")]))
        await other.shutdown()
        await store.shutdown()
    }

    @Test func withoutFreshnessOrThePermissionEachCallAsks() async throws {
        let server = try await RedisServer.start([
            "--user", "ann", "on", ">s3cret", "~{test:*", "resetchannels", "+@read", "+@write", "+@scripting", "+ping",
            "+select", "+time",
        ])
        var configuration = server.configuration()
        configuration.gateFreshness = .zero
        let never = try RedisStore(configuration: configuration)
        (configuration.user, configuration.password) = ("ann", "s3cret")
        configuration.gateFreshness = .seconds(60)
        let stranger = try RedisStore(configuration: configuration)
        try await stranger.close(Self.gate("ann"), at: .system())
        for store in [never, stranger] {
            for _ in 0..<10 { #expect(store.mayHoldGates(among: [Self.account("bob")])) }
            #expect(try await store.closedGate(among: [Self.account("ann")], at: .system()) != nil)
            #expect(try await store.closedGate(among: [Self.account("bob")], at: .system()) == nil)
        }
        await never.shutdown()
        await stranger.shutdown()
    }

    @Test func aClusterTellsOfAllItsNodes() async throws {
        let cluster = try await RedisCluster.start()
        let store = try Self.store(cluster.configuration())
        let other = try Self.store(cluster.configuration())
        try await untilNothingIsClosed(store, among: "ann")
        for number in 0..<30 { try await other.close(Self.gate("\(number)"), at: .system()) }
        for number in 0..<30 { try await untilTrue { store.mayHoldGates(among: [Self.account("\(number)")]) } }
        #expect(!store.mayHoldGates(among: [Self.account("ann")]))
        // A third begins when they are closed.
        let third = try Self.store(cluster.configuration())
        try await untilNothingIsClosed(third, among: "ann")
        for number in 0..<30 { #expect(third.mayHoldGates(among: [Self.account("\(number)")])) }
        for store in [store, other, third] { await store.shutdown() }
    }

    @Test(arguments: ["", "1", "1 ", "1 2", "1 2 a", "x 1 a", "1 x a", "1 -1 a", "1 99999999999999999999 a", "1 1 ab"])
    func aListThatIsNoneIsNotRead(_ text: String) {
        let gates = GateWatch.gates(in: Array(text.utf8))
        #expect(text.isEmpty ? gates?.isEmpty == true : gates == nil)
    }

    @Test func aListIsRead() throws {
        let gates = try #require(GateWatch.gates(in: Array("5 3 a b12 0 7 1 c".utf8)))
        #expect(gates.map(\.name) == ["a b", "", "c"])
        #expect(gates.map(\.rest) == [5, 12, 7])
    }
}
#endif
