public import HTTPTypes

/// Spreads requests over time, so that a limit that is known beforehand is not run into.
///
/// Each attempt takes a place, waits for it, and goes out unless a gate is closed by then. The one who implements it
/// keeps the places; it must not block.
public protocol RequestPacing: Sendable {
    /// Takes the next place for a request, unless it is farther away than the limit.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - now: The present.
    ///   - limit: The longest that the caller can wait.
    /// - Returns: The place, whose delay is zero where the request may go out at once; one beyond the limit is not taken.
    func takePlace(for request: HTTPRequest, at now: TimeSource.Instant, within limit: Duration) -> PacingPlace

    /// Gives a place back, because the request is not sent after all.
    func giveBack(_ place: PacingPlace)
}

/// A request's place in the order of ``RequestPacing``.
public struct PacingPlace: Sendable, Hashable {
    /// The line that the place is in.
    public var line: String
    /// When the request may go out.
    public var time: TimeSource.Instant
    /// How long that is from when the place was taken.
    public var delay: Duration

    /// Creates a place.
    public init(line: String, time: TimeSource.Instant, delay: Duration) {
        self.line = line
        self.time = time
        self.delay = delay
    }
}
