/// Something that happened in a call, for people and programs that watch.
///
/// No event holds a secret: URLs come without userinfo and query, bodies and header values do not come at all.
public struct RecoveryEvent: Sendable {
    /// How a call ended.
    public enum End: String, Sendable, Hashable {
        /// With a response.
        case ok
        /// With an error.
        case failed
        /// By cancellation.
        case cancelled
    }

    /// How the renewal of a credential ended for one caller.
    @nonexhaustive public enum RefreshResult: String, Sendable, Hashable {
        /// This caller renewed it.
        case refreshed
        /// Another caller's renewal was taken over.
        case joined
        /// The server refused to renew it.
        case rejected
        /// The renewal did not come through; the credential stays.
        case failed
    }

    /// What happened.
    @nonexhaustive public enum Kind: Sendable {
        /// A request goes out.
        case attempt(number: Int, method: String, url: String, transport: String)
        /// The head of a response has arrived.
        case response(number: Int, status: Int, elapsed: Duration)
        /// An attempt failed.
        case failure(number: Int, Outcome)
        /// A wait begins.
        case wait(reason: Outcome.Kind, duration: Duration, until: Timestamp)
        /// The call stands in the line of an admission from now on, until its turn comes, and no longer than that; with the
        /// next event of the call it has left the line.
        case line(reason: Outcome.Kind, atMost: Duration, until: Timestamp)
        /// The request will be sent again, as attempt `number`.
        case retry(number: Int, reason: Outcome.Kind)
        /// The renewal of a credential ended.
        case refresh(RefreshResult)
        /// A credential was removed because it was refused.
        case clear(Outcome.CredentialKind)
        /// A sign-in goes on with another factor than intended.
        case fallback(from: String, to: String)
        /// Somebody is asked for something; the destination is masked.
        case challenge(kind: String, destination: String?)
        /// A circuit breaker has changed its state, by the words of `Recovery.CircuitBreaker.State`; with how long it is open. It
        /// belongs to no call, and has the origin for its URL, where other settings have changed it.
        case breaker(state: String, opensAfter: Duration?)
        /// The shared store stopped to answer, or answers again; or it is the one of credentials that are renewed for nobody's
        /// call. It belongs to no call.
        case store(SharedState.Health)
        /// The call ends with an error.
        case givingUp(Outcome, reason: History.StopReason, retryAfter: Duration?, until: Timestamp?)
        /// The call has ended.
        case done(End, attempts: Int, waited: Duration, elapsed: Duration)
    }

    /// The number of the call or operation within the client, counted from 1, or the caller's own.
    public var call: Int

    /// The number of the call for which this one is made, as a renewal is; nil for one that stands for itself.
    public var parent: Int?

    /// The call's name by ``RequestOptions/label``; nil if it has none.
    public var label: String?

    /// The method of the call's request; nil for an operation of several.
    public var method: String?

    /// The URL of the call's request without userinfo, query and fragment; nil for an operation of several.
    public var url: String?

    /// When it happened.
    public var time: TimeSource.Instant

    /// What happened.
    public var kind: Kind

    /// What has the call wait; nil for an event that is neither ``Kind/wait(reason:duration:until:)`` nor
    /// ``Kind/line(reason:atMost:until:)``.
    public var waitCause: WaitCause?

    /// Creates an event.
    public init(
        call: Int,
        parent: Int? = nil,
        label: String? = nil,
        method: String? = nil,
        url: String? = nil,
        time: TimeSource.Instant,
        kind: Kind,
        waitCause: WaitCause? = nil
    ) {
        self.call = call
        self.parent = parent
        self.label = label
        self.method = method
        self.url = url
        self.time = time
        self.kind = kind
        self.waitCause = waitCause
    }
}
