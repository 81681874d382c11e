#if Configuration && ServiceLifecycle
import AuthRecovery
import Configuration
import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import Logging
import RecoveryService
import ServiceLifecycle
import Testing
import UnixSignals

/// The articles: their code stands here, compiled, and their table has every key and no other.
@Suite struct ArticleTests {
    private static let root = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    private static func article(_ name: String) throws -> String {
        let path = root.appending(path: "Sources/RecoveryService/RecoveryService.docc/\(name).md")
        return try String(contentsOf: path, encoding: .utf8)
    }

    private static func keys(_ options: [String: SettingsOption], _ prefix: String = "") -> [String] {
        options.flatMap { key, option in
            guard case .object(let members) = option else { return [prefix + key] }
            return key == "throttled_backoff" ? ["throttled_backoff.…"] : keys(members, "\(prefix)\(key).")
        }
    }

    @Test func theTableHasEveryKey() throws {
        let table = try #require(try Self.article("PolicyKeys").components(separatedBy: "## Keys").last)
        let keys = table.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            String(row.dropFirst(3).prefix { $0 != "`" })
        }
        #expect(keys.count > 50 && keys.sorted() == Self.keys(SettingsOption.all).sorted())
    }

    @Test(arguments: ["RecoveryService", "PolicyKeys", "GracefulShutdown"])
    func thePageHoldsWhatIsCompiledHere(page: String) throws {
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8).filter { !$0.isWhitespace }
        let parts = try Self.article(page).components(separatedBy: "```swift\n").dropFirst()
        #expect(!parts.isEmpty)
        for part in parts {
            let code = try #require(part.components(separatedBy: "```").first).filter { !$0.isWhitespace }
            #expect(source.contains(code), "\(code.prefix(60))")
        }
    }

    @Test func overview() throws {
        let (transport, runtime) = (ScriptedTransport(), Runtime.manual())
        let config = ConfigReader(provider: EnvironmentVariablesProvider())
        let policy = config.scoped(to: "api")
        let recovery = RecoveringClient.ReloadableRecovery(try RecoveringClient.Settings(config: policy))
        let client = RecoveringClient(transport: transport, runtime: runtime) { recovery }
        let services: [any Service] = [
            StoreService(client.runtime.state),
            ClientService(client),
            PolicyReload(recovery, of: client, from: policy),
        ]
        #expect(services.count == 3 && recovery.settings == .standard)
        // A group logs each of them in every line about it: neither the client nor what it has learned stands there.
        #expect(services.map { "\($0)" } == ["StoreService", "ClientService", "PolicyReload"])
        #expect("\(RenewalService(TokenManager(store: InMemoryTokenStore()), by: client))" == "RenewalService")
    }

    private static let config = ConfigReader(
        provider: InMemoryProvider(values: ["api.deadline_s": "7s", "oauth.client_secret": "x"])
    )

    @Test func reading() throws {
        let (transport, config) = (ScriptedTransport(), Self.config)
        let settings = try RecoveringClient.Settings(config: config.scoped(to: "api"))
        let client = RecoveringClient(transport: transport) { settings.layers() }
        let breaker = try Recovery.CircuitBreaker.Configuration(config: config.scoped(to: "api.breaker"))
        let secret = try Secret(config: config, forKey: "oauth.client_secret")
        #expect("\(client)".contains("Deadline 7.0") && breaker.window == .count(100) && !secret.isEmpty)
    }

    @Test func changing() throws {
        let (transport, config, logger) = (ScriptedTransport(), Self.config, Logger(label: "test"))
        let settings = try RecoveringClient.Settings(config: config.scoped(to: "api"))
        let recovery = RecoveringClient.ReloadableRecovery(settings)
        let client = RecoveringClient(transport: transport) { recovery }
        let reload = PolicyReload(recovery, of: client, from: config.scoped(to: "api")) { change in
            if case .refused(let problem) = change { logger.error("\(problem)") }
        }
        #expect((reload as Any) is any Service && recovery.settings.deadline == .seconds(7))
    }

    @Test func shutdown() async throws {
        let (client, logger) = (RecoveringClient(transport: ScriptedTransport()), Logger(label: "test"))
        let tokens = TokenManager(store: InMemoryTokenStore())
        struct Work: Service {
            func run() async throws { try await gracefulShutdown() }
        }
        let work = Work()
        @Sendable func keep(_ text: String) async { #expect(text.contains("version")) }
        let group = ServiceGroup(
            services: [
                StoreService(client.runtime.state),
                ClientService(client, drainingWithin: .seconds(20)) { state in await keep(state.json.description) },
                RenewalService(tokens, by: client),
                DrainingService(work, by: client, within: .seconds(20)),
            ],
            gracefulShutdownSignals: [.sigterm],
            logger: logger
        )
        async let ended: Void = group.run()
        await group.triggerGracefulShutdown()
        try await ended
    }
}
#endif
