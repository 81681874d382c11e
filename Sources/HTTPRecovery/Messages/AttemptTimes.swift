/// What whoever judges servers by their attempts wants to know of one that has ended.
struct AttemptTimes: Sendable {
    /// How long it took.
    var elapsed: Duration
    /// When it ended, since the start of the clock.
    var end: Duration
}
