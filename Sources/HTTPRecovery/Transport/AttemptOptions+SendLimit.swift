extension AttemptOptions {
    /// Until when a request may leave: it is never sent at or after the instant.
    ///
    /// The instant is compared with the clock it belongs to, each time anew: a duration that was computed beforehand would
    /// miss that a thread was held up after the computation.
    public struct SendLimit: Sendable {
        /// How long before the limit the pipeline hands the last request to a transport that does not keep limits itself
        /// (``HTTPTransport/keepsSendLimits``): it has to cover connecting and waiting for a connection; 1 second.
        public static let margin: Duration = .seconds(1)

        /// The first instant at which the request must not leave any more.
        public let instant: TimeSource.Instant

        private let time: TimeSource

        /// Creates a limit.
        ///
        /// - Parameters:
        ///   - instant: The first instant at which the request must not leave any more.
        ///   - time: The source that the instant belongs to.
        public init(_ instant: TimeSource.Instant, time: TimeSource) {
            self.instant = instant
            self.time = time
        }

        /// Whether the instant has come: the request must not leave any more.
        public var hasPassed: Bool { isReached(in: .zero) }

        /// Whether the instant comes within the duration.
        ///
        /// - Parameter duration: The time that the request may still be held up before it leaves.
        public func isReached(in duration: Duration) -> Bool {
            time.now.advanced(by: duration) >= instant
        }
    }
}

extension HTTPTransport {
    /// Whether a request with the limit is not handed over any more.
    func isTooLate(_ limit: AttemptOptions.SendLimit) -> Bool {
        limit.isReached(in: keepsSendLimits ? .zero : AttemptOptions.SendLimit.margin)
    }

    /// Refuses a request that would be handed over too late.
    func checkSendLimit(of options: AttemptOptions) throws(TransportError) {
        guard let limit = options.sendLimit, isTooLate(limit) else { return }
        throw TransportError(.sendLimitPassed, .neverSent, message: "it was too late to send the request")
    }
}
