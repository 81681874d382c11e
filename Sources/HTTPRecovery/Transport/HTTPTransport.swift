public import HTTPTypes

/// Performs single attempts: one request goes out, one response (or an error) comes back.
///
/// A transport never sends a request twice, never follows a redirect and never answers a challenge: all of that is
/// decided above it. If it fails, its ``TransportError`` says how sure it is that the server has not seen the
/// request; everything that may be repeated safely hangs on that.
public protocol HTTPTransport: Sendable {
    /// The name of the transport as it appears in events, such as `curl`.
    var name: String { get }

    /// Whether the transport itself ends an attempt, its response body included, when
    /// ``AttemptOptions/timeout`` has passed.
    ///
    /// If it does not (the default), the pipeline races each attempt against its clock. Nobody waits then for what is
    /// cut off; it is cancelled if no answer has come for a second after, and not while the transport is shut down.
    /// By the machine's clock, ``send(_:body:options:)``, reading bodies and letting go of them run on threads of their own
    /// then, up to eight at a time: where they block, they hold up neither the concurrency runtime nor other clients. Actors
    /// and tasks of the transport's own run where the runtime has them run.
    var enforcesTimeouts: Bool { get }

    /// Whether the transport itself keeps ``AttemptOptions/sendLimit``: it looks at it at the last moment before the
    /// first byte of the request leaves, and ends what is too late with ``TransportError/Code/sendLimitPassed``, never
    /// sent.
    ///
    /// To one that does not (the default) the pipeline hands nothing over when less than ``AttemptOptions/SendLimit/margin`` is left.
    var keepsSendLimits: Bool { get }

    /// Sends the request and returns when the head of the response has arrived; the body streams after it.
    ///
    /// Dropping the returned body unread ends the transfer.
    ///
    /// - Throws: ``TransportError`` for every failure, also from the body's stream; `CancellationError` as soon as
    ///   the task is cancelled, which ends the transfer.
    func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse

    /// Ends all transfers and frees what the transport holds; later attempts throw.
    func shutdown() async
}

extension HTTPTransport {
    /// By default the pipeline enforces timeouts.
    public var enforcesTimeouts: Bool { false }

    /// By default the pipeline keeps a margin.
    public var keepsSendLimits: Bool { false }

    /// By default there is nothing to free.
    public func shutdown() async {}
}

/// What an attempt's transport should know beside the message.
public struct AttemptOptions: Sendable {
    /// What an attempt may take if nobody has said otherwise.
    static let standardTimeout: Duration = .seconds(30)

    /// The time the whole transfer may take, from the call to the last byte of the response body; nil is no limit.
    public var timeout: Duration? {
        get { time.value }
        set { time = PackedDuration(newValue) }
    }

    private var time = PackedDuration.none

    /// Until when the request may leave; nil is no limit.
    public var sendLimit: AttemptOptions.SendLimit? {
        get { limit.optional }
        set { limit = BoxedIfPresent(newValue) }
    }

    private var limit = BoxedIfPresent<AttemptOptions.SendLimit>()

    /// Whether the request goes out on a connection of its own making: what it was answered on an old one was about that
    /// (408, 421).
    ///
    /// Default: false. A transport that cannot choose ignores it.
    public var isOnNewConnection = false

    /// How much of the response's body the caller reads at once, however large the transport's own buffer is: no need to
    /// stop receiving before.
    package var awaitedBytes: UInt32 = 0

    /// Creates options.
    public init(timeout: Duration? = nil, sendLimit: AttemptOptions.SendLimit? = nil) {
        self.time = PackedDuration(timeout)
        self.sendLimit = sendLimit
    }

    init(_ time: PackedDuration) {
        self.time = time
    }
}
