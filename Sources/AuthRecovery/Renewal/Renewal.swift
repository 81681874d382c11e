import HTTPRecovery

/// One renewal, from the lease to the stored result; it belongs to no caller and is not cancelled with one.
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
    private var random: Runtime.RandomSource { call.runtime.random }

    /// Renews the credentials, unless they are not those of the version any more.
    func run(_ kind: Outcome.CredentialKind, version: UInt64?) async -> RenewalEnd {
        let end = time.now.advanced(by: options.timeout)
        do {
            guard let lease = try await lease(until: end, unlessChanged: { $0.version(of: kind) != version }) else {
                return .overtaken
            }
            let result = await lease.kept(for: options.lease, time) {
                await renew(kind, version: version, lease: lease, until: end)
            }
            await lease.release()
            return result
        } catch {
            return failure(error)
        }
    }

    /// Stores what an earlier renewal could not store.
    func save(_ unsaved: UnsavedRenewal) async -> RenewalEnd {
        do {
            return try await keep(unsaved.renewed, insteadOf: unsaved.sent) ? .renewed : .overtaken
        } catch {
            return failure(error)
        }
    }

    /// The lease, as soon as nobody else holds it; nil if the credentials change first.
    private func lease(
        until end: TimeSource.Instant,
        unlessChanged hasChanged: (Credentials) -> Bool
    ) async throws -> (any Credentials.Lease)? {
        var pause = Duration.milliseconds(20)
        while true {
            if hasChanged(try await store.read().credentials) { return nil }
            if let lease = try await store.acquireLease(for: options.lease, time: time) { return lease }
            guard time.now < end else {
                throw Credentials.StoreError("another process has been renewing the credentials for too long")
            }
            try await time.sleep(for: pause.scaled(by: 0.5 + random.unit() / 2))
            pause = min(pause.scaled(by: 1.5), .milliseconds(250))
        }
    }

    private func renew(
        _ kind: Outcome.CredentialKind,
        version: UInt64?,
        lease: any Credentials.Lease,
        until end: TimeSource.Instant
    ) async -> RenewalEnd {
        let operation = RecoveryOperation(for: call, until: end)
        let result: RenewalEnd
        do {
            result = try await operation.run(RenewalTries(reuse: renewer.reuse, end: end)) { _, operation in
                try await attempt(kind, version: version, lease: lease, until: end, in: operation)
            }
        } catch {
            result = failure(error)
        }
        operation.end(result.outcome == nil ? .ok : .failed)
        return result
    }

    /// Presents what renews, once.
    private func attempt(
        _ kind: Outcome.CredentialKind,
        version: UInt64?,
        lease: any Credentials.Lease,
        until end: TimeSource.Instant,
        in operation: RecoveryOperation
    ) async throws -> RenewalTries.Answer {
        do {
            // Who was stopped for longer than the lease lasts has lost it: somebody else may be renewing.
            guard await lease.extend(for: options.lease) else { throw LeaseLost() }
            guard let use = try await prepare(kind, version: version) else { return .ended(.overtaken) }
            let sent = use.credentials
            let renewed: Credentials
            do {
                renewed = try await present(use, until: end, in: operation)
            } catch let error as RecoveryError where error.reason == .budgetExhausted {
                throw error
            } catch {
                let outcome = Self.outcome(of: error)
                if outcome.isTooLateForGood, !use.isFirst { throw RenewalInDoubt() }
                // A refusal that takes nothing away, as a proxy's 401, is a failure like any other.
                if outcome.kind == .credentialRejected, outcome.tokenAction == .clear {
                    return .ended(try await rejected(outcome, sent: sent))
                }
                if use.isFirst, !RenewalRules.isInDoubt(after: outcome, reuse: renewer.reuse) {
                    try await forgetDoubt(about: sent, since: lease)
                }
                return .failed(failure(error))
            }
            return .ended(try await keep(renewed, insteadOf: sent) ? .renewed : .overtaken)
        } catch let error as RecoveryError where error.reason == .budgetExhausted {
            // Nothing was sent: what the try before came to stands.
            throw error
        } catch {
            return .ended(failure(error))
        }
    }

    /// Presents what renews within the grace.
    ///
    /// What waits for a limit to pass must not go out after the grace, nor be cut off while it waits: then nobody could
    /// tell whether it was sent. A renewer that sends otherwise than through a client is cut off at the grace's end,
    /// which is the most that can be done about it.
    private func present(
        _ use: Use,
        until end: TimeSource.Instant,
        in operation: RecoveryOperation
    ) async throws -> Credentials {
        let grace = use.end.map { RequestOptions.SendBy($0, orElse: use.isFirst ? Self.heldUp : Self.graceIsOver) }
        let limit = use.isFirst ? end : grace.map { min(time.instant(at: $0.moment), end) } ?? end
        return try await time.withTimeout(until: limit) { [renewer] in
            try await renewer.renew(use.credentials, in: operation.bounded(until: limit, sendBy: grace))
        }
    }

    /// One use of the credential that renews.
    private struct Use: Sendable {
        var credentials: Credentials
        /// Whether no use before it is in doubt.
        var isFirst = true
        /// When the grace is over, so that it must not leave any more; nil if it does not matter.
        ///
        /// The first use has one too: another process that takes over after it was held up may be the first at the server.
        var end: Timestamp?
    }

    /// What to renew with; nil if the credentials have changed meanwhile.
    ///
    /// Unless the server is known not to rotate, it is written down first that the refresh token may be used from now on.
    private func prepare(_ kind: Outcome.CredentialKind, version: UInt64?) async throws -> Use? {
        while true {
            let present = try await store.read()
            guard present.credentials.version(of: kind) == version else { return nil }
            guard renewer.reuse != .reusable, present.credentials.refreshToken != nil else {
                return Use(credentials: present.credentials)
            }
            let now = time.wallTime
            if let began = present.credentials.renewalBegan(by: time) {
                guard let left = RenewalRules.graceLeft(since: began, reuse: renewer.reuse, at: now) else {
                    throw RenewalInDoubt()
                }
                return Use(credentials: present.credentials, isFirst: false, end: now.advanced(by: left))
            }
            var marked = present.credentials
            marked.markRenewal(at: time)
            if let stored = try await store.replace(version: present.version, with: marked) {
                let grace = RenewalRules.graceLeft(since: now, reuse: renewer.reuse, at: now)
                return Use(credentials: stored.credentials, end: grace.map { now.advanced(by: $0) })
            }
        }
    }

    /// Writes down that the refresh token was not used after all, unless somebody else may have used it since.
    ///
    /// Who has lost the lease knows of the own use alone. One that has only run out is taken again: nobody has had it in
    /// between if the fence is the next.
    private func forgetDoubt(about sent: Credentials, since lease: any Credentials.Lease) async throws {
        guard sent.renewalBeganAt != nil else { return }
        if await lease.extend(for: options.lease) { return try await forgetDoubt(about: sent) }
        guard let next = try await store.acquireLease(for: options.lease, time: time) else { return }
        do {
            if next.fence == lease.fence + 1 { try await forgetDoubt(about: sent) }
        } catch {
            await next.release()
            throw error
        }
        await next.release()
    }

    private func forgetDoubt(about sent: Credentials) async throws {
        try await store.update { credentials in
            guard credentials.refreshToken == sent.refreshToken else { return }
            credentials.renewalBeganAt = nil
        }
    }

    /// Stores what the renewal brought, before anyone uses it.
    ///
    /// - Returns: Whether it was stored; false if somebody has signed in or out meanwhile.
    private func keep(_ renewed: Credentials, insteadOf sent: Credentials) async throws -> Bool {
        var renewed = renewed
        renewed.renewalBeganAt = nil
        var failures = 0
        while true {
            do {
                let present = try await store.read()
                guard present.credentials.isSameGrant(as: sent) else { return false }
                let changed = present.credentials.applying(renewed, over: sent)
                if try await store.replace(version: present.version, with: changed) != nil {
                    onRenew(changed, sent)
                    return true
                }
            } catch {
                // What the server has given out exists nowhere else: not given up for a passing trouble.
                failures += 1
                guard failures < 5 else { throw UnsavedRenewal(sent: sent, renewed: renewed, cause: error) }
                try await time.sleep(for: .milliseconds(50 << failures))
            }
        }
    }

    /// Clears the credential that was refused, unless somebody has renewed it without a lease.
    private func rejected(_ outcome: Outcome, sent: Credentials) async throws -> RenewalEnd {
        let kind = outcome.credential ?? .refresh
        guard let version = sent.version(of: kind) else { return .rejected(outcome) }
        for pause in [0, 25, 50, 100] as [Int64] {
            try await time.sleep(for: .milliseconds(pause))
            let present = try await store.read().credentials.version(of: kind)
            if let present, present != version { return .overtaken }
        }
        if try await store.clear(kind, ifVersion: version) { onClear(kind) }
        return .rejected(outcome)
    }

    /// What a renewal comes to that must not present the refresh token again.
    private static var graceIsOver: Outcome {
        Outcome(.reauthenticationRequired, scope: .credential, processed: .unknown, remedies: [.reauthenticate])
    }

    /// What a renewal comes to that was held up until the refresh token must not be presented for it any more.
    private static var heldUp: Outcome {
        Outcome(.unavailable, processed: .no, remedies: [.retry])
    }

    private func failure(_ error: any Error) -> RenewalEnd {
        let reason: History.StopReason = error is RenewalInDoubt ? .renewalInDoubt : .repairFailed
        return .failed(Self.outcome(of: error), reason: reason, cause: error)
    }

    /// What an error of a renewal means for the calls that wait for it.
    private static func outcome(of error: any Error) -> Outcome {
        switch error {
        case let error as RecoveryError: error.outcome
        case is RenewalInDoubt:
            graceIsOver
        case is LeaseLost: heldUp
        case let error as TransportError: .transport(error)
        case is TimeoutExceeded: Outcome(.timedOut, processed: .unknown, remedies: [.retry])
        default: Outcome(.unavailable, processed: .unknown, remedies: [.retry])
        }
    }
}

extension Outcome {
    /// Whether nothing was sent because it was too late, and another attempt would be too late as well.
    fileprivate var isTooLateForGood: Bool {
        transportError?.code == .sendLimitPassed && transportError?.isTransient == false
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
