import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The sessions that this machine has signed out of without the server's knowledge, as the credentials keep them.
enum PendingSignOuts {
    /// Stands for all sessions that the client had.
    static let all = "*"

    private static let key = "pending_sign_outs"
    /// More are not remembered: then all are ended.
    private static let capacity = 32

    static func read(_ credentials: Credentials) -> [String] {
        let member = credentials.others.last { $0.key == key }
        return (member?.value.array ?? []).prefix(capacity).compactMap(\.string)
    }

    static func write(_ ids: [String], to credentials: inout Credentials) {
        credentials.others.removeAll { $0.key == key }
        guard !ids.isEmpty else { return }
        let isAll = ids.contains(all) || ids.count > capacity
        let kept = isAll ? [all] : ids
        credentials.others.append(JSONValue.Member(key, .array(kept.map { .string($0) })))
    }
}

extension ClerkAPI {
    /// Has the server end a session, or all; one that it does not know counts as ended.
    func end(session id: String?) async throws {
        var call = Call(method: .delete, path: "/client/sessions")
        if let id {
            call = Call(
                method: .post,
                path: "/client/sessions/\(FormFields.encode(segment: id))/remove",
                body: .form(FormFields()),
                // Ending a session twice ends it once.
                resend: .replayable
            )
        }
        do {
            _ = try await send(call)
        } catch let error as RecoveryError where Self.saysGone(error) {
            // That is what was wanted.
        }
    }

    /// Has the server end the client; one that it does not know, or whose token it refuses, counts as ended.
    func endClient() async throws {
        do {
            _ = try await send(Call(method: .delete, path: "/client"))
        } catch let error as RecoveryError where Self.saysGone(error) || error.outcome.isRefusal {
            // That is what was wanted.
        }
    }

    /// Whether an error says that there is no such session, or no such client, any more.
    private static func saysGone(_ error: RecoveryError) -> Bool {
        switch error.kind {
        case .notFound, .credentialRejected, .reauthenticationRequired: true
        case .stateConflict: error.outcome.code == "client_not_found"
        default: false
        }
    }

    /// Keeps in mind that the server is still to be told of a sign-out.
    func remember(signOut id: String) async throws {
        try await tokens.update { credentials in
            let pending = PendingSignOuts.read(credentials).filter { $0 != id }
            PendingSignOuts.write(pending + [id], to: &credentials)
        }
    }

    /// Has nothing in mind any more of a sign-out that the server knows of; nil is all.
    func forget(signOut id: String?) async throws {
        let isPending = !PendingSignOuts.read(try await tokens.read().credentials).isEmpty
        guard isPending else { return }
        try await tokens.update { credentials in
            let left = id.map { id in PendingSignOuts.read(credentials).filter { $0 != id } } ?? []
            PendingSignOuts.write(left, to: &credentials)
        }
    }

    /// Tells the server of the sign-outs that it does not know of yet, as far as it can be told now.
    ///
    /// - Throws: `CancellationError` as soon as the caller is cancelled; nothing else.
    func finishSignOuts() async throws {
        // A store that cannot be read fails whatever comes next.
        guard let stored = try? await tokens.read().credentials else { return try Task.checkCancellation() }
        for id in PendingSignOuts.read(stored) {
            do {
                // Another session may have begun meanwhile on this machine, which "all" did not mean.
                if stored.clientToken == nil {
                    // With the token went all that it could end.
                } else if id == PendingSignOuts.all {
                    for session in try await readClient()?.sessions ?? []
                    where session.status.isLive && session.id != stored.sessionID {
                        try await end(session: session.id)
                    }
                } else if id != stored.sessionID {
                    try await end(session: id)
                }
                try await forget(signOut: id)
            } catch {
                // Later, then.
                return try Task.checkCancellation()
            }
        }
    }
}
