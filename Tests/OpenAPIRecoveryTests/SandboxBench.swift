import AuthRecovery
import AuthSandbox
import CurlTransport
import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OpenAPIRecovery
import OpenAPIRuntime
import SignInSupport

/// A generated client of the sandbox's resources, over real sockets, with a token of its OAuth provider.
struct SandboxBench: Sendable {
    static let ada = "ada@example.com"

    let sandbox: AuthSandbox
    let clock: ManualClock
    /// The client, by a line that differs from that of one without recovery in its transport, or its middleware, alone.
    let api: Client

    /// Runs the function.
    ///
    /// The sandbox's clock is the client's.
    ///
    /// - Parameter knowsExpiry: Whether the client knows when its access token expires, an hour from now.
    static func run(
        _ way: GeneratedClientTests.Way,
        rules: RecoveringTransport.Rules = RecoveringTransport.Rules(),
        knowsExpiry: Bool = true,
        _ body: (SandboxBench) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let time = clock.timeSource()
        let sandbox = try await AuthSandbox.start(scenario: .unlimited, providers: [.oauth], now: { time.wallTime })
        defer { sandbox.stop() }
        let transport = CurlTransport()
        let result: Result<Void, any Error>
        do {
            let issued = try sandbox.issueTokens(for: ada)
            let patient = PatientTransport(transport)
            let runtime = Runtime(time: time)
            let identity = RecoveringClient(transport: patient, runtime: runtime)
            let oauth = OAuthClient(
                server: try await OAuthServer.discover(issuer: sandbox.url, using: identity),
                clientID: "cli",
                client: identity
            )
            let credentials = Credentials(
                accessToken: Secret(issued.accessToken),
                refreshToken: issued.refreshToken.map { Secret($0) },
                expiresAt: knowsExpiry ? Timestamp(secondsSinceEpoch: issued.expiresAt / 1000) : nil
            )
            let tokens = TokenManager(
                store: InMemoryTokenStore(credentials),
                renewer: RefreshTokenGrant(client: oauth)
            )
            let audience = try Origin(url: sandbox.url)
            @RecoveringClient.PipelineBuilder func layers() -> [any ClientLayer] {
                Recovery {
                    RateLimitBackoff()
                    SessionRenewal(tokens)
                    TransientRetry()
                }
                Authorization(tokens, audience: [audience])
            }
            guard let url = URL(string: sandbox.url) else { throw PlainTransport.Failure() }
            let api: Client
            switch way {
            case .transport:
                let client = RecoveringClient(transport: patient, runtime: runtime, middlewares: layers)
                api = Client(serverURL: url, transport: RecoveringTransport(client, rules: rules))
            case .middleware:
                let recovery = RecoveringMiddleware(runtime: runtime, rules: rules, layers: layers)
                api = Client(serverURL: url, transport: PlainTransport(patient), middlewares: [recovery])
            }
            result = .success(try await body(SandboxBench(sandbox: sandbox, clock: clock, api: api)))
            _ = await tokens.finish()
        } catch {
            result = .failure(error)
        }
        await transport.shutdown()
        try result.get()
    }

    /// The requests for a path and what is below it, in their order.
    func requests(_ path: String) -> [SandboxRequestRecord] { sandbox.requests(path: path) }

    /// Does something while the clock jumps to whatever is slept for.
    func skippingWaits<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await clock.skippingWaits(body)
    }
}

/// A transport as others write one: it sends once, and knows nothing of recovery.
struct PlainTransport: ClientTransport {
    struct Failure: Error {}

    private let transport: any HTTPTransport

    init(_ transport: any HTTPTransport) {
        self.transport = transport
    }

    func send(
        _ request: HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        var request = request
        request.scheme = baseURL.scheme
        request.authority = (baseURL.host() ?? "") + (baseURL.port.map { ":\($0)" } ?? "")
        request.path = baseURL.path() + (request.path ?? "")
        let length: Int? = if case .known(let count) = body?.length { Int(count) } else { nil }
        let message = body.map { MessageBody(once: $0, length: length) }
        do {
            let response = try await transport.send(request, body: message, options: AttemptOptions())
            return (response.head, HTTPBody(response.body, length: .unknown, iterationBehavior: .single))
        } catch is TransportError {
            // It does not tell whether the server has seen the request.
            throw Failure()
        }
    }
}
