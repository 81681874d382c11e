import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes

/// A client whose tokens are renewed by a rotating server, on a manual clock.
struct RenewalBench {
    let clock: ManualClock
    let time: TimeSource
    let server: RotatingServer
    let transport: ScriptedTransport
    let tokens: TokenManager
    let store: any TokenStore
    let client: RecoveringClient
    let events: EventRecorder

    init(
        _ steps: [RotatingServer.Step] = [],
        reuse: RefreshTokenGrant.Reuse = .undeclared,
        grace: Duration = .zero,
        expiresIn: Duration? = .seconds(3600),
        rotates: Bool = true,
        credentials: Credentials = RotatingServer.first,
        store other: (any TokenStore)? = nil,
        options: TokenManager.RenewalOptions = Self.patient,
        clock: ManualClock = ManualClock(),
        server other2: RotatingServer? = nil,
        deadline: Duration? = nil
    ) {
        self.clock = clock
        let time = clock.timeSource()
        self.time = time
        let server =
            other2
            ?? RotatingServer(
                steps,
                reuse: reuse,
                grace: grace,
                expiresIn: expiresIn,
                rotates: rotates,
                time: time
            )
        self.server = server
        transport = ScriptedTransport(
            then: .run { received in
                let token = received.request.headerFields[.authorization].map { String($0.dropFirst("Bearer ".count)) }
                let isAccepted = server.accepts(token)
                return .scripted(
                    isAccepted ? 200 : 401,
                    isAccepted ? [:] : ["www-authenticate": "Bearer error=\"invalid_token\""]
                )
            }
        )
        let store = other ?? InMemoryTokenStore(credentials)
        self.store = store
        let tokens = TokenManager(store: store, renewer: server, options: options)
        self.tokens = tokens
        let runtime = Runtime(time: time, random: Runtime.RandomSource(seed: 3))
        client = RecoveringClient(transport: transport, runtime: runtime) {
            if let deadline { Deadline(deadline) }
            Recovery {
                RateLimitBackoff()
                SessionRenewal(tokens)
                TransientRetry()
            }
            Authorization(tokens, audience: [Bench.origin])
        }
        events = EventRecorder(runtime.events)
    }

    func send() async throws -> HTTPResponse.Status {
        try await client.send(Bench.get).status
    }

    /// Options whose guards lie far beyond every pause, so that skipping pauses does not set them off.
    static let patient = TokenManager.RenewalOptions(timeout: .seconds(2000), lease: .seconds(1000))

    /// Sends while the clock jumps to whatever is waited for.
    func sendSkipping() async throws -> HTTPResponse.Status {
        try await clock.skippingWaits { try await send() }
    }

    var credentials: Credentials {
        get async throws { try await store.read().credentials }
    }

    /// The words of the events that speak of renewals and credentials.
    var words: [String] {
        events.words.filter { $0.hasPrefix("refresh") || $0.hasPrefix("clear") }
    }
}
