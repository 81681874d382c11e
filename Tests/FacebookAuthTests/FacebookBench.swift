import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A client of Graph on a manual clock and a scripted server.
struct FacebookBench {
    typealias Step = ScriptedTransport.Step

    let clock = ManualClock()
    let transport: ScriptedTransport
    let client: RecoveringClient
    let tokens: any TokenStore
    let facebook: Facebook
    let events: EventRecorder

    static let app = FacebookApp(id: "77", clientToken: "ct")
    static let service = FacebookApp(id: "77", secret: "s3cret", clientToken: "ct", prover: ReversingProver())
    static let held = Credentials(accessToken: "tok1")
    /// The same, of a person who is known: the one of `me`.
    static let ada = Credentials(
        accessToken: "tok1",
        others: [.init("facebook_profile", ["id": "1", "name": "Ada"])]
    )

    init(
        _ steps: [Step] = [],
        app: FacebookApp = FacebookBench.app,
        credentials: Credentials = FacebookBench.held,
        tokens: (any TokenStore)? = nil,
        configuration: FacebookConfiguration = FacebookConfiguration(),
        store: any RecoveryStore = InMemoryRecoveryStore(),
        @RecoveringClient.PipelineBuilder middlewares: () -> [any ClientLayer] = { [Recovery()] },
        holdUp: (@Sendable (ManualClock, Int) -> Void)? = nil
    ) throws {
        // A server that has no more to say has failed: no test goes on by accident.
        transport = ScriptedTransport(steps, then: .status(418), holdUp: { [clock] in holdUp?(clock, $0) })
        let runtime = Runtime(time: clock.timeSource(), random: Runtime.RandomSource(seed: 1), store: store)
        client = RecoveringClient(transport: transport, runtime: runtime, middlewares: middlewares)
        self.tokens = tokens ?? InMemoryTokenStore(credentials)
        facebook = try Facebook(app: app, client: client, tokens: self.tokens, configuration: configuration)
        events = EventRecorder(runtime.events)
    }

    /// Does something while the clock jumps to whatever is slept for.
    func skippingWaits<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await clock.skippingWaits(body)
    }

    var credentials: Credentials {
        get async throws { try await tokens.read().credentials }
    }

    /// Each request as method, path and body.
    var sent: [String] {
        transport.received.map { received in
            let line = "\(received.request.method.rawValue) \(received.request.path ?? "")"
            return received.text.isEmpty ? line : "\(line) \(received.text)"
        }
    }

    /// What each request presented in its field.
    var presented: [String?] { transport.received.map { $0.request.headerFields[.authorization] } }
}

/// A prover that needs no cryptography: it turns the token round.
struct ReversingProver: AppSecretProver {
    func proof(of token: Secret) -> Secret { Secret(String(token.reveal().reversed())) }
}

/// Tokens that cannot be read for a while.
final class LosableTokens: TokenStore {
    let isLost = Locked(false)
    private let memory: InMemoryTokenStore

    init(_ credentials: Credentials) { memory = InMemoryTokenStore(credentials) }

    func read() async throws -> Credentials.Stored {
        if isLost.withLock({ $0 }) { throw Credentials.StoreError("the disk is gone") }
        return await memory.read()
    }

    func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored? {
        await memory.replace(version: version, with: credentials)
    }

    func acquireLease(for duration: Duration, time: TimeSource) async throws -> (any Credentials.Lease)? {
        await memory.acquireLease(for: duration, time: time)
    }
}

/// A person who remembers what they were shown.
final class Person: ChallengeResponder {
    private let state = Locked<(shown: [Challenge], waits: [String])>(([], []))

    var shown: [Challenge] { state.withLock { $0.shown } }
    var waits: [String] { state.withLock { $0.waits } }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer { throw Challenge.NoAnswer(challenge.key) }
    func show(_ challenge: Challenge) async { state.withLock { $0.shown.append(challenge) } }
    func waiting(for reason: Outcome.Kind, duration: Duration, until: Timestamp) async {
        state.withLock { $0.waits.append("\(reason.rawValue) \(duration.inSeconds)") }
    }
}

extension ScriptedTransport.Step {
    static func answer(_ body: String, _ fields: [String: String] = [:]) -> Self { .status(200, fields, body: body) }

    static func error(_ code: Int, _ subcode: Int? = nil, _ status: Int = 400, _ fields: [String: String] = [:])
        -> Self
    {
        .status(status, fields, body: Recorded.error(code, subcode))
    }

    static var me: Self { .answer(#"{"id":"1","name":"Ada"}"#) }

    /// What the person has said about each permission.
    static var permissions: Self { .answer(#"{"data":[{"permission":"email","status":"granted"}]}"#) }

    static var device: Self {
        .answer(
            #"{"code":"dev1","user_code":"ABCD","verification_uri":"https://facebook.com/device","expires_in":420,"interval":5}"#
        )
    }

    static var pending: Self { .error(31, 1_349_174) }

    static func token(_ token: String = "tok2", lifetime: Int? = 5_183_999) -> Self {
        let span = lifetime.map { #","expires_in":\#($0)"# } ?? ""
        return .answer(#"{"access_token":"\#(token)","token_type":"bearer"\#(span)}"#)
    }
}
