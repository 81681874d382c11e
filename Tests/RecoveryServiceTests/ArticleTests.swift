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

    /// The rows say which values may be switched off.
    @Test func theTableSaysWhatMayBeOff() throws {
        let table = try #require(try Self.article("PolicyKeys").components(separatedBy: "## Keys").last)
        let rows = table.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { $0.split(separator: "|") }
        var base = RecoveringClient.Settings.pollyStandard
        (base.budget, base.pace) = (.tokens(), .init(perSecond: 5))
        (base.hedging, base.limit) = (.init(after: .seconds(1)), .init(.aimd()))
        base.breaker?.failures = 9
        for row in rows {
            let path = row[0].split(separator: "`")[1].split(separator: ".").map(String.init)
            guard path != ["throttled_backoff", "…"] else { continue }
            let json = path.reversed().reduce(JSONValue.string("off")) { .object([JSONValue.Member($1, $0)]) }
            let isTaken = (try? RecoveringClient.Settings(json: json, base: base)) != nil
            #expect(isTaken == row[1].contains("`off`"), "\(path)")
        }
    }

    @Test func theOtherTableHasEveryKey() throws {
        let page = try Self.article("PolicyKeys")
        let part = try #require(
            page.components(separatedBy: "## Beside the policy").last?.components(separatedBy: "\n## ").first
        )
        let keys = part.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().compactMap { row in
            row.split(separator: "|").dropFirst().first?.split(separator: "`").dropFirst().first.map(String.init)
        }
        let options = [
            LayerOptions.redirects, LayerOptions.announcedLimits, LayerOptions.staleAnswers, LayerOptions.renewal,
        ]
        #expect(keys.sorted() == options.flatMap(\.keys).sorted())
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
        #expect("\(client)".contains("Deadline 7.0") && breaker == .init() && !secret.isEmpty)
    }

    @Test func besideThePolicy() throws {
        let (transport, config) = (ScriptedTransport(), Self.config)
        let settings = try RecoveringClient.Settings(config: config.scoped(to: "api"))
        let redirects = try Redirects(config: config.scoped(to: "api.redirects"))
        let stale = try RecoveringClient.StaleAnswers(config: config.scoped(to: "api.stale_answers"))
        let announced = try Recovery.AnnouncedLimits(config: config.scoped(to: "api.announced_limits"))
        let client = RecoveringClient(transport: transport) {
            redirects
            stale
            settings.layers(admissions: [announced])
        }
        #expect("\(client)".contains("Deadline 7.0"))
    }

    @Test func inShort() throws {
        let (transport, config) = (ScriptedTransport(), Self.config.scoped(to: "api"))
        let recovery = RecoveringClient.ReloadableRecovery(try RecoveringClient.Settings(config: config))
        let client = RecoveringClient(transport: transport) { recovery }
        let reload = PolicyReload(recovery, of: client, from: config)
        #expect("\(reload)" == "PolicyReload" && recovery.settings.deadline == .seconds(7))
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
        var configuration = ServiceGroupConfiguration(
            services: [
                StoreService(client.runtime.state),
                ClientService(client, drainingWithin: .seconds(10)) { state in await keep(state.json.description) },
                RenewalService(tokens, by: client, finishingWithin: .seconds(5)),
                DrainingService(work, by: client, within: .seconds(10)),
            ],
            gracefulShutdownSignals: [.sigterm],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = .seconds(27)
        let group = ServiceGroup(configuration: configuration)
        async let ended: Void = group.run()
        await group.triggerGracefulShutdown()
        try await ended
    }
}
#endif
