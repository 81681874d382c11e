import AuthRecovery
import HTTPRecovery

/// Reads the client again if the server says that a session, or the client itself, is not what this side holds it
/// for: once for all calls that were refused at a time.
///
/// If the session lives, the refused request is sent once more, which the server has not processed. If it is
/// over, it is removed from the store, and the call ends with the conclusion that a person has to sign in; so it does
/// if there is no session, and if the client is refused, too, and nothing is removed then. If the client cannot
/// be read for another reason, that is why the call fails, and nothing is removed.
struct ClientResync: RecoveryPolicy {
    let api: ClerkAPI
    /// The session that the call is made for; nil if none is known.
    let sessionID: String?
    /// Whether the call's path names the session, so that it is the session that is not found.
    let isAboutSession: Bool
    let progress: CallProgress

    func decide(_ failure: FailureContext) -> FailureContext.Decision {
        let outcome = failure.outcome
        guard failure.wasSent, outcome.remedies.contains(.resync) else { return .pass }
        switch outcome.kind {
        case .credentialRejected, .unknown: return .repair(ReadClient(resync: self))
        case .notFound, .stateConflict: return sessionID == nil ? .pass : .repair(ReadClient(resync: self))
        default: return .pass
        }
    }

    private struct ReadClient: FailureContext.Remediation {
        let resync: ClientResync

        var name: String { "resync" }

        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
            let api = resync.api
            guard let ticket = resync.progress.ticket else { return .failed(outcome, reason: .notRecoverable) }
            let client: ClerkClient?
            do {
                client = try await api.reads.client(for: ticket, api.mirror) {
                    try await context.work(isShared: true) { try await api.within($0).readClient() }
                }
            } catch let error as RecoveryError {
                return unread(error, after: outcome)
            }
            // Somebody's session may live there all the same: it is not this side's to use.
            guard let sessionID = resync.sessionID else { return .reauthenticationRequired(after: outcome) }
            if client?.liveSession(sessionID) != nil {
                // What is not found though the session lives is something else.
                return outcome.kind == .notFound ? .failed(outcome, reason: .notRecoverable) : .repaired
            }
            try await api.forget(session: sessionID, context)
            guard isAboutSession(outcome) else { return .failed(outcome, reason: .notRecoverable) }
            return .reauthenticationRequired(after: outcome)
        }

        private func isAboutSession(_ outcome: Outcome) -> Bool {
            outcome.isRefusal || resync.isAboutSession
        }

        /// How the call ends if the client could not be read.
        private func unread(_ error: RecoveryError, after outcome: Outcome) -> FailureContext.RemediationResult {
            if error.kind == .credentialRejected || error.outcome.isRefusal {
                // Asked, and refused with all that is held.
                guard isAboutSession(outcome) else { return .failed(outcome, cause: error) }
                return .reauthenticationRequired(after: outcome)
            }
            // The code and the status stay those of the refusal, which is what the call was answered.
            var doubt = outcome
            doubt.kind = error.kind
            doubt.scope = error.outcome.scope
            doubt.credential = nil
            doubt.remedies = error.remedies
            doubt.retryAfter = error.retryAfter ?? error.outcome.retryAfter
            doubt.transportError = error.outcome.transportError
            doubt.userMessage = ClientResync.doubt
            let reason: History.StopReason = error.reason == .identityChanged ? .identityChanged : .repairFailed
            return .failed(doubt, reason: reason, cause: error)
        }
    }

    /// What a person is told while nobody knows more.
    static let doubt = "The service has refused this. Whether you are still signed in is not known."
}

extension Outcome {
    /// Whether it is a refusal that leaves it open whether the session lives.
    var isRefusal: Bool {
        (kind == .credentialRejected || kind == .unknown) && remedies.contains(.resync)
    }
}

/// How far a call has come.
final class CallProgress: Sendable {
    private let state = Locked<(ticket: ClientMirror.Ticket?, proofs: FormFields)>((nil, FormFields()))

    /// The ticket of the last request that went out.
    var ticket: ClientMirror.Ticket? {
        get { state.withLock { $0.ticket } }
        set { state.withLock { $0.ticket = newValue } }
    }

    /// Has what proves that nobody is a robot go out with the form from now on.
    func add(_ proof: FormFields) {
        state.withLock { $0.proofs.add(proof) }
    }

    /// The form with the proofs.
    func proved(_ form: MessageBody?) -> MessageBody? {
        let proofs = state.withLock { $0.proofs }
        guard !proofs.names.isEmpty, let bytes = (form ?? .empty).bytesInMemory else { return form }
        return MessageBody(Array(bytes) + (bytes.isEmpty ? [] : [UInt8(ascii: "&")]) + Array(proofs.encoded.utf8))
    }
}
