import AuthRecovery
import HTTPRecovery

/// Reads the client again where the server says that a session, or the client itself, is not what this side holds it
/// for: once for all calls that were refused at a time.
///
/// Where the session lives, the refused request is sent once more, which the server has not processed. Where it is
/// over, it is removed from the store, and the call ends with the conclusion that a person has to sign in. Where the
/// client cannot be read, the refusal stands and nothing is removed.
struct ClientResync: RecoveryPolicy {
    let api: ClerkAPI
    /// The session that the call is made for.
    let sessionID: String
    /// Whether the call's path names the session, so that it is the session that is not found.
    let isAboutSession: Bool
    let progress: CallProgress

    func decide(_ situation: Situation) -> Decision {
        let outcome = situation.outcome
        guard situation.wasSent, outcome.remedies.contains(.resync) else { return .pass }
        switch outcome.kind {
        case .credentialRejected, .notFound, .stateConflict: return .repair(ReadClient(resync: self))
        default: return .pass
        }
    }

    private struct ReadClient: Repair {
        let resync: ClientResync

        var name: String { "resync" }

        func perform(_ outcome: Outcome, context: CallContext) async throws -> RepairResult {
            let api = resync.api
            guard let ticket = resync.progress.ticket else { return .failed(outcome, reason: .notRecoverable) }
            let reading = try await api.reads.reading(for: ticket, api.mirror) { try await api.readClient() }
            if reading.client?.liveSession(resync.sessionID) != nil {
                // What is not found though the session lives is something else.
                return outcome.kind == .notFound ? .failed(outcome, reason: .notRecoverable) : .repaired
            }
            try await api.forget(session: resync.sessionID, call: reading.call)
            guard outcome.kind == .credentialRejected || resync.isAboutSession else {
                return .failed(outcome, reason: .notRecoverable)
            }
            return .reauthenticationRequired(after: outcome)
        }
    }
}

/// How far a call has come.
final class CallProgress: Sendable {
    private let state = Locked<ClientMirror.Ticket?>(nil)

    /// The ticket of the last request that went out.
    var ticket: ClientMirror.Ticket? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
