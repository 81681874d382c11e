import AuthSandbox
import Configuration
import CurlTransport
import Foundation
import HTTPRecovery
import RecoveryService
import ResourceGateway
import ServiceLifecycle
import ServiceTrials
import Synchronization
import SystemPackage
import Testing

/// What the gateway reads when it starts, and while it runs.
@Suite(.timeLimit(.minutes(5))) struct GatewayConfigurationTests {
    private let caller = ServiceCaller()

    @Test(arguments: [
        (["OAUTH_CLIENT_SECRET": ""], "oauth.client_secret"), (["LISTEN": "nowhere"], "listen"),
        (["API_MAX_ATTEMPTS": "0"], "api.max_attempts"), (["SHUTDOWN_DRAIN_S": "301"], "shutdown.drain_s"),
        (["STATE_KEY": "not-a-key-4711"], "state_key"), (["STATE": "redis://user:pass-4711@/x?y"], "state"),
        (["STATE": "mongodb://x-4711"], "state"), (["STATE": ""], "state"), (["LOG_LEVEL": "loud"], "log.level"),
        (["API_URL": "nowhere"], "api.url"), (["API_URL": "ftp://a.example"], "api.url"),
        (["OAUTH_TOKEN_URL": "/token"], "oauth.token_url"), (["OAUTH_CLIENT_ID": ""], "oauth.client_id"),
        (["SHUTDOWN_DRAIN_S": "60s"], "shutdown.drain_s"), (["SHUTDOWN_NOTICE_S": "abc"], "shutdown.notice_s"),
        (["RELOAD_S": "0"], "reload_s"), (["LISTEN": "127.0.0.1:99999"], "listen"),
        (["API_BUDGET": "none"], "api.budget"), (["API_URL": "http://a.example/api?key=1"], "api.url"),
        (["API_URL": "http://a.example/api#part"], "api.url"), (["OAUTH_SCOPE": ""], "oauth.scope"),
    ])
    func aConfigurationThatCannotWorkIsToldAndEndsIt(_ settings: [String: String], key: String) async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let failure = await #expect(throws: RunningService.NotStarted.self) {
            try await RunningService.gateway(before: sandbox, settings)
        }
        let text = try #require(failure).description
        #expect(text.contains("The configuration cannot work") && text.contains(#""problem":"\#(key)"#), "\(text)")
        #expect(!text.contains("4711"))
    }

    /// The page "Configuration": a file that is read again, as it stands there.
    @Test func theProviderOfThePageIsAService() async throws {
        func services(_ client: RecoveringClient, _ reload: PolicyReload) async throws -> [any Service] {
            let file = try await ReloadingFileProvider<JSONSnapshot>(
                filePath: "/etc/orders.json",
                pollInterval: .seconds(5)
            )
            let config = ConfigReader(providers: [EnvironmentVariablesProvider(), file])
            let services: [any Service] = [StoreService(client.runtime.state), ClientService(client), file, reload]
            return config.string(forKey: "api.none") == nil ? services : []
        }
        let recovery = RecoveringClient.ReloadableRecovery(.standard)
        let client = RecoveringClient(transport: CurlTransport()) { recovery }
        let reload = PolicyReload(recovery, of: client, from: ConfigReader(provider: InMemoryProvider(values: [:])))
        // There is no such file here.
        await #expect(throws: (any Error).self) { try await services(client, reload) }
    }

    @Test func aFileConfiguresWhatTheEnvironmentDoesNot() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/gateway.json"
        try """
        {"listen": "127.0.0.1:0", "oauth": {"token_url": "\(sandbox.url)/oauth/token", "client_id": "service"},
         "api": {"url": "\(sandbox.url)/api/", "max_attempts": 1}, "log": {"level": "critical"}}
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let gateway = try await RunningService(
            "resource-gateway",
            ["--config", file],
            environment: ["OAUTH_CLIENT_SECRET": RunningService.gatewaySecret, "LOG_LEVEL": "notice"]
        )
        #expect(try await caller.call("\(gateway.url)/resources/a").status == 200)
        sandbox.add(SandboxFault(.status, path: "/api/b"))
        #expect(try await caller.call("\(gateway.url)/resources/b").status == 503, "one attempt")
    }

    private static let least: [AbsoluteConfigKey: ConfigValue] = [
        "oauth.token_url": "https://a.example/token", "oauth.client_id": "service", "oauth.client_secret": "s",
        "api.url": "https://a.example/api",
    ]

    /// A file has types: one that is not the value's is no reason to take the default.
    @Test(arguments: [
        ("listen", ConfigContent.int(18893)), ("log.level", .int(7)), ("state", .int(5)), ("state", .bool(true)),
        ("shutdown.drain_s", .string("60")), ("shutdown.drain_s", .bool(true)),
        ("shutdown.notice_s", .stringArray(["5"])),
        ("oauth.scope", .doubleArray([1])), ("oauth.client_id", .int(7)), ("listen", .string(":8080")),
    ])
    func anotherTypeIsNamed(key: String, content: ConfigContent) throws {
        var values = Self.least
        values[AbsoluteConfigKey(ConfigKey(key))] = ConfigValue(content, isSecret: false)
        let config = ConfigReader(provider: InMemoryProvider(values: values))
        let error = #expect(throws: GatewayConfiguration.Invalid.self) { try GatewayConfiguration(config: config) }
        #expect(error?.description.hasPrefix(key) == true, "\(error?.description ?? "")")
    }

    @Test func whatMayHoldAPasswordIsShownToNobody() throws {
        final class Reports: AccessReporter {
            let texts = Mutex<[String]>([])

            func report(_ event: AccessEvent) {
                if case .success(let value?) = event.result { texts.withLock { $0.append("\(value)") } }
            }
        }
        let reports = Reports()
        let state: ConfigValue = "redis://user:pass-4711@redis.example/0"
        let provider = InMemoryProvider(values: Self.least.merging(["state": state]) { $1 })
        let config = ConfigReader(provider: provider, accessReporter: reports)
        #expect(try GatewayConfiguration(config: config).state?.contains("pass-4711") == true)
        #expect(reports.texts.withLock { texts in !texts.isEmpty && !texts.contains { $0.contains("4711") } })
    }

    @Test func whatIsNotConfiguredIsTheGatewaysOwn() throws {
        var values = Self.least
        values["api.breaker.open_s"] = 30
        let policy = try GatewayConfiguration(config: ConfigReader(provider: InMemoryProvider(values: values))).policy
        var expected = GatewayConfiguration.standardPolicy
        expected.breaker?.breakDuration = .seconds(30)
        #expect(policy == expected)
    }

    @Test func theBracketsOfAnAddressAreNoPartOfIt() throws {
        for (text, host) in [("[::1]:8081", "::1"), ("127.0.0.1:8081", "127.0.0.1"), ("a.example:8081", "a.example")] {
            var values = Self.least
            values["listen"] = ConfigValue(.string(text), isSecret: false)
            let config = try GatewayConfiguration(config: ConfigReader(provider: InMemoryProvider(values: values)))
            #expect(config.host == host && config.port == 8081)
        }
    }

    @Test(.enabled(if: RunningService.hasIPv6)) func itListensAtAnAddressOfIPv6() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let gateway = try await RunningService.gateway(before: sandbox, ["LISTEN": "[::1]:0"])
        #expect(gateway.url.hasPrefix("http://[::1]:"))
        #expect(try await caller.call("\(gateway.url)/health/live").status == 200)
    }

    /// What an orchestrator takes for health is 200 alone.
    @Test(arguments: [(200, 0), (204, 1), (302, 1), (503, 1)] as [(Int, Int32)])
    func aProbeFailsForAnyOtherStatusThan200(status: Int, exit: Int32) async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        var fault = SandboxFault(.status, path: "/api/probe", times: 0)
        (fault.status, fault.body) = (status, "")
        sandbox.add(fault)
        let probe = try await RunningService(
            "resource-gateway",
            ["--probe", "\(sandbox.url)/api/probe"],
            announces: false
        )
        #expect(await probe.exit() == exit)
    }

    @Test func whereItCannotListenIsTold() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let first = try await RunningService.gateway(before: sandbox)
        for address in [first.url.replacing("http://", with: ""), "no-host.invalid:8081"] {
            let environment = [
                "LISTEN": address, "OAUTH_TOKEN_URL": "\(sandbox.url)/oauth/token", "OAUTH_CLIENT_ID": "service",
                "OAUTH_CLIENT_SECRET": RunningService.gatewaySecret, "API_URL": "\(sandbox.url)/api",
            ]
            let second = try await RunningService("resource-gateway", environment: environment, announces: false)
            #expect(await second.exit() == 69)
            let lines = second.lines.compactMap { try? JSONValue(parsing: Array($0.utf8)) }
            #expect(lines.count == second.lines.count)
            let line = lines.first { $0["message"] == "Cannot listen" }
            #expect(line?["problem"]?.string?.hasPrefix("\(address): ") == true, "\(second.lines)")
        }
    }

    @Test func aFileThatHasChangedHoldsForLaterCalls() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/gateway.json"
        func write(attempts: Int) throws {
            try #"{"api": {"max_attempts": \#(attempts)}}"#.write(toFile: file, atomically: true, encoding: .utf8)
        }
        try write(attempts: 1)
        let gateway = try await RunningService(
            "resource-gateway",
            ["--config", file],
            environment: [
                "LISTEN": "127.0.0.1:0", "OAUTH_TOKEN_URL": "\(sandbox.url)/oauth/token", "OAUTH_CLIENT_ID": "service",
                "OAUTH_CLIENT_SECRET": RunningService.gatewaySecret, "API_URL": "\(sandbox.url)/api", "RELOAD_S": "1",
                "SHUTDOWN_NOTICE_S": "0",
            ]
        )
        sandbox.add(SandboxFault(.status, path: "/api/a"))
        #expect(try await caller.call("\(gateway.url)/resources/a").status == 503, "one attempt")
        try write(attempts: 3)
        while !gateway.lines.contains(where: { $0.contains("The policy has changed") }) {
            try await Task.sleep(for: .milliseconds(10))
        }
        sandbox.add(SandboxFault(.status, path: "/api/b"))
        #expect(try await caller.call("\(gateway.url)/resources/b").status == 200)
        try write(attempts: 0)
        while !gateway.lines.contains(where: { $0.contains("api.max_attempts is no whole number") }) {
            try await Task.sleep(for: .milliseconds(10))
        }
        gateway.send(SIGTERM)
        #expect(await gateway.exit() == 0)
    }
}
