#if SQLite
internal import GRDB
public import HTTPRecovery

/// State shared by the processes of one machine, in an SQLite file: a program that is run twice remembers the lockout.
///
/// ```swift
/// let store = SQLiteStore(path: "/var/lib/billing/recovery.db", namespace: "billing")
/// let runtime = Runtime(store: store)
/// ```
///
/// The file is opened with the first call, and again after a failure; it and its directory, if that has to be made,
/// are for their owner alone. Every call is one transaction: a process that is killed in the middle of it has either
/// done it or not. A call that has begun is carried out even if its caller is cancelled; it waits for other processes no
/// longer than the lock timeout.
///
/// The processes go by the time of their callers, which on one machine is one clock. If that clock is set back, what
/// was closed or leased for a span ends after the span all the same; if it is set forward, no lease ends early.
public final class SQLiteStore: RecoveryStore {
    /// How long a gate that no time opens is remembered: one hour after it was closed last.
    ///
    /// Only a person can open such a gate, and only a success seen by one of the processes tells the others; if none
    /// runs any more, nobody could ever open it. After the hour one attempt finds out how things stand.
    public static let indefiniteGateLifetime = SharedState.Gate.indefiniteLifetime

    let connection: SQLiteConnection
    let namespace: [UInt8]
    let salt: Fingerprint.Salt
    let clock: BootClock
    let gateLimit: Int

    /// Creates a store; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - path: The file, which is made if it is missing, with mode 0600, in a directory of mode 0700. It must be on a
    ///     disk of this machine: the locks of network file systems are not to be trusted.
    ///   - namespace: What keeps the state of several programs in one file apart; default: none.
    ///   - lockTimeout: The longest that a call waits for another process that writes; default: 200 ms, at least 1 ms.
    public convenience init(path: String, namespace: String = "", lockTimeout: Duration = .milliseconds(200)) {
        self.init(path: path, namespace: namespace, lockTimeout: lockTimeout, clock: .system)
    }

    package init(
        path: String,
        namespace: String,
        lockTimeout: Duration = .milliseconds(200),
        clock: BootClock,
        gateLimit: Int = 65_536
    ) {
        self.connection = SQLiteConnection(path: path, lockTimeout: lockTimeout)
        self.namespace = Array(namespace.utf8)
        salt = Fingerprint.Salt(self.namespace)
        self.clock = clock
        self.gateLimit = max(1, gateLimit)
    }

    /// `sqlite`.
    public var name: String { "sqlite" }

    /// Closes the file; later calls throw.
    public func shutdown() async {
        await connection.shutdown()
    }
}
#endif
