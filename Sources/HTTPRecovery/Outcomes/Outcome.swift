/// What one exchange came to: success, a flow that goes on, or a failure with all that is known about it.
///
/// A classifier makes it from an ``Exchange``; policies decide by it; errors and events carry it. The vocabulary is the
/// same for every provider, and the provider's own words stay readable beside it.
public struct Outcome: Sendable, Hashable {
    /// What the exchange came to.
    public var kind: Kind

    /// How far the outcome reaches: which other requests it holds for.
    public var scope: Scope

    /// Whether the server has processed the request.
    public var processed: Processed

    /// The time the server asks to wait, by header, body or documented code; nil where it states none.
    ///
    /// Never our own backoff, not capped, at most `Duration.longest`. A lockout's time is in ``lockout``.
    public var retryAfter: Duration?

    /// How long the account stays locked, for ``Kind/accountLocked``; nil where nothing is said about a lockout.
    public var lockout: Lockout?

    /// What can be done about it, best first; empty where nothing helps.
    public var remedies: [Remedy]

    /// Which credential was refused, where one was.
    public var credential: CredentialKind?

    /// What must happen to the credential that was presented.
    public var tokenAction: TokenAction

    /// The provider's own code, as text.
    public var code: String?

    /// The provider's finer code, as text.
    public var subcode: String?

    /// The provider's own message for developers; never shown to a person, never logged by the library.
    public var message: String?

    /// The provider's own text for the end user, where it has one.
    public var userMessage: String?

    /// The parameter that the outcome concerns.
    public var parameter: String?

    /// The provider's own status of a flow or resource, such as `needs_second_factor`.
    public var statusType: String?

    /// The provider's own result of a factor, such as `WAITING`.
    public var factorResult: String?

    /// The provider's trace or request id.
    public var traceID: String?

    /// The provider's advice on what authentication it wants (`acr_values`, a policy advice, a DPoP nonce).
    public var advice: JSONValue?

    /// The provider's further members of the error, kept whole (Clerk's `meta`); it may name people, so it is never
    /// logged.
    public var details: JSONValue?

    /// The HTTP status; nil when no response came.
    public var status: Int?

    /// The transport's error; nil when a response came.
    public var transportError: TransportError?

    /// The outcomes of the items of a batch, in order; empty for a single answer.
    public var items: [Outcome]

    /// Creates an outcome.
    public init(
        _ kind: Kind,
        scope: Scope = .endpoint,
        processed: Processed = .unknown,
        retryAfter: Duration? = nil,
        remedies: [Remedy] = [],
        status: Int? = nil
    ) {
        self.kind = kind
        self.scope = scope
        self.processed = processed
        self.retryAfter = retryAfter
        self.remedies = remedies
        self.status = status
        self.lockout = nil
        self.credential = nil
        self.tokenAction = .keep
        self.code = nil
        self.subcode = nil
        self.message = nil
        self.userMessage = nil
        self.parameter = nil
        self.statusType = nil
        self.factorResult = nil
        self.traceID = nil
        self.advice = nil
        self.details = nil
        self.transportError = nil
        self.items = []
    }

    /// Whether the outcome is a failure, so neither ``Kind/ok`` nor ``Kind/continue``.
    public var isFailure: Bool {
        kind.isFailure
    }

    /// The time after which the server says it is worth trying again: its stated delay or the rest of the lockout.
    public var statedWait: Duration? {
        if case .remaining(let time) = lockout { return time }
        return retryAfter
    }
}
