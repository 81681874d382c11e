import ArgumentParser
import Configuration
import CurlTransport
import HTTPRecovery
import HTTPTypes
import Logging
import Metrics
import ResourceGateway
import SystemPackage

/// A small service that calls a protected API, and can be looked after.
@main
struct ResourceGatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resource-gateway",
        abstract: "Reads resources of an API that is protected by OAuth 2, with the client's own credentials.",
        discussion: """
            GET /resources/NAME is one resource, GET /resources?names=A,B several at once; /health/live, /health/ready \
            and /metrics are for those who look after it. It logs JSON to the standard output. SIGTERM and SIGINT end \
            it in order.

            CONFIGURATION. Each key is an environment variable, or stands in the file of --config, which is JSON; the \
            environment comes first. Needed are OAUTH_TOKEN_URL, OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET and API_URL. \
            LISTEN (127.0.0.1:8081), STATE (a SQLite file or a redis:// URL), STATE_KEY, OAUTH_SCOPE, \
            SHUTDOWN_NOTICE_S (5), SHUTDOWN_DRAIN_S (20) and LOG_LEVEL (info) can be left out, and so can all of how \
            calls recover, such as API_MAX_ATTEMPTS. When the file changes, calls that begin from then on recover by it: \
            it is looked at every RELOAD_S seconds (15), and at SIGHUP; all else is read once.

            EXIT. 0 after a signal, 1 for a --probe without a good answer, 64 for bad usage, 69 if it cannot listen, 78 \
            for a configuration that cannot work.
            """
    )

    @Option(help: "A JSON file with what the environment does not say.", completion: .file())
    var config: String?

    @Option(help: ArgumentHelp("Only ask a running one, and fail if it does not answer with 200.", valueName: "URL"))
    var probe: String?

    func run() async throws {
        if let probe { return try await ask(probe) }
        let metrics = PrometheusMetrics()
        let configuration: GatewayConfiguration
        do {
            var providers: [any ConfigProvider] = [EnvironmentVariablesProvider()]
            if let config { providers.append(try await FileProvider<JSONSnapshot>(filePath: FilePath(config))) }
            configuration = try GatewayConfiguration(config: ConfigReader(providers: providers))
        } catch {
            complain("\(error)")
            throw ExitCode(78)
        }
        LoggingSystem.bootstrap { label in
            var handler = JSONLogHandler(label: label)
            handler.logLevel = configuration.logLevel
            return handler
        }
        MetricsSystem.bootstrap(metrics)
        let logger = Logger(label: "resource-gateway")
        let gateway: Gateway
        do {
            let policies = try await policies(lookedAtEvery: configuration.reload, logger)
            gateway = try Gateway(configuration, metrics: metrics, policies: policies, logger: logger)
        } catch {
            complain("\(error)")
            throw ExitCode(78)
        }
        do {
            try await gateway.run()
        } catch let error as Gateway.NotListening {
            complain("\(error)", "Cannot listen")
            throw ExitCode(69)
        }
    }

    /// The file, which may change while the service runs.
    private func policies(lookedAtEvery interval: Duration, _ logger: Logger) async throws -> Gateway.PolicySource? {
        guard let config else { return nil }
        let file = try await ConfigurationFile(FilePath(config), lookedAtEvery: interval, logger: logger)
        return .init(ConfigReader(providers: [EnvironmentVariablesProvider(), file.provider]), reloadedBy: file)
    }

    /// What an orchestrator asks in the container, where no other program is.
    private func ask(_ url: String) async throws {
        let client = RecoveringClient(transport: CurlTransport()) { AttemptTimeout(.seconds(3)) }
        do {
            let status = try await client.send(HTTPRequest(url: url)).status
            if status.code == 200 { return }
            complain("\(status.code)", "No good answer")
        } catch {
            complain("\(error)", "No good answer")
        }
        throw ExitCode.failure
    }

    /// In the form of all other lines.
    private func complain(_ text: String, _ message: Logger.Message = "The configuration cannot work") {
        JSONLogHandler(label: "resource-gateway").log(
            event: LogEvent(
                level: .critical,
                message: message,
                metadata: ["problem": "\(text)"],
                source: "resource-gateway",
                file: #fileID,
                function: #function,
                line: #line
            )
        )
    }
}
