#if Configuration && ServiceLifecycle && Observability && SQLite
import AuthRecovery
import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Logging
import RecoveryObservability
import RecoveryService
import SQLiteRecoveryStore
import ServiceLifecycle
import Synchronization
import Testing
import UnixSignals

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

// The worker of the article "A worker, whole", word for word.

/// What is done with the shop's orders, by fifty tasks.
struct Orders: Service, CustomStringConvertible {
    let client: RecoveringClient
    let base: String
    let logger: Logger

    /// What a group calls it in its logs.
    var description: String { "Orders" }

    func run() async {
        await withDiscardingTaskGroup { group in
            for task in 0..<50 {
                group.addTask {
                    for order in stride(from: task, to: 200, by: 50) where !Task.isShuttingDownGracefully {
                        await look(at: order)
                    }
                }
            }
        }
    }

    private func look(at order: Int) async {
        do {
            let response = try await client.send(HTTPRequest(url: "\(base)/orders/\(order)"))
            let size = try await response.body.collect(upTo: 1 << 20).count
            logger.info("order", metadata: ["order": "\(order)", "bytes": "\(size)"])
        } catch is CancellationError {
            logger.notice("order given up", metadata: ["order": "\(order)"])
        } catch {
            // A RecoveryError, or an answer that has broken off or was too long.
            logger.error("order failed", metadata: ["order": "\(order)", "error": "\(error)"])
        }
    }
}

/// The parts in their order; they end in the reverse of it.
func makeWorker(
    transport: any HTTPTransport,
    runtime: Runtime,
    observability: Observability,
    base: String,
    secret: Secret,
    logger: Logger
) async throws -> ServiceGroup {
    // Gets the tokens, and so presents none.
    let identity = RecoveringClient(transport: transport, runtime: runtime, observability: observability)
    let server = try await OAuthServer.discover(issuer: base, using: identity)
    let oauth = OAuthClient(
        server: server,
        clientID: "service",
        authentication: .clientSecretBasic(secret),
        client: identity
    )
    let tokens = TokenManager(
        store: SharedTokenStore(runtime.state, name: "service"),
        renewer: ClientCredentialsGrant(client: oauth)
    )
    let shop = try Origin(url: base)
    let client = RecoveringClient(transport: transport, runtime: runtime, observability: observability) {
        Deadline(.seconds(60))
        Recovery(maxAttempts: 6, budget: .ratio(.init(burst: 50))) {
            RateLimitBackoff()
            SessionRenewal(tokens)
            TransientRetry()
        }
        Authorization(tokens, audience: [shop])
        AttemptTimeout(.seconds(10))
    }
    let orders = Orders(client: client, base: "\(base)/api", logger: logger)
    var group = ServiceGroupConfiguration(
        services: [
            .init(service: StoreService(runtime.state)),
            .init(service: ClientService(client)),
            .init(service: RenewalService(tokens, by: client)),
            // To a group, a service that returns has failed, unless it says this.
            .init(service: DrainingService(orders, by: client), successTerminationBehavior: .gracefullyShutdownGroup),
        ],
        gracefulShutdownSignals: [.sigterm],
        logger: logger
    )
    // Before the process is killed, usually after 30 seconds.
    group.maximumGracefulShutdownDuration = .seconds(27)
    return ServiceGroup(configuration: group)
}

@Suite struct WorkerArticleTests {
    /// The worker makes two hundred calls of which some are refused at first, with one token.
    @Test func theWorkerDoesItsWork() async throws {
        let clock = ManualClock()
        let issued = Mutex(0)
        let asked = Mutex(0)
        let shop = InProcessTransport(routes: [
            .on(.get, "/.well-known/openid-configuration") { _ in
                let endpoint = #""token_endpoint": "https://shop.example.com/token""#
                return .scripted(200, body: #"{"issuer": "https://shop.example.com", \#(endpoint)}"#)
            },
            .on(.post, "/token") { _ in
                let number = issued.withLock { issued in
                    issued += 1
                    return issued
                }
                let life = #""token_type": "Bearer", "expires_in": 3600"#
                return .scripted(200, body: #"{"access_token": "T\#(number)", \#(life)}"#)
            },
            .on(.get, "/api/orders/{order}") { _ in
                let number = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                return number % 7 == 0 ? .scripted(429, ["retry-after": "2"]) : .scripted(number % 11 == 0 ? 503 : 200)
            },
        ])
        let logger = Logger(label: "orders")
        let worker = try await makeWorker(
            transport: shop,
            runtime: .manual(clock),
            observability: Observability(logger: logger, metrics: nil, tracer: nil),
            base: "https://shop.example.com",
            secret: Secret("s"),
            logger: logger
        )
        try await clock.skippingWaits { try await worker.run() }
        #expect(issued.withLock { $0 } == 1)
        #expect(asked.withLock { $0 } > 200)
    }

    /// All fifty tasks meet the limit at the same moment: no order is lost.
    @Test func aBurstThatMeetsALimitLosesNoOrder() async throws {
        let clock = ManualClock()
        let asked = Mutex(0)
        let good = Mutex(0)
        let shop = InProcessTransport(routes: [
            .on(.get, "/.well-known/openid-configuration") { _ in
                let endpoint = #""token_endpoint": "https://shop.example.com/token""#
                return .scripted(200, body: #"{"issuer": "https://shop.example.com", \#(endpoint)}"#)
            },
            .on(.post, "/token") { _ in
                .scripted(200, body: #"{"access_token": "T", "token_type": "Bearer", "expires_in": 3600}"#)
            },
            .on(.get, "/api/orders/{order}") { _ in
                let number = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                if number <= 50 {
                    // None is told before all have asked: else the gate would hold the others back.
                    while asked.withLock({ $0 }) < 50 { await Task.yield() }
                    return .scripted(429, ["retry-after": "30"])
                }
                good.withLock { $0 += 1 }
                return .scripted(200)
            },
        ])
        let logger = Logger(label: "orders")
        let worker = try await makeWorker(
            transport: shop,
            runtime: .manual(clock),
            observability: Observability(logger: logger, metrics: nil, tracer: nil),
            base: "https://shop.example.com",
            secret: Secret("s"),
            logger: logger
        )
        try await clock.skippingWaits { try await worker.run() }
        #expect(good.withLock { $0 } == 200)
    }

    /// An answer that cannot be read is no cancellation.
    @Test func anAnswerThatIsTooLongIsTold() async throws {
        let clock = ManualClock()
        let asked = Mutex(0)
        let shop = InProcessTransport(routes: [
            .on(.get, "/.well-known/openid-configuration") { _ in
                let endpoint = #""token_endpoint": "https://shop.example.com/token""#
                return .scripted(200, body: #"{"issuer": "https://shop.example.com", \#(endpoint)}"#)
            },
            .on(.post, "/token") { _ in
                .scripted(200, body: #"{"access_token": "T", "token_type": "Bearer", "expires_in": 3600}"#)
            },
            .on(.get, "/api/orders/{order}") { _ in
                let number = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                return .scripted(200, body: number == 1 ? String(repeating: "x", count: 1 << 21) : "")
            },
        ])
        let lines = Lines()
        let worker = try await makeWorker(
            transport: shop,
            runtime: .manual(clock),
            observability: Observability(logger: Logger(label: "client"), metrics: nil, tracer: nil),
            base: "https://shop.example.com",
            secret: Secret("s"),
            logger: Logger(label: "orders") { _ in lines }
        )
        try await clock.skippingWaits { try await worker.run() }
        let told = lines.texts.filter { $0.contains(" order failed ") || $0.contains(" order given up ") }
        #expect(told.count == 1, "\(told)")
        #expect(told.first?.hasPrefix("error order failed ") == true && told.first?.contains("larger") == true)
    }

    /// Keeps what is logged: the level, the message and the metadata.
    private struct Lines: LogHandler {
        var logLevel = Logger.Level.info
        var metadata: Logger.Metadata = [:]
        private let kept = Kept()

        private final class Kept: Sendable {
            let texts = Mutex<[String]>([])
        }

        var texts: [String] { kept.texts.withLock { $0 } }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let text = "\(event.level) \(event.message) \(event.metadata ?? [:])"
            kept.texts.withLock { $0.append(text) }
        }
    }

    /// Compiled alone: it would call a server.
    private func program() async {
        let logger = Logger(label: "orders")
        do {
            let worker = try await makeWorker(
                transport: CurlTransport(),
                runtime: Runtime(store: SQLiteStore(path: "/var/lib/orders/state.db", namespace: "orders")),
                observability: Observability(logger: logger),
                base: "http://127.0.0.1:8080",
                secret: Secret("service-secret"),
                logger: logger
            )
            try await worker.run()
        } catch {
            logger.critical("the worker has ended", metadata: ["error": "\(error)"])
            exit(1)
        }
    }
}
#endif
