public import HTTPRecovery
public import HTTPTypes

/// Keeps the credentials of one identity fresh: one renewal at a time, stored before anyone uses it.
///
/// ```swift
/// let tokens = TokenManager(store: FileTokenStore(path: path), renewer: RefreshTokenGrant(client: oauth))
/// let client = RecoveringClient(transport: CurlTransport()) {
///     Recovery {
///         RateLimitBackoff()
///         SessionRenewal(tokens)
///         TransientRetry()
///     }
///     Authorization(tokens, audience: [Origin(scheme: "https", authority: "api.example.com")])
/// }
/// ```
///
/// Any number of calls that need new credentials cause one renewal and take its result; across processes, a lease in
/// the store does the same. A renewal goes on when the call that began it is cancelled. One that fails is not repeated
/// at once, and the next one is not refused because of it. Nothing is cleared unless the server has definitely refused
/// the credential that renews.
public final class TokenManager: Sendable {
    /// Where the credentials are kept.
    public let store: any TokenStore

    let renewer: (any TokenRenewer)?
    let options: TokenManager.RenewalOptions
    let clock = LearnedClock()
    /// Which tokens have replaced each other.
    let lineage = CredentialLineage()
    private let state = Locked(State())

    private struct State {
        /// The renewal that is under way.
        var flight: Flight<RenewalEnd>?
        /// The last renewal that failed, until another one succeeds.
        var failure: Failure?
        /// When renewals were begun because a token was refused that had not expired.
        var refusals: [TimeSource.Instant] = []
        /// How long the present access token had left when this process saw it first: its life, if it was renewed here.
        var lifetime: (version: UInt64?, duration: Duration)?
        /// What was renewed and could not be stored.
        var unsaved: (renewal: UnsavedRenewal, context: CallContext)?
    }

    private struct Failure {
        var end: RenewalEnd
        var count: Int
        var until: TimeSource.Instant
        /// The call that has begun the renewal.
        var call: CallContext.Record
    }

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - store: Where the credentials are kept.
    ///   - renewer: How they are renewed; nil if they are not: then a refused credential is only cleared.
    ///   - options: When they are renewed, and how often at most.
    public init(
        store: any TokenStore,
        renewer: (any TokenRenewer)? = nil,
        options: TokenManager.RenewalOptions = TokenManager.RenewalOptions()
    ) {
        self.store = store
        self.renewer = renewer
        self.options = options
    }

    /// The credentials for a request that is about to go out, renewed before if that is needed.
    ///
    /// Credentials that expire soon are renewed in the background while they still serve. If the renewal of an expired token
    /// fails, the credentials are what they are: whether they still serve, the server knows best.
    ///
    /// - Throws: `RecoveryError` that says why, if there is no access token and none could be obtained; with the reason
    ///   `deadline_passed` and a `FailureContext.RemediationUnfinished` as its cause when the call's
    ///   deadline passes while they are renewed, or has passed before; ``Credentials/StoreError`` when the store cannot be read;
    ///   `CancellationError` as soon as the call is cancelled. Neither end of the wait ends the renewal.
    public func credentials(for context: CallContext) async throws -> Credentials.Stored {
        let present = try await takeForeseen(for: context)
        guard let renewer, renewer.canRenew(present.credentials) else { return present }
        switch need(of: present.credentials, time: context.runtime.time) {
        case .none:
            return present
        case .now where present.credentials.accessToken?.isEmpty ?? true:
            // What the server would say of a request without a token hides why there is none.
            return try await renew(present.credentials, context)
        case .soon:
            if !isCoolingDown(context.runtime.time) {
                _ = join(.access, version: present.credentials.version(of: .access), context: context)
            }
            return present
        case .now:
            guard !isCoolingDown(context.runtime.time) else { return present }
            do {
                _ = try await renewal(.access, version: present.credentials.version(of: .access), context: context)
            } catch let error as FailureContext.RemediationUnfinished {
                throw error.error(context: context)
            }
            return try await store.read(for: context)
        }
    }

    /// Renews the credentials now, whether or not they have expired.
    ///
    /// - Returns: What is stored after it.
    /// - Throws: `RecoveryError` when nothing came of it, or when the call's deadline passes before: then the renewal goes
    ///   on; `CancellationError` as soon as the call is cancelled.
    public func renew(_ context: CallContext) async throws -> Credentials.Stored {
        try await renew(try await store.read(for: context).credentials, context)
    }

    func renew(_ present: Credentials, _ context: CallContext) async throws -> Credentials.Stored {
        let result: FailureContext.RemediationResult
        if let renewer, renewer.canRenew(present) {
            do {
                result = try await renewed(.access, version: present.version(of: .access), context: context)
            } catch let error as FailureContext.RemediationUnfinished {
                throw error.error(context: context)
            }
        } else {
            result = .reauthenticationRequired(after: Outcome(.reauthenticationRequired, processed: .no))
        }
        switch result {
        case .repaired, .amended: return try await store.read(for: context)
        case .failed(let outcome, let reason, let cause):
            let wait = (cause as? RecoveryError)?.retryAfter ?? outcome.statedWait
            throw RecoveryError(
                outcome: outcome,
                reason: reason,
                retryAfter: wait,
                retryAt: wait.map { context.runtime.time.wallTime.advanced(by: $0) },
                history: context.record.history,
                cause: cause
            )
        }
    }

    /// Learns what an answer tells about the server's clock.
    public func note(_ head: HTTPResponse?, context: CallContext) {
        if renewer != nil { clock.learn(from: head, time: context.runtime.time) }
    }

    /// Whether a renewal is under way, or has brought credentials that are not stored yet.
    ///
    /// A program that ends now loses what the renewal brings: if the server rotates refresh tokens, the session. It
    /// should say so and wait for ``finish()``.
    public var isRenewing: Bool {
        state.withLock { $0.flight != nil || $0.unsaved != nil }
    }

    /// Waits until no renewal is under way and what it brought is stored, so that a program that ends loses nothing.
    ///
    /// A renewal ends by itself within ``TokenManager/RenewalOptions/timeout``; storing what it brought is tried a few times more.
    /// What an earlier renewal could not store is tried once more.
    ///
    /// - Returns: Whether nothing is under way any more, and everything is stored; false at once if the task is
    ///   cancelled while something is.
    @discardableResult
    public func finish() async -> Bool {
        var mayStoreAgain = true
        while true {
            let (flight, unsaved) = state.withLock { ($0.flight, $0.unsaved) }
            if let flight {
                guard (try? await flight.value) != nil else { return false }
            } else if let unsaved {
                guard mayStoreAgain, !Task.isCancelled else { return false }
                mayStoreAgain = false
                _ = join(.access, version: nil, context: unsaved.context)
            } else {
                return true
            }
        }
    }

    // MARK: Refusals

    /// Does what can be done about a credential that the server has refused.
    package func repair(
        _ presented: PresentedCredential,
        after outcome: Outcome,
        context: CallContext
    ) async throws -> FailureContext.RemediationResult {
        let present = try await store.read().credentials
        let version = present.version(of: presented.kind)
        if let version, version != presented.version {
            if renewer != nil { context.emit(.refresh(.joined)) }
            return .repaired
        }
        guard version != nil, let renewer, renewer.canRenew(present), outcome.remedies.contains(.refreshCredential)
        else { return try await clear(presented, after: outcome, context: context) }
        if need(of: present, time: context.runtime.time) != .now, exceedsLimit(context.runtime.time) {
            return .failed(outcome, reason: .renewalLimit)
        }
        let result = try await renewed(presented.kind, version: version, context: context)
        guard case .failed(let end, let reason, let cause) = result, end.kind == .reauthenticationRequired,
            reason != .renewalInDoubt
        else { return result }
        // The access token was refused and nothing can renew it: it goes too.
        _ = try await clear(presented, after: outcome, context: context)
        return .failed(end, reason: reason, cause: cause)
    }

    /// Removes a refused credential, if the refusal is definite and it is still the current one.
    private func clear(
        _ presented: PresentedCredential,
        after outcome: Outcome,
        context: CallContext
    ) async throws -> FailureContext.RemediationResult {
        if outcome.tokenAction == .clear, try await store.clear(presented.kind, ifVersion: presented.version) {
            context.emit(.clear(presented.kind))
        }
        return .reauthenticationRequired(after: outcome)
    }

    /// Joins or begins a renewal, after the pause that follows a failed one.
    private func renewed(
        _ kind: Outcome.CredentialKind,
        version: UInt64?,
        context: CallContext
    ) async throws -> FailureContext.RemediationResult {
        if let failure = ownDoubt(of: context.record) {
            return .failed(failure.outcome, reason: failure.reason, cause: failure.cause)
        }
        if let (failure, left) = pause(context.runtime.time) {
            let outcome = failure.outcome ?? Outcome(.unavailable, processed: .unknown, remedies: [.retry])
            if let remaining = context.remaining, left >= remaining {
                return .failed(outcome, reason: .deadlineWouldPass, cause: Self.unfinished)
            }
            try await context.wait(left, reason: outcome.kind)
        }
        switch try await renewal(kind, version: version, context: context) {
        case .renewed: return .repaired
        case .overtaken:
            let present = try await store.read().credentials
            return present[kind] == nil ? .reauthenticationRequired(after: Outcome(.credentialRejected)) : .repaired
        case .rejected(let outcome): return .reauthenticationRequired(after: outcome)
        case .failed(let outcome, let reason, let cause): return .failed(outcome, reason: reason, cause: cause)
        }
    }

    // MARK: Renewals

    /// How the renewal ended that was under way, or a new one: awaited until the call's deadline.
    ///
    /// - Throws: `FailureContext.RemediationUnfinished` when the deadline passes first: the renewal goes on, and none is begun after it;
    ///   `CancellationError` as soon as the call is cancelled.
    private func renewal(
        _ kind: Outcome.CredentialKind,
        version: UInt64?,
        context: CallContext
    ) async throws -> RenewalEnd {
        if let remaining = context.remaining, remaining <= .zero { throw Self.unfinished }
        let flight = join(kind, version: version, context: context)
        let end: RenewalEnd
        if let deadline = context.deadline {
            do {
                end = try await context.runtime.time.withTimeout(until: deadline) { try await flight.renewal.value }
            } catch is TimeoutExceeded {
                throw Self.unfinished
            }
        } else {
            end = try await flight.renewal.value
        }
        if flight.isJoined { context.emit(.refresh(end.result(isJoined: true))) }
        return end
    }

    private static let unfinished = FailureContext.RemediationUnfinished(repair: SessionRenewal.repairName)

    /// The renewal that is under way, or a new one.
    private func join(
        _ kind: Outcome.CredentialKind,
        version: UInt64?,
        context: CallContext
    ) -> (renewal: Flight<RenewalEnd>, isJoined: Bool) {
        let new = Flight<RenewalEnd>()
        let present = state.withLock { state -> Flight<RenewalEnd>? in
            if let flight = state.flight { return flight }
            state.flight = new
            return nil
        }
        if let present { return (present, true) }
        // Not a child of the caller's task: its cancellation is not the others'.
        context.outlived {
            let end = await self.perform(kind, version: version, context: context)
            // Before anyone is told, so that whoever comes next begins a new one.
            self.land(end, of: new, context: context)
            context.emit(.refresh(end.result(isJoined: false)))
            new.land(.success(end))
        }
        return (new, false)
    }

    private func perform(_ kind: Outcome.CredentialKind, version: UInt64?, context: CallContext) async -> RenewalEnd {
        guard let renewer else { return .overtaken }
        let renewal = Renewal(
            store: store,
            renewer: renewer,
            options: options,
            call: context,
            onRenew: { [lineage] in lineage.note($0, insteadOf: $1) },
            onClear: { context.emit(.clear($0)) }
        )
        if let unsaved = state.withLock({ $0.unsaved }) {
            let end = await renewal.save(unsaved.renewal)
            if case .failed = end { return end }
            state.withLock { $0.unsaved = nil }
            return end
        }
        let end = await renewal.run(kind, version: version)
        if case .failed(_, _, let cause) = end, let unsaved = cause as? UnsavedRenewal {
            state.withLock { $0.unsaved = (unsaved, context) }
        }
        return end
    }

    private func land(_ end: RenewalEnd, of flight: Flight<RenewalEnd>, context: CallContext) {
        let time = context.runtime.time
        state.withLock { state in
            if state.flight === flight { state.flight = nil }
            switch end {
            case .renewed, .overtaken, .rejected: state.failure = nil
            case .failed:
                let count = (state.failure?.count ?? 0) + 1
                let pause = RenewalRules.cooldown(options.cooldown, failures: count)
                state.failure = Failure(
                    end: end,
                    count: count,
                    until: time.now.advanced(by: pause),
                    call: context.record
                )
            }
        }
    }

    func need(of credentials: Credentials, time: TimeSource) -> RenewalRules.Need {
        RenewalRules.need(
            of: credentials,
            at: clock.now(time),
            lifetime: lifetime(of: credentials, time),
            leeway: options.leeway,
            random: RenewalRules.draw(credentials)
        )
    }

    /// How long the access token had left when this process saw it first.
    func lifetime(of credentials: Credentials, _ time: TimeSource) -> Duration? {
        let version = credentials.version(of: .access)
        // Without a life to measure by, a token with a short one would always seem about to expire.
        let left = credentials.expiresAt.map { $0.elapsed(since: clock.now(time)) }
        return state.withLock { state in
            if let left, state.lifetime?.version != version { state.lifetime = (version, left) }
            return state.lifetime?.version == version ? state.lifetime?.duration : nil
        }
    }

    /// How the call's own renewal has failed, if it may have used the refresh token: the same call uses it no second
    /// time.
    private func ownDoubt(
        of call: CallContext.Record
    ) -> (outcome: Outcome, reason: History.StopReason, cause: (any Error)?)? {
        guard let failure = state.withLock({ $0.failure }), failure.call.isSame(as: call),
            case .failed(let outcome, let reason, let cause) = failure.end,
            RenewalRules.isInDoubt(after: outcome, reuse: renewer?.reuse ?? .undeclared)
        else { return nil }
        return (outcome, reason, cause)
    }

    private func isCoolingDown(_ time: TimeSource) -> Bool {
        pause(time) != nil
    }

    /// The last failure and how long no renewal is begun because of it; nil if one may be begun.
    private func pause(_ time: TimeSource) -> (failure: RenewalEnd, left: Duration)? {
        state.withLock { state in
            guard state.flight == nil, let failure = state.failure else { return nil }
            let left = time.now.duration(to: failure.until)
            return left > .zero ? (failure.end, left) : nil
        }
    }

    /// Counts a fresh token that was refused, and tells whether there were too many of late.
    private func exceedsLimit(_ time: TimeSource) -> Bool {
        state.withLock { state in
            // Whoever joins a renewal asks for none.
            if state.flight != nil { return false }
            let now = time.now
            state.refusals.removeAll { $0.duration(to: now) >= options.window }
            guard state.refusals.count < options.limit else { return true }
            state.refusals.append(now)
            return false
        }
    }
}
