import HTTPRecovery

/// What the server has told of the client, put in order: an answer that comes late never replaces what a newer one has
/// told.
///
/// Each request takes a ticket as it goes out. What its answer tells counts if the client token is still of the client
/// that it was sent for, and if no answer to a later request has come before it, unless the server's `Date` says that
/// it is newer all the same.
final class ClientMirror: Sendable {
    /// A request on its way.
    struct Ticket: Sendable, Hashable {
        /// The requests so far, this one included.
        var number: UInt64
        /// The client whose token it presents: ``ClientToken/lineage(of:)``.
        var lineage: String?
    }

    private struct State {
        var tickets: UInt64 = 0
        /// Whose client it is.
        var lineage: String?
        /// The request whose answer has told it.
        var number: UInt64 = 0
        /// The server's time of that answer.
        var date: Timestamp?
        var client: ClerkClient?
        var isKnown = false
        var observers: [UInt64: AsyncStream<ClerkClient?>.Continuation] = [:]
        var nextObserver: UInt64 = 0
    }

    private let state = Locked(State())

    /// A ticket for a request that goes out now.
    func begin(_ lineage: String?) -> Ticket {
        state.withLock { state in
            state.tickets += 1
            return Ticket(number: state.tickets, lineage: lineage)
        }
    }

    /// The requests that have gone out so far.
    var tickets: UInt64 {
        state.withLock { $0.tickets }
    }

    /// Takes what an answer tells, unless it comes too late.
    ///
    /// - Parameters:
    ///   - client: The client; nil if the server says that there is none.
    ///   - ticket: The request's.
    ///   - present: The lineage of the token that is stored now.
    ///   - own: The lineage that the answer itself has brought, if its token was stored.
    ///   - date: The server's time of the answer.
    /// - Returns: Whether it was taken.
    @discardableResult
    func take(
        _ client: ClerkClient?,
        ticket: Ticket,
        present: String?,
        own: String? = nil,
        date: Timestamp? = nil
    ) -> Bool {
        let observers: [AsyncStream<ClerkClient?>.Continuation]? = state.withLock { state in
            guard present == ticket.lineage || (own != nil && present == own) else { return nil }
            let isSameClient = state.isKnown && state.lineage == present
            if isSameClient, ticket.number < state.number {
                guard let date, let known = state.date, date > known else { return nil }
            }
            let isNews = !isSameClient || state.client != client
            state.lineage = present
            state.number = max(ticket.number, isSameClient ? state.number : 0)
            state.date = date ?? state.date
            state.client = client
            state.isKnown = true
            return isNews ? Array(state.observers.values) : []
        }
        for observer in observers ?? [] { observer.yield(client) }
        return observers != nil
    }

    /// What is known of the client of a lineage; nil if nothing is, and a nil in it if it is known that there is
    /// none.
    func known(_ lineage: String?) -> ClerkClient?? {
        state.withLock { $0.isKnown && $0.lineage == lineage ? .some($0.client) : nil }
    }

    /// What is told from now on.
    func changes() -> AsyncStream<ClerkClient?> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ClerkClient?.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let id = state.withLock { state in
            state.nextObserver += 1
            state.observers[state.nextObserver] = continuation
            return state.nextObserver
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.observers.removeValue(forKey: id) }
        }
        return stream
    }
}
