import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A client on a manual clock and a scripted transport.
struct Bench {
    let clock: ManualClock
    let transport: ScriptedTransport
    let client: RecoveringClient
    let events: EventRecorder

    init(
        _ steps: [ScriptedTransport.Step] = [],
        then fallback: ScriptedTransport.Step = .status(200),
        seed: UInt64 = 1,
        classifier: any OutcomeClassifier = HTTPClassifier(),
        enforcesTimeouts: Bool = true,
        clock: ManualClock = ManualClock(),
        store: any RecoveryStore = InMemoryRecoveryStore(),
        @RecoveringClient.PipelineBuilder middlewares: () -> [any ClientLayer] = { [Recovery()] }
    ) {
        transport = ScriptedTransport(steps, then: fallback, enforcesTimeouts: enforcesTimeouts)
        self.clock = clock
        let runtime = Runtime(
            time: clock.timeSource(),
            random: Runtime.RandomSource(seed: seed),
            store: store,
            classifier: classifier
        )
        client = RecoveringClient(transport: transport, runtime: runtime, middlewares: middlewares)
        events = EventRecorder(runtime.events)
    }

    /// Sends while the clock jumps to whatever is slept for.
    func sendSkippingWaits(
        _ request: HTTPRequest = Bench.get,
        body: MessageBody? = nil,
        options: RequestOptions = RequestOptions()
    ) async throws -> RecoveredResponse {
        try await clock.skippingWaits { try await client.send(request, body: body, options: options) }
    }

    /// Returns when so many waits were begun: their ends are fixed then, whenever they are slept for.
    func waitForWaits(_ count: Int) async {
        while events.words.count(where: { $0.hasPrefix("wait") }) < count { await Task.yield() }
    }

    static let get = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/items?key=s3cret")
    static let post = HTTPRequest(method: .post, scheme: "https", authority: "api.example.com", path: "/items")
}

/// Understands `423` with a `lockout` field as a locked account, as a provider's classifier would.
struct LockoutClassifier: OutcomeClassifier {
    var remedies: [Outcome.Remedy] = [.wait]

    func classify(_ exchange: Exchange) -> Outcome {
        guard case .response(let head, _) = exchange.result, head.status.code == 423 else {
            return HTTPClassifier().classify(exchange)
        }
        var outcome = Outcome(.accountLocked, scope: .account, processed: .no, remedies: remedies, status: 423)
        let seconds = HTTPField.Name("lockout").flatMap { head.headerFields[$0] }.flatMap { Int64($0) }
        outcome.lockout = seconds.map { .remaining(.seconds($0)) } ?? .indefinite
        return outcome
    }
}

/// A memory that several clients share, as a back end outside their processes is shared.
struct SharedMemory: MemoryBackedStore {
    private let memory: InMemoryRecoveryStore

    init(_ memory: InMemoryRecoveryStore) {
        self.memory = memory
    }

    var name: String { "shared memory" }

    func asked<Value>(_ question: (InMemoryRecoveryStore) async -> Value) async throws -> Value {
        await question(memory)
    }
}
