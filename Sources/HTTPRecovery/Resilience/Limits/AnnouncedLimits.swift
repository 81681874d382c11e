import HTTPTypes
import Synchronization

extension Recovery {
    /// Keeps to the limits that a server announces on its answers, so that they are not run into.
    ///
    /// It heeds the fields `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) and the older families
    /// if they say both what is left and until when (`RateLimit-Remaining`, `X-RateLimit-…`, `X-Rate-Limit-…`). While
    /// enough is left, attempts go out as they come. Below a share of the quota they leave evenly over the time until there
    /// is more; if nothing is left, they wait for that, visibly as `rate_limited`, with all who share the store. What does
    /// not count requests (tokens, bytes) is ignored, as are answers from a cache. That something is left is no promise: a
    /// refusal is waited out as ever.
    ///
    /// ```swift
    /// let client = RecoveringClient(transport: transport) { Recovery(admissions: [Recovery.AnnouncedLimits()]) }
    /// ```
    public final class AnnouncedLimits: Admission {
        private let scope: Outcome.Scope
        private let share: Double
        private let longest: Duration
        private let limits = Locked<[SharedState.Gate.Key: AnnouncedLimit]>([:])
        /// Whether anything was ever announced.
        private let isAnnounced = Atomic(false)

        /// Creates the admission.
        ///
        /// - Parameters:
        ///   - scope: What the server counts by. Default: the credential at the origin; some count by endpoint (Okta, Auth0).
        ///   - share: Below what share of the quota attempts leave evenly, from 0 (never) to 1 (always). Default: a tenth.
        ///   - longest: The most that an announcement is heeded. Default: 15 minutes.
        public init(
            per scope: Outcome.Scope = .credential,
            spacingBelow share: Double = 0.1,
            heedingUpTo longest: Duration = .seconds(900)
        ) {
            self.scope = scope
            self.share = share.isNaN ? 0 : min(max(share, 0), 1)
            self.longest = max(longest, .zero)
        }

        /// Whether anybody has to be asked: not before something was announced.
        public func mayHold(_ cause: History.Cause, context: CallContext) -> Bool {
            isAnnounced.load(ordering: .acquiring)
        }

        /// Lets an attempt go while enough is left, and else when its place has come.
        public func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
            guard attempt.isDue, let key = await key(of: attempt, context) else { return .go() }
            let now = context.runtime.time.now.sinceStart
            let place = limits.withLock { limits in
                limits[key]?.take(at: now, spacingBelow: share, within: attempt.longestWait)
            }
            guard let place else { return .go() }
            let permit = place.isTaken ? PlannedAttempt.Permit(key, kept: .throughItsWait) : nil
            if place.wait <= .zero { return .go(permit) }
            let outcome = Outcome(.rateLimited, scope: scope, processed: .no, retryAfter: place.wait, remedies: [.wait])
            return .wait(place.wait, because: outcome, permit: permit)
        }

        /// Gives a place back, and takes note of what the answer announces.
        public func conclude(
            _ attempt: PlannedAttempt,
            _ end: PlannedAttempt.End,
            permit: PlannedAttempt.Permit,
            context: CallContext
        ) -> Remainder? {
            guard let key = permit.value as? SharedState.Gate.Key else { return nil }
            let announced = announced(end, context)
            // In one step: an answer that is counted is under way no more.
            limits.withLock { limits in
                limits[key]?.note(announced, upTo: longest, at: context.runtime.time.now.sinceStart)
                limits[key]?.end(isCounted: announced.isEmpty && hasReached(end, context))
            }
            guard let gate = gate(announced, end, key, context) else { return nil }
            return {
                await context.runtime.state.close(gate)
                return nil
            }
        }

        /// Takes note of what the answer announces.
        public func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
            let announced = announced(end, context)
            guard !announced.isEmpty else { return nil }
            isAnnounced.store(true, ordering: .releasing)
            return { [self] in
                guard let key = await key(of: attempt, context) else { return nil }
                note(announced, for: key, at: context.runtime.time.now.sinceStart)
                if let gate = gate(announced, end, key, context) { await context.runtime.state.close(gate) }
                return nil
            }
        }

        /// What is left of each limit.
        public func knowledge(at now: TimeSource.Instant) -> JSONValue? {
            let known = limits.withLock { $0 }
            if known.isEmpty { return nil }
            return .array(
                known.map { key, limit in ["gate": key.knowledge, "limits": limit.knowledge(at: now.sinceStart)] }
            )
        }

        /// Goes on with what was left.
        public func learn(_ knowledge: JSONValue, from moment: TimeSource.Instant) -> Bool {
            guard let known = knowledge.array, known.count <= 1024 else { return false }
            return known.reduce(true) { isRead, entry in
                guard let key = entry["gate"].flatMap({ SharedState.Gate.Key(known: $0) }) else { return false }
                var limit = AnnouncedLimit()
                guard limit.learn(entry["limits"] ?? .null, upTo: longest, from: moment.sinceStart) else {
                    return false
                }
                limits.withLock { $0[key] = limit }
                isAnnounced.store(true, ordering: .releasing)
                return isRead
            }
        }

        private func announced(_ end: PlannedAttempt.End, _ context: CallContext) -> [LimitFamilies.Announced] {
            // Another origin's answer tells nothing about this one.
            guard case .ended(_, by: nil) = end, let head = context.record.receivedHead else { return [] }
            let clock = ServerClock(head.headerFields, receivedAt: context.runtime.time.wallTime)
            return LimitFamilies(head.headerFields, clock: clock).announced
        }

        /// Whether an attempt has got to where requests are counted: not if it never left, or a cache has answered; of one that
        /// was given up nobody knows.
        private func hasReached(_ end: PlannedAttempt.End, _ context: CallContext) -> Bool {
            switch end {
            case .notSent, .abandoned: false
            case .ended(let outcome, _):
                outcome.transportError?.certainty != .neverSent
                    && context.record.receivedHead?.headerFields.contains(.age) != true
            }
        }

        /// What holds all until there is more, if nothing is left; what a refusal states closes a gate of its own.
        private func gate(
            _ announced: [LimitFamilies.Announced],
            _ end: PlannedAttempt.End,
            _ key: SharedState.Gate.Key,
            _ context: CallContext
        ) -> SharedState.Gate? {
            let used = announced.filter { $0.remaining < 1 }.map { min($0.reset, longest) }.max()
            guard let used, used > .zero, case .ended(let outcome, _) = end, !outcome.isFailure else { return nil }
            let opensAt = context.runtime.time.wallTime.advanced(by: used)
            return SharedState.Gate(key: key, reason: .rateLimited, opensAt: opensAt)
        }

        private func note(_ announced: [LimitFamilies.Announced], for key: SharedState.Gate.Key, at now: Duration) {
            limits.withLock { limits in
                // Bounded against endless hosts and credentials.
                if limits[key] == nil, limits.count >= 1024 {
                    let over = limits.first { $0.value.isOver(at: now) } ?? limits.first
                    if let over { limits[over.key] = nil }
                }
                limits[key, default: AnnouncedLimit()].note(announced, upTo: longest, at: now)
            }
        }

        private func key(of attempt: PlannedAttempt, _ context: CallContext) async -> SharedState.Gate.Key? {
            let credential = await context.credential(of: attempt.request)
            return Gates.keys(for: scope, attempt, credential, context).first
        }
    }
}
