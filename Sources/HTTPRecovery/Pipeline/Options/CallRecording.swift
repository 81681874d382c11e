/// What has happened in one call and what was decided: enough to decide it again.
///
/// It holds words, times and random numbers; no URL, header, body, account, token or text of a server's, so it can be
/// kept and sent around. ``RequestOptions/recorder`` takes it, ``Recovery/replay(_:policies:)`` decides it again.
public struct CallRecording: Sendable, Hashable {
    /// One event, with what was decided by.
    public struct Entry: Sendable, Hashable {
        /// The event, as a JSON object.
        public let event: JSONValue
        /// What was decided, in words.
        public let action: String
        /// The time that was left, if it was asked for: the outer nil says that it was not, the inner that there was
        /// no bound.
        let remaining: Duration??
        /// The random numbers that were drawn.
        let random: [Double]
    }

    /// The number of the call in events.
    public let call: Int
    /// The request's method.
    public let method: String
    /// The most attempts of the call.
    public let maxAttempts: Int
    /// The longest single wait.
    public let maxWait: Duration
    /// The events, in order.
    public let entries: [Entry]

    /// Whether the first attempt that was provably not processed was made again for nothing.
    public let resendsTransparently: Bool

    init(
        call: Int,
        method: String,
        maxAttempts: Int,
        maxWait: Duration,
        resendsTransparently: Bool = false,
        entries: [Entry]
    ) {
        self.resendsTransparently = resendsTransparently
        self.call = call
        self.method = method
        self.maxAttempts = maxAttempts
        self.maxWait = maxWait
        self.entries = entries
    }
}
