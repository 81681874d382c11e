import HTTPRecovery

/// The protocol of a renewal, from the lease to the stored result: what is done next, given what came of the last step.
///
/// A value without clock, lock, or input and output: every order of what other processes, the store and the server may do
/// can be explored. Who carries it out gives the lease back at the end.
struct RenewalPlan: RecoveryOperation.Plan {
    /// What can be done.
    enum Step: Sendable, Hashable {
        /// Read the credentials.
        case read
        /// Ask for the lease.
        case acquireLease
        /// Extend the lease.
        case extendLease
        /// Store credentials, if the store still holds the version.
        case replace(version: UInt64, with: Credentials, Change)
        /// Present what renews, once.
        case present(Use)
        case sleep(Duration)
    }

    /// What a step brings.
    enum Answer: Sendable {
        case found(Credentials.Stored, at: Moment)
        /// Whether the lease was granted; false while another holds it.
        case acquired(Bool)
        /// Whether the lease was still held.
        case extended(Bool)
        /// What is stored now; nil when another change came first.
        case replaced(Credentials.Stored?)
        /// What the server has given out.
        case renewed(Credentials)
        /// The server has given nothing out, or its answer was lost.
        case refused(any Error)
        case slept
        /// The store does not answer.
        case failed(any Error)
    }

    /// Why the credentials are changed.
    enum Change: Sendable, Hashable {
        /// The refresh token may be used from now on; once more, if an earlier use is in doubt.
        case mark(isFirst: Bool = true, until: Timestamp? = nil)
        /// It was not used after all.
        case forget(sent: Credentials)
        /// What the server has given out takes the place of what was sent.
        case keep(Credentials, insteadOf: Credentials, failures: Int)
        /// The server has refused it.
        case clear(Outcome.CredentialKind, ifVersion: UInt64, Outcome, looks: Int)
    }

    /// One use of the credential that renews.
    struct Use: Sendable, Hashable {
        var credentials: Credentials
        /// Whether no use before it is in doubt.
        var isFirst = true
        /// When the grace is over, so that it must not leave any more; nil if it does not matter.
        ///
        /// The first use has one too: another process that takes over after it was held up may be the first at the server.
        var end: Timestamp?
    }

    /// What the credentials are read for.
    enum Purpose: Sendable, Hashable {
        /// To see whether a renewal is needed still.
        case lease
        /// To change them, and to present them with `mark`.
        case change(Change)
    }

    /// Which step is under way.
    enum Phase: Sendable, Hashable {
        case reads(Purpose)
        /// Before it reads again.
        case sleeps(Purpose)
        case acquires
        case extends
        case writes(Change)
        case presents(Use)
        /// Before it is tried again.
        case pauses
    }

    let kind: Outcome.CredentialKind
    let version: UInt64?
    let reuse: RefreshTokenGrant.Reuse
    let end: TimeSource.Instant
    private(set) var phase: Phase
    private(set) var tries = 0
    private(set) var failure: (end: RenewalEnd, kind: Outcome.Kind)?
    private var pause = Duration.milliseconds(20)

    /// How long to wait before each look whether somebody else has replaced what was refused.
    private static let looks: [Duration] = [.zero, .milliseconds(25), .milliseconds(50), .milliseconds(100)]

    /// Renews the credentials, unless they are not those of the version any more.
    init(
        _ kind: Outcome.CredentialKind,
        version: UInt64?,
        reuse: RefreshTokenGrant.Reuse,
        end: TimeSource.Instant
    ) {
        (self.kind, self.version, self.reuse, self.end) = (kind, version, reuse, end)
        phase = .reads(.lease)
    }

    /// Stores what an earlier renewal could not store.
    init(saving unsaved: UnsavedRenewal, reuse: RefreshTokenGrant.Reuse, end: TimeSource.Instant) {
        self.init(.access, version: nil, reuse: reuse, end: end)
        phase = .reads(.change(.keep(unsaved.renewed, insteadOf: unsaved.sent, failures: 0)))
    }

    mutating func next(
        after event: RecoveryOperation.Event<Answer>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> RecoveryOperation.Action<Step, RenewalEnd> {
        switch event {
        case .begun: .perform(.read)
        case .answered(.failed(let error)): storeFailed(error)
        case .answered(let answer): next(after: answer, at: now, random: random)
        case .paused: extend()
        case .notPaused(let error), .failed(let error): .finish(failure?.end ?? .failed(by: error))
        }
    }

    private typealias Action = RecoveryOperation.Action<Step, RenewalEnd>

    private mutating func next(after answer: Answer, at now: TimeSource.Instant, random: () -> Double) -> Action {
        switch (phase, answer) {
        case (.reads(.lease), .found(let present, _)):
            guard present.credentials.version(of: kind) == version else { return .finish(.overtaken) }
            return acquire()
        case (.acquires, .acquired(true)): return extend()
        case (.acquires, .acquired(false)):
            guard now < end else { return .finish(.failed(by: Self.isHeldTooLong)) }
            defer { pause = min(pause.scaled(by: 1.5), .milliseconds(250)) }
            return sleep(pause.scaled(by: 0.5 + random() / 2), then: .lease)
        case (.sleeps(let purpose), .slept): return read(for: purpose)
        // Who was stopped for longer than the lease lasts has lost it: somebody else may be renewing.
        case (.extends, .extended(let isHeld)):
            return isHeld ? read(for: .change(.mark())) : .finish(.failed(by: LeaseLost()))
        case (.reads(.change(let change)), .found(let present, let moment)):
            return apply(change, to: present, at: moment)
        case (.writes(let change), .replaced(nil)): return read(for: .change(change))
        case (.writes(let change), .replaced(let stored?)): return written(change, stored.credentials)
        case (.presents(let use), .renewed(let renewed)):
            return read(for: .change(.keep(renewed, insteadOf: use.credentials, failures: 0)))
        case (.presents(let use), .refused(let error)): return refused(error, use, at: now, random: random)
        default: return .finish(.failed(by: Credentials.StoreError("an answer to what was not asked")))
        }
    }

    private static let isHeldTooLong =
        Credentials.StoreError("another process has been renewing the credentials for too long")

    // MARK: Steps

    private mutating func read(for purpose: Purpose) -> Action {
        phase = .reads(purpose)
        return .perform(.read)
    }

    private mutating func sleep(_ delay: Duration, then purpose: Purpose) -> Action {
        phase = .sleeps(purpose)
        return .perform(.sleep(delay))
    }

    private mutating func acquire() -> Action {
        phase = .acquires
        return .perform(.acquireLease)
    }

    private mutating func extend() -> Action {
        phase = .extends
        return .perform(.extendLease)
    }

    private mutating func replace(_ present: Credentials.Stored, with changed: Credentials, _ change: Change) -> Action
    {
        phase = .writes(change)
        return .perform(.replace(version: present.version, with: changed, change))
    }

    /// Presents the credentials, unless they have changed meanwhile.
    ///
    /// Unless the server is known not to rotate, it is written down first that the refresh token may be used from now on,
    /// each time: a lease does not tell whether somebody who has lost it uses the token all the same.
    private mutating func use(_ present: Credentials.Stored, at moment: Moment) -> Action {
        guard present.credentials.version(of: kind) == version else { return .finish(.overtaken) }
        guard reuse != .reusable, present.credentials.refreshToken != nil else {
            return self.present(Use(credentials: present.credentials))
        }
        let now = moment.wallTime
        let began = present.credentials.renewalBegan(by: moment)
        let left = RenewalRules.graceLeft(since: began ?? now, reuse: reuse, at: now)
        if began != nil, left == nil { return .finish(.failed(by: RenewalInDoubt())) }
        var marked = present.credentials
        marked.markRenewal(at: moment)
        return replace(present, with: marked, .mark(isFirst: began == nil, until: left.map { now.advanced(by: $0) }))
    }

    private mutating func present(_ use: Use) -> Action {
        phase = .presents(use)
        return .perform(.present(use), repeating: failure?.kind)
    }

    // MARK: Changes

    /// Changes what is stored as it is meant, or ends if somebody else has changed it.
    private mutating func apply(_ change: Change, to present: Credentials.Stored, at moment: Moment) -> Action {
        var changed = present.credentials
        switch change {
        case .mark: return use(present, at: moment)
        case .forget(let sent):
            // Who has presented it meanwhile has written that down.
            guard changed.refreshToken == sent.refreshToken, changed.renewalRepeats == sent.renewalRepeats
            else { return endAsFailed() }
            changed.renewalBeganAt = nil
        case .keep(var renewed, let sent, _):
            guard changed.isSameGrant(as: sent) else { return .finish(.overtaken) }
            renewed.renewalBeganAt = nil
            changed = changed.applying(renewed, over: sent)
        case .clear(let kind, let version, let outcome, let looks):
            let held = changed.version(of: kind)
            if let held, held != version { return .finish(.overtaken) }
            guard looks == Self.looks.count else {
                return sleep(
                    Self.looks[looks],
                    then: .change(.clear(kind, ifVersion: version, outcome, looks: looks + 1))
                )
            }
            if held == nil { return .finish(.rejected(outcome)) }
            changed.remove(kind)
        }
        return replace(present, with: changed, change)
    }

    private mutating func written(_ change: Change, _ stored: Credentials) -> Action {
        switch change {
        case .mark(let isFirst, let end): return present(Use(credentials: stored, isFirst: isFirst, end: end))
        case .forget: return endAsFailed()
        case .keep: return .finish(.renewed)
        case .clear(_, _, let outcome, _): return .finish(.rejected(outcome))
        }
    }

    /// Ends, except that what the server has given out exists nowhere else: it is not given up for a passing trouble.
    private mutating func storeFailed(_ error: any Error) -> Action {
        let change: Change
        switch phase {
        case .reads(.change(let what)), .writes(let what): change = what
        default: return .finish(.failed(by: error))
        }
        guard case .keep(let renewed, let sent, let failures) = change else { return .finish(.failed(by: error)) }
        guard failures < 4 else {
            return .finish(.failed(by: UnsavedRenewal(sent: sent, renewed: renewed, cause: error)))
        }
        let again = Change.keep(renewed, insteadOf: sent, failures: failures + 1)
        return sleep(.milliseconds(100 << failures), then: .change(again))
    }

    // MARK: Refusals

    private mutating func refused(
        _ error: any Error,
        _ use: Use,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> Action {
        // Nothing was sent: what the try before came to stands.
        if let error = error as? RecoveryError, error.reason == .budgetExhausted {
            return .finish(failure?.end ?? .failed(by: error))
        }
        let (outcome, sent) = (RenewalEnd.outcome(of: error), use.credentials)
        if outcome.isTooLateForGood, !use.isFirst { return .finish(.failed(by: RenewalInDoubt())) }
        // A refusal that takes nothing away, as a proxy's 401, is a failure like any other.
        if outcome.kind == .credentialRejected, outcome.tokenAction == .clear {
            let kind = outcome.credential ?? .refresh
            guard let version = sent.version(of: kind) else { return .finish(.rejected(outcome)) }
            return read(for: .change(.clear(kind, ifVersion: version, outcome, looks: 1)))
        }
        tries += 1
        failure = (.failed(by: error), outcome.kind)
        if use.isFirst, sent.renewalBeganAt != nil, !RenewalRules.isInDoubt(after: outcome, reuse: reuse) {
            return read(for: .change(.forget(sent: sent)))
        }
        // What was repeated below until its attempts ran out is not begun anew here.
        if (error as? RecoveryError)?.reason == .attemptsExhausted { return endAsFailed() }
        return tryAgain(at: now, random: random)
    }

    /// Pauses before another try, or ends.
    private mutating func tryAgain(at now: TimeSource.Instant, random: () -> Double) -> Action {
        guard let outcome = failure?.end.outcome,
            let delay = RenewalRules.delay(after: outcome, reuse: reuse, tries: tries, random: random()),
            now.advanced(by: delay) < end
        else { return endAsFailed() }
        phase = .pauses
        return .pause(delay, reason: outcome.kind)
    }

    private func endAsFailed() -> Action { .finish(failure?.end ?? .overtaken) }
}

extension Outcome {
    /// Whether nothing was sent because it was too late, and another attempt would be too late as well.
    fileprivate var isTooLateForGood: Bool {
        transportError?.code == .sendLimitPassed && transportError?.isTransient == false
    }
}
