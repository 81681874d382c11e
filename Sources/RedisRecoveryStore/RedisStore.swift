#if Redis
public import HTTPRecovery

/// State shared by a fleet, in Redis (5 or later) or Valkey.
///
/// All tasks share one connection, on which commands go out together; it is made with the first command and made again
/// after it was lost. Each function is one script, which the server runs as one step. No command is sent twice. See
/// <doc:RedisRecoveryStore>.
///
/// Every function throws `SharedState.StoreError` if the server cannot be reached, does not answer within
/// ``Configuration/commandTimeout`` or refuses, and `CancellationError` as soon as the task is cancelled.
public final class RedisStore: RecoveryStore {
    /// What the store was set up with.
    public let configuration: Configuration

    let connection: Connection
    let keys: Keys

    /// Creates a store; nothing is connected yet.
    ///
    /// - Throws: `SharedState.StoreError` when the configuration has a value that cannot work.
    public init(configuration: Configuration = Configuration()) throws(SharedState.StoreError) {
        self.configuration = try configuration.validated()
        self.connection = Connection(self.configuration)
        self.keys = Keys(
            namespace: configuration.namespace,
            secret: configuration.fingerprintSecret?.text ?? ""
        )
    }

    /// Creates a store for the server at a URL, as ``Configuration/init(url:)`` reads it.
    ///
    /// - Throws: `SharedState.StoreError` when the URL cannot be read; it shows nothing of it.
    public convenience init(url: String) throws(SharedState.StoreError) {
        try self.init(configuration: Configuration(url: url))
    }

    deinit {
        connection.abandon()
    }

    /// `redis`.
    public var name: String { "redis" }

    /// Closes the connection and ends its thread; later calls throw.
    public func shutdown() async {
        await connection.stop()
    }

    /// Runs a script.
    func run(_ script: Script, on keys: [String], _ arguments: [UInt8]...) async throws -> Reply {
        try await connection.perform(Command(script, keys: keys, arguments: arguments))
    }
}
#endif
