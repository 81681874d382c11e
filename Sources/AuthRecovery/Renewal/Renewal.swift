import HTTPRecovery

/// Carries one renewal out, as its plan says; it belongs to no caller and is not cancelled with one.
struct Renewal: Sendable {
    let store: any TokenStore
    let renewer: any TokenRenewer
    let options: TokenManager.RenewalOptions
    /// The call for which it is done.
    let call: CallContext
    /// Told of credentials that are stored, and of those that they replace.
    let onRenew: @Sendable (Credentials, Credentials) -> Void
    /// Told of a credential that is cleared.
    let onClear: @Sendable (Outcome.CredentialKind) -> Void

    private var time: TimeSource { call.runtime.time }

    /// Renews the credentials, unless they are not those of the version any more.
    func run(_ kind: Outcome.CredentialKind, version: UInt64?) async -> RenewalEnd {
        await run(RenewalPlan(kind, version: version, reuse: renewer.reuse, end: end))
    }

    /// Stores what an earlier renewal could not store.
    func save(_ unsaved: UnsavedRenewal) async -> RenewalEnd {
        await run(RenewalPlan(saving: unsaved, reuse: renewer.reuse, end: end))
    }

    private var end: TimeSource.Instant { time.now.advanced(by: options.timeout) }

    private func run(_ plan: RenewalPlan) async -> RenewalEnd {
        let operation = RecoveryOperation(for: call, until: plan.end)
        var hold: Hold?
        let end: RenewalEnd
        do {
            end = try await operation.run(plan) { await perform($0, holding: &hold, until: plan.end, in: $1) }
        } catch {
            end = .failed(by: error)
        }
        if let hold {
            operation.end(end.outcome == nil ? .ok : .failed)
            hold.heartbeat.cancel()
            await hold.lease.release()
        }
        return end
    }

    /// A lease, and what extends it for as long as it is held.
    private struct Hold {
        let lease: any Credentials.Lease
        let heartbeat: Task<Void, any Error>
    }

    private func perform(
        _ step: RenewalPlan.Step,
        holding hold: inout Hold?,
        until end: TimeSource.Instant,
        in operation: RecoveryOperation
    ) async -> RenewalPlan.Answer {
        do {
            switch step {
            case .read: return .found(try await store.read(), at: time.moment)
            case .acquireLease:
                let lease = try await store.acquireLease(for: options.lease, time: time)
                hold = lease.map { Hold(lease: $0, heartbeat: $0.heartbeat(for: options.lease, time)) }
                return .acquired(lease != nil)
            case .extendLease: return .extended(await hold?.lease.extend(for: options.lease) ?? false)
            case .replace(let version, let changed, let change):
                let stored = try await store.replace(version: version, with: changed)
                if stored != nil { tell(change, changed) }
                return .replaced(stored)
            case .sleep(let delay):
                try await time.sleep(for: delay)
                return .slept
            case .present(let use):
                do {
                    return .renewed(try await present(use, until: end, in: operation))
                } catch {
                    return .refused(error)
                }
            }
        } catch {
            return .failed(error)
        }
    }

    private func tell(_ change: RenewalPlan.Change, _ stored: Credentials) {
        switch change {
        case .keep(_, let sent, _): onRenew(stored, sent)
        case .clear(let kind, _, _, _): onClear(kind)
        case .mark, .forget: break
        }
    }

    /// Presents what renews within the grace.
    ///
    /// What waits for a limit to pass must not go out after the grace, nor be cut off while it waits: then nobody could
    /// tell whether it was sent. A renewer that sends otherwise than through a client is cut off at the grace's end,
    /// which is the most that can be done about it.
    private func present(
        _ use: RenewalPlan.Use,
        until end: TimeSource.Instant,
        in operation: RecoveryOperation
    ) async throws -> Credentials {
        let late = use.isFirst ? RenewalEnd.heldUp : RenewalEnd.graceIsOver
        let grace = use.end.map { RequestOptions.SendBy($0, orElse: late) }
        let limit = use.isFirst ? end : grace.map { min(time.instant(at: $0.moment), end) } ?? end
        return try await time.withTimeout(until: limit) { [renewer] in
            try await renewer.renew(use.credentials, in: operation.bounded(until: limit, sendBy: grace))
        }
    }
}

/// The refresh token may have been used by a renewal whose answer was lost, and the server's grace is over.
struct RenewalInDoubt: Error, CustomStringConvertible {
    var description: String {
        "the answer to a renewal was lost, and the refresh token may have been used; sign in again"
    }
}

/// The lease has run out before the renewal was sent.
struct LeaseLost: Error, CustomStringConvertible {
    var description: String { "the lease of the credentials has run out before they were renewed; try again" }
}

/// Credentials that a renewal has brought and that could not be stored.
struct UnsavedRenewal: Error, CustomStringConvertible {
    let sent: Credentials
    let renewed: Credentials
    let cause: any Error

    var description: String { "the renewed credentials could not be stored: \(cause)" }
}

extension Credentials {
    /// Whether nobody has signed in or out since: the credential that renews is the same.
    func isSameGrant(as other: Credentials) -> Bool {
        refreshToken == other.refreshToken && clientToken == other.clientToken && ssoToken == other.ssoToken
            && (refreshToken != nil || clientToken != nil || ssoToken != nil || accessToken == other.accessToken)
    }

    /// These credentials with what a renewal has changed; what others have changed meanwhile stays.
    func applying(_ renewed: Credentials, over sent: Credentials) -> Credentials {
        var result = self
        func apply<Value: Equatable>(_ path: WritableKeyPath<Credentials, Value>) {
            if renewed[keyPath: path] != sent[keyPath: path] { result[keyPath: path] = renewed[keyPath: path] }
        }
        apply(\.accessToken)
        apply(\.refreshToken)
        apply(\.expiresAt)
        apply(\.tokenType)
        apply(\.clientToken)
        apply(\.sessionID)
        apply(\.ssoToken)
        apply(\.renewalBeganAt)
        apply(\.renewalBootTime)
        apply(\.others)
        return result
    }
}
