import HTTPRecovery

/// Reads the client once for all calls that were refused at a time.
///
/// A read goes on when the call that began it is cancelled; one that fails is not remembered.
final class ClientReads: Sendable {
    /// What a read has told.
    struct Reading: Sendable {
        var client: ClerkClient?
        /// The number of the call that has read it.
        var call: Int
    }

    private struct Landed {
        var lineage: String?
        /// The requests that had gone out when it landed.
        var tickets: UInt64
        var reading: Reading
    }

    private struct State {
        var flights: [String?: Flight<Reading>] = [:]
        var landed: Landed?
    }

    private let state = Locked(State())

    /// What is read for a call that was refused.
    ///
    /// - Parameters:
    ///   - ticket: The refused request's. Where a read has landed since it went out, that one is taken.
    ///   - mirror: Counts the requests.
    ///   - read: Reads the client.
    /// - Throws: What the read fails with; `CancellationError` as soon as the caller is cancelled.
    func reading(
        for ticket: ClientMirror.Ticket,
        _ mirror: ClientMirror,
        _ read: @escaping @Sendable () async throws -> Reading
    ) async throws -> Reading {
        let new = Flight<Reading>()
        enum Way {
            case landed(Reading)
            case joined(Flight<Reading>)
            case begun
        }
        let way: Way = state.withLock { state in
            if let landed = state.landed, landed.lineage == ticket.lineage, ticket.number <= landed.tickets {
                return .landed(landed.reading)
            }
            if let flight = state.flights[ticket.lineage] { return .joined(flight) }
            state.flights[ticket.lineage] = new
            return .begun
        }
        switch way {
        case .landed(let reading): return reading
        case .joined(let flight): return try await flight.value
        case .begun: break
        }
        // Not a child of the caller's task: its cancellation is not the others'.
        Task {
            let result: Result<Reading, any Error>
            do {
                result = .success(try await read())
            } catch {
                result = .failure(error)
            }
            state.withLock { state in
                state.flights[ticket.lineage] = nil
                if case .success(let reading) = result {
                    state.landed = Landed(lineage: ticket.lineage, tickets: mirror.tickets, reading: reading)
                }
            }
            new.land(result)
        }
        return try await new.value
    }
}
