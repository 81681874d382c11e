#if Redis
public import HTTPRecovery

/// State shared by a fleet, in Redis (5 or later) or Valkey.
///
/// It may be one server, a primary that Sentinels know, or a cluster. All tasks share one connection to each, on which
/// commands go out together; it is made with the first command and made again after it was lost. Each function is one
/// script, which the server runs as one step. No command is sent twice. See <doc:RedisRecoveryStore>.
///
/// Every function throws `SharedState.StoreError` if the server cannot be reached, does not answer within
/// ``Configuration/commandTimeout`` or refuses, and `CancellationError` as soon as the task is cancelled.
public final class RedisStore: RecoveryStore {
    /// What the store was set up with.
    public let configuration: Configuration

    let router: Router
    let keys: Keys
    private let watch: GateWatch

    /// Creates a store; nothing is connected yet.
    ///
    /// - Throws: `SharedState.StoreError` when the configuration has a value that cannot work.
    public init(configuration: Configuration = Configuration()) throws(SharedState.StoreError) {
        self.configuration = try configuration.validated()
        if configuration.tls != nil { _ = TLSContext.globalState }
        router = Router(self.configuration)
        keys = Keys(namespace: configuration.namespace, secret: configuration.fingerprintSecret?.text ?? "")
        watch = GateWatch(router, keys: keys, configuration: self.configuration)
    }

    /// Creates a store for the server at a URL, as ``Configuration/init(url:)`` reads it.
    ///
    /// - Throws: `SharedState.StoreError` when the URL cannot be read; it shows nothing of it.
    public convenience init(url: String) throws(SharedState.StoreError) {
        try self.init(configuration: Configuration(url: url))
    }

    deinit {
        watch.abandon()
        router.abandon()
    }

    /// `redis`.
    public var name: String { "redis" }

    /// Whether any gate may be closed, as of ``Configuration/gateFreshness`` ago at the most; it asks nobody.
    public var mayHoldGates: Bool { watch.mayHold { nil } }

    /// Whether a gate among the keys may be closed, as of ``Configuration/gateFreshness`` ago at the most; it asks nobody.
    public func mayHoldGates(among keys: [SharedState.Gate.Key]) -> Bool {
        watch.mayHold { keys.map { self.keys.gate($0).name } }
    }

    /// Closes the connections and ends their threads; later calls throw.
    public func shutdown() async {
        await watch.stop()
        await router.stop()
    }

    /// Runs a script.
    func run(_ script: Script, on keys: [Keys.Key], _ arguments: [UInt8]...) async throws -> Reply {
        try await router.ask(Command(script, keys: keys, arguments: arguments))
    }
}
#endif
