package import HTTPTypes

/// The server's wall clock as far as a response tells it.
///
/// Dates and epochs in a server's fields are measured from its own `Date` field if that is valid, so a local clock
/// that is wrong by an hour does not turn a wait of a second into one of an hour.
package struct ServerClock: Sendable, Hashable {
    /// The server's time when it made the response; the local time if it does not say.
    package let now: Timestamp

    /// How far the server's clock is ahead of the local one; nil if the response has no valid `Date`.
    package let offset: Duration?

    /// Reads the clock from a response.
    ///
    /// - Parameters:
    ///   - fields: The response's header fields.
    ///   - receivedAt: The local time at which the response came.
    package init(_ fields: HTTPFields, receivedAt: Timestamp) {
        let date = fields.singleLine("date").flatMap { Timestamp(httpDate: $0, now: receivedAt) }
        self.now = date ?? receivedAt
        self.offset = date?.elapsed(since: receivedAt)
    }

    /// The time from the server's present to the timestamp; zero if it has passed.
    package func time(until timestamp: Timestamp) -> Duration {
        max(.zero, timestamp.elapsed(since: now))
    }
}
