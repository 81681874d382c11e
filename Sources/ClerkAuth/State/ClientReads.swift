import HTTPRecovery

/// Reads the client once for all calls that were refused at a time.
///
/// A read goes on when the call that began it is cancelled; one that fails is not remembered.
final class ClientReads: Sendable {
    /// A read says nothing of a request that went out after it: the server may have answered it before.
    private struct Read<Content: Sendable>: Sendable {
        /// The requests that had gone out before it.
        var tickets: UInt64
        var content: Content

        func isAbout(_ ticket: ClientMirror.Ticket) -> Bool { ticket.number <= tickets }
    }

    private struct State {
        var flights: [String?: Read<Flight<ClerkClient?>>] = [:]
        var landed: (lineage: String?, read: Read<ClerkClient?>)?
    }

    private let state = Locked(State())

    /// The client as it is read for a call that was refused.
    ///
    /// - Parameters:
    ///   - ticket: The refused request's. A read that went out after it is taken, landed or on its way.
    ///   - mirror: Counts the requests.
    ///   - read: Reads the client.
    /// - Throws: What the read fails with; `CancellationError` as soon as the caller is cancelled.
    func client(
        for ticket: ClientMirror.Ticket,
        _ mirror: ClientMirror,
        _ read: @escaping @Sendable () async throws -> ClerkClient?
    ) async throws -> ClerkClient? {
        let new = Flight<ClerkClient?>()
        enum Way {
            case landed(ClerkClient?)
            case joined(Flight<ClerkClient?>)
            case begun(UInt64)
        }
        let way: Way = state.withLock { state in
            if let (lineage, read) = state.landed, lineage == ticket.lineage, read.isAbout(ticket) {
                return .landed(read.content)
            }
            if let read = state.flights[ticket.lineage], read.isAbout(ticket) { return .joined(read.content) }
            let tickets = mirror.tickets
            state.flights[ticket.lineage] = Read(tickets: tickets, content: new)
            return .begun(tickets)
        }
        let tickets: UInt64
        switch way {
        case .landed(let client): return client
        case .joined(let flight): return try await flight.value
        case .begun(let present): tickets = present
        }
        // Not a child of the caller's task: its cancellation is not the others'.
        Task {
            let result: Result<ClerkClient?, any Error>
            do {
                result = .success(try await read())
            } catch {
                result = .failure(error)
            }
            state.withLock { state in
                // A later read may have taken its place.
                if state.flights[ticket.lineage]?.content === new { state.flights[ticket.lineage] = nil }
                guard case .success(let client) = result else { return }
                if let (lineage, read) = state.landed, lineage == ticket.lineage, read.tickets > tickets { return }
                state.landed = (ticket.lineage, Read(tickets: tickets, content: client))
            }
            new.land(result)
        }
        return try await new.value
    }
}
