#if Redis
import HTTPRecovery

/// A command, and who waits for its reply.
///
/// `@unchecked` because all but `flight` and `isAbandoned` is fixed or confined to the connection's thread.
final class Request: @unchecked Sendable {
    /// What a request is for.
    enum Purpose {
        /// Somebody waits for it.
        case caller
        /// The connection's own sign-in.
        case greeting
        /// It takes back another, and nobody waits for it.
        case amends
        /// It goes in front of another, and nobody waits for it.
        case prelude
    }

    let purpose: Purpose
    /// When its caller stops waiting; for one that takes back another, when it is not needed any more.
    let deadline: UInt64
    let flight = Flight<Reply>()

    // MARK: The thread's own

    var command: Command
    /// When it went out; nil before.
    var sentAt: UInt64?
    /// How often it went out: once, but for one that takes back another.
    var sends = 0
    /// Whether its caller was told that it takes too long, or is gone.
    var isGivenUp = false
    /// Whether the command that takes it back is on its way.
    var isTakenBack = false

    init(_ command: Command, purpose: Purpose, deadline: UInt64) {
        self.command = command
        self.purpose = purpose
        self.deadline = deadline
    }

    func fail(_ error: SharedState.StoreError) {
        if sentAt == nil { flight.land(.failure(Unsent(reason: error))) } else { flight.land(.failure(error)) }
    }
}

/// A command that was not sent: another server may be asked.
struct Unsent: Error {
    var reason: SharedState.StoreError
}
#endif
