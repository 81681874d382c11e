import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A client on a manual clock and a scripted transport, with a token store.
struct Bench {
    let clock = ManualClock()
    let transport: ScriptedTransport
    let client: RecoveringClient
    let events: EventRecorder
    let tokens: InMemoryTokenStore

    static let origin = Origin(scheme: "https", authority: "api.example.com")
    static let get = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/items")

    init(
        _ steps: [ScriptedTransport.Step] = [],
        credentials: Credentials = Credentials(accessToken: "A"),
        tokens other: (any TokenStore)? = nil
    ) {
        let tokens = InMemoryTokenStore(credentials)
        let used: any TokenStore = other ?? tokens
        self.tokens = tokens
        transport = ScriptedTransport(steps)
        let runtime = Runtime.manual(clock)
        client = RecoveringClient(transport: transport, runtime: runtime) {
            Recovery {
                RateLimitBackoff()
                SessionRenewal(used)
                TransientRetry()
            }
            Authorization(used, audience: [Self.origin])
        }
        events = EventRecorder(runtime.events)
    }

    /// Sends while the clock jumps to whatever is slept for.
    func send(_ request: HTTPRequest = Bench.get) async throws -> RecoveredResponse {
        try await clock.skippingWaits { try await client.send(request) }
    }

    var sentTokens: [String?] {
        transport.received.map { $0.request.headerFields[.authorization] }
    }
}
