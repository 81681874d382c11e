import AuthRecovery
public import Configuration
import CurlTransport
import Foundation
import HTTPRecovery
import HTTPTypes
import Hummingbird
public import Logging
import RecoveryObservability
import RecoveryService
public import ServiceLifecycle
import Synchronization
import UnixSignals

/// A service between its callers and a protected API: it has the credentials, and bears what goes wrong.
public struct Gateway: Service {
    /// Why nobody can be listened to.
    public struct NotListening: Error, CustomStringConvertible {
        /// The address, and what the system says of it.
        public let description: String
    }

    /// Where the policy may change while the service runs.
    public struct PolicySource: Sendable {
        let config: ConfigReader
        let provider: any Service

        /// Creates a source.
        ///
        /// - Parameters:
        ///   - config: The configuration, of which `api` is the policy.
        ///   - provider: What reads it again when it has changed.
        public init(_ config: ConfigReader, reloadedBy provider: any Service) {
            (self.config, self.provider) = (config, provider)
        }
    }

    let metrics: PrometheusMetrics
    let logger: Logger

    private let health: GatewayHealth
    private let configuration: GatewayConfiguration
    /// Calls the API.
    private let api: RecoveringClient
    /// Asks for tokens.
    private let signIn: RecoveringClient
    private let tokens: TokenManager
    /// What changes the policy; empty if nothing does.
    private let reloading: [any Service]

    /// Sets the service up; logs and metrics are bootstrapped before.
    ///
    /// - Parameters:
    ///   - configuration: Where everything is, and how calls recover.
    ///   - metrics: What is shown at `/metrics`.
    ///   - policies: Where the policy may change. Default: it does not.
    ///   - logger: Where the service logs.
    /// - Throws: What is wrong with a URL or the store.
    public init(
        _ configuration: GatewayConfiguration,
        metrics: PrometheusMetrics,
        policies: PolicySource? = nil,
        logger: Logger
    ) throws {
        self.configuration = configuration
        self.metrics = metrics
        self.logger = logger
        let transport = CurlTransport()
        let runtime = Runtime(store: try configuration.store(), storeTimeout: GatewayConfiguration.storeTimeout)
        let observability = Observability(metrics: metrics)
        let audience = Origin(of: try HTTPRequest(url: configuration.apiURL))
        signIn = RecoveringClient(transport: transport, runtime: runtime, observability: observability)
        let oauth = OAuthClient(
            server: try OAuthServer(endpoints: [.token: configuration.tokenURL]),
            clientID: configuration.clientID,
            authentication: .clientSecretBasic(configuration.clientSecret),
            client: signIn
        )
        let tokens = TokenManager(
            store: SharedTokenStore(
                runtime.state,
                name: "gateway \(configuration.clientID)",
                sealing: configuration.sealing
            ),
            renewer: ClientCredentialsGrant(client: oauth, scope: configuration.scope)
        )
        self.tokens = tokens
        let recovery = RecoveringClient.ReloadableRecovery(configuration.policy) { SessionRenewal(tokens) }
        let api = RecoveringClient(transport: transport, runtime: runtime, observability: observability) {
            recovery
            Authorization(tokens, audience: [audience])
        }
        self.api = api
        reloading = policies.map { Self.reloading(recovery, of: api, from: $0, logger) } ?? []
        health = GatewayHealth(runtime)
    }

    private static func reloading(
        _ recovery: RecoveringClient.ReloadableRecovery,
        of client: RecoveringClient,
        from source: PolicySource,
        _ logger: Logger
    ) -> [any Service] {
        let config = source.config.scoped(to: "api")
        let reload = PolicyReload(recovery, of: client, from: config, base: GatewayConfiguration.standardPolicy) {
            switch $0 {
            case .applied: logger.notice("The policy has changed")
            case .refused(let problem):
                logger.error(
                    "The policy stays as it was",
                    metadata: ["problem": "\(GatewayConfiguration.Invalid(policy: problem))"]
                )
            @unknown default: break
            }
        }
        return [source.provider, reload]
    }

    /// Answers until SIGTERM or SIGINT, and lets everything end then: the callers' requests, calls, renewals; the store is
    /// written last.
    ///
    /// - Throws: ``NotListening``.
    public func run() async throws {
        let address = configuration.writtenHost
        let isListening = Mutex(false)
        let application = Application(
            router: router(),
            server: .http1(configuration: .init(idleTimeout: .seconds(30))),
            configuration: ApplicationConfiguration(address: .hostname(configuration.host, port: configuration.port)),
            onServerRunning: { channel in
                isListening.withLock { $0 = true }
                let port = channel.localAddress?.port ?? configuration.port
                logger.notice("Listening", metadata: ["url": "http://\(address):\(port)"])
            },
            logger: logger
        )
        // Ended in the reverse of this order.
        let first: [any Service] = [
            StoreService(api.runtime.state),
            ClientService(signIn, drainingWithin: configuration.drain),
            ClientService(api, drainingWithin: configuration.drain),
            RenewalService(tokens, by: api, finishingWithin: configuration.drain),
        ]
        let last: [any Service] = [
            BoundedServer(application, calling: [api, signIn], within: configuration.drain),
            ShutdownNotice(health: health, notice: configuration.notice, time: api.runtime.time),
        ]
        var group = ServiceGroupConfiguration(
            services: first + reloading + last,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        // A caller that does not go away holds the server no longer than its calls may take.
        group.maximumGracefulShutdownDuration = configuration.notice + configuration.drain + .seconds(5)
        do {
            try await ServiceGroup(configuration: group).run()
        } catch {
            guard !isListening.withLock({ $0 }), !(error is CancellationError) else { throw error }
            throw NotListening(address: "\(address):\(configuration.port)", error)
        }
        logger.notice("Ended")
    }

    /// Whether it should be sent requests, and what speaks for and against it.
    func readiness() async -> (isReady: Bool, json: JSONValue) {
        let stored = try? await tokens.store.read()
        return health.report(canReadTokens: stored != nil)
    }

    /// Reads a resource, as its caller may.
    ///
    /// - Parameter name: The last part of its path.
    /// - Returns: What the API has answered.
    /// - Throws: `RecoveryError`; `JSONValue.ParseError` for an answer that is no JSON, `MessageBody.ReadError` for one
    ///   above 1 MiB, `TransportError` for one that breaks off.
    func resource(_ name: String) async throws -> JSONValue {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
        let path = name.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        let request = try HTTPRequest(url: "\(configuration.apiURL)/\(path)")
        let response = try await api.send(request, options: RequestOptions(label: "resource"))
        return try JSONValue(parsing: try await response.body.collect(upTo: 1 << 20))
    }
}

extension Gateway.NotListening {
    init(address: String, _ error: any Error) {
        // What the system says stands behind the function that it was asked by.
        let text = "\(error)"
        let reason = text.range(of: "): ").map { text[$0.upperBound...] } ?? text[...]
        description = "\(address): \(reason.replacing(") (errno", with: " (errno"))"
    }
}
