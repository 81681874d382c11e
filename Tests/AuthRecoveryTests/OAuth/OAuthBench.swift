import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// An OAuth client on a manual clock and a scripted server.
struct OAuthBench {
    typealias Step = ScriptedTransport.Step

    let clock = ManualClock()
    let transport: ScriptedTransport
    let client: RecoveringClient
    let events: EventRecorder
    let oauth: OAuthClient

    static let issuer = "https://id.example.com"
    static let endpoints: [OAuthServer.Endpoint: String] = [
        .token: "\(issuer)/token", .authorization: "\(issuer)/authorize", .deviceAuthorization: "\(issuer)/device",
        .revocation: "\(issuer)/revoke", .introspection: "\(issuer)/introspect",
    ]
    /// 2030-01-01T00:00:00Z, where the manual clock begins.
    static let start = Timestamp(secondsSinceEpoch: 1_893_456_000)

    init(
        _ steps: [Step] = [],
        authentication: any ClientAuthentication = .none,
        endpoints: [OAuthServer.Endpoint: String] = OAuthBench.endpoints,
        clientID: String = "app",
        seed: UInt64 = 1,
        attemptLayers: [any ClientLayer] = [],
        @RecoveringClient.PipelineBuilder middlewares: () -> [any ClientLayer] = { [Recovery()] },
        holdUp: (@Sendable (ManualClock, Int) -> Void)? = nil
    ) throws {
        // A server that has no more to say has failed: no test goes on by accident.
        transport = ScriptedTransport(steps, then: .status(418), holdUp: { [clock] in holdUp?(clock, $0) })
        let runtime = Runtime(time: clock.timeSource(), random: Runtime.RandomSource(seed: seed))
        client = RecoveringClient(transport: transport, runtime: runtime, middlewares: middlewares)
        events = EventRecorder(runtime.events)
        oauth = OAuthClient(
            server: try OAuthServer(issuer: Self.issuer, endpoints: endpoints),
            clientID: clientID,
            authentication: authentication,
            client: client,
            attemptLayers: attemptLayers
        )
    }

    /// Does something while the clock jumps to whatever is slept for.
    func skippingWaits<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await clock.skippingWaits(body)
    }

    /// The error that something ends with.
    func failure<Result: Sendable>(_ body: () async throws -> Result) async throws -> RecoveryError {
        let error = await #expect(throws: RecoveryError.self) {
            _ = try await skippingWaits { try await body() }
        }
        return try #require(error)
    }

    /// Each request as method, path and body.
    var sent: [String] {
        transport.received.map { "\($0.request.method.rawValue) \($0.request.path ?? "") \($0.text)" }
    }

    /// The waits, as seconds since the clock's start at which something was sent again.
    var waits: [String] { events.words.filter { $0.hasPrefix("wait") } }
}

extension ScriptedTransport.Step {
    /// Tokens.
    static func tokens(_ more: String = "", _ fields: [String: String] = [:]) -> ScriptedTransport.Step {
        .status(200, fields, body: #"{"access_token":"A2","token_type":"Bearer","expires_in":3600\#(more)}"#)
    }

    /// An error by its word.
    static func oauth(
        _ word: String,
        status: Int = 400,
        _ fields: [String: String] = [:]
    ) -> ScriptedTransport.Step {
        .status(status, fields, body: #"{"error":"\#(word)","error_description":"d"}"#)
    }
}
