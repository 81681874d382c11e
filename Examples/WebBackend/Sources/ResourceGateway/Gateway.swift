import AuthRecovery
import CurlTransport
import Foundation
import HTTPRecovery
import HTTPTypes
import Hummingbird
public import Logging
import RecoveryObservability
import RecoveryService
public import ServiceLifecycle
import UnixSignals

/// A service between its callers and a protected API: it has the credentials, and bears what goes wrong.
public struct Gateway: Service {
    let metrics: PrometheusMetrics

    private let health: GatewayHealth
    private let configuration: GatewayConfiguration
    private let logger: Logger
    /// Calls the API.
    private let api: RecoveringClient
    /// Asks for tokens.
    private let signIn: RecoveringClient
    private let tokens: TokenManager

    /// Sets the service up; logs and metrics are bootstrapped before.
    ///
    /// - Parameters:
    ///   - configuration: Where everything is, and how calls recover.
    ///   - metrics: What is shown at `/metrics`.
    ///   - logger: Where the service logs.
    /// - Throws: What is wrong with a URL or the store.
    public init(_ configuration: GatewayConfiguration, metrics: PrometheusMetrics, logger: Logger) throws {
        self.configuration = configuration
        self.metrics = metrics
        self.logger = logger
        let transport = CurlTransport()
        // The first call cannot do without its token; later ones have it in memory.
        let runtime = Runtime(store: try configuration.store(), storeTimeout: .seconds(2))
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
        api = RecoveringClient(transport: transport, runtime: runtime, observability: observability) {
            configuration.policy.layers { SessionRenewal(tokens) }
            Authorization(tokens, audience: [audience])
        }
        health = GatewayHealth(runtime)
    }

    /// Answers until SIGTERM or SIGINT, and lets everything end then: the callers' requests, calls, renewals; the store is
    /// written last.
    public func run() async throws {
        let address = configuration.host
        let application = Application(
            router: router(),
            configuration: ApplicationConfiguration(address: .hostname(address, port: configuration.port)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? configuration.port
                logger.notice("Listening", metadata: ["url": "http://\(address):\(port)"])
            },
            logger: logger
        )
        // Ended in the reverse of this order.
        let services: [any Service] = [
            StoreService(api.runtime.state),
            ClientService(signIn, drainingWithin: configuration.drain),
            ClientService(api, drainingWithin: configuration.drain),
            RenewalService(tokens, by: signIn),
            application,
            ShutdownNotice(health: health, notice: configuration.notice, time: api.runtime.time),
        ]
        var group = ServiceGroupConfiguration(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        // A caller that does not go away holds the server no longer than its calls may take.
        group.maximumGracefulShutdownDuration = configuration.notice + configuration.drain + .seconds(5)
        try await ServiceGroup(configuration: group).run()
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
    /// - Throws: `RecoveryError`; `JSONValue.ParseError` for an answer that is no JSON.
    func resource(_ name: String) async throws -> JSONValue {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
        let path = name.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        var options = RequestOptions(label: "resource")
        options.policies = [SessionRenewal(tokens)]
        let response = try await api.send(HTTPRequest(url: "\(configuration.apiURL)/\(path)"), options: options)
        return try JSONValue(parsing: try await response.body.collect(upTo: 1 << 20))
    }
}
