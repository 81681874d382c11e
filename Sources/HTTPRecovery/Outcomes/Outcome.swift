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

    /// The time the server asks to wait, by header, body or documented code; nil if it states none.
    ///
    /// Never our own backoff, not capped, at most `Duration.longest`. A lockout's time is in ``lockout``.
    public var retryAfter: Duration? {
        get { rare.isEmpty ? nil : rare.value.retryAfter }
        set { change { $0.retryAfter = newValue.map { min($0, .longest) } } }
    }

    /// How ``retryAfter`` is meant.
    public var delayForm: DelayForm {
        get { rare.isEmpty ? .atLeast : rare.value.delayForm }
        set { if newValue != delayForm { change { $0.delayForm = newValue } } }
    }

    /// How long the account stays locked, for ``Kind/accountLocked``; nil if nothing is said about a lockout.
    public var lockout: Lockout? {
        get { rare.isEmpty ? nil : rare.value.lockout }
        set {
            var lockout = newValue
            if case .remaining(let time) = newValue { lockout = .remaining(min(time, .longest)) }
            change { $0.lockout = lockout }
        }
    }

    /// What can be done about it, best first; empty if nothing helps.
    public var remedies: [Outcome.Remedy] {
        get { rare.isEmpty ? [] : rare.value.remedies }
        set { change { $0.remedies = newValue } }
    }

    /// Which credential was refused, if one was.
    public var credential: CredentialKind? {
        get { rare.isEmpty ? nil : rare.value.credential }
        set { change { $0.credential = newValue } }
    }

    /// What must happen to the credential that was presented.
    public var tokenAction: TokenAction {
        get { rare.isEmpty ? .keep : rare.value.tokenAction }
        set { change { $0.tokenAction = newValue } }
    }

    /// The provider's own code, as text.
    public var code: String? {
        get { rare.isEmpty ? nil : rare.value.code }
        set { change { $0.code = newValue } }
    }

    /// The provider's finer code, as text.
    public var subcode: String? {
        get { rare.isEmpty ? nil : rare.value.subcode }
        set { change { $0.subcode = newValue } }
    }

    /// The provider's own message for developers; never shown to a person, never logged by the library.
    public var message: String? {
        get { rare.isEmpty ? nil : rare.value.message }
        set { change { $0.message = newValue } }
    }

    /// The provider's own text for the end user, if it has one.
    public var userMessage: String? {
        get { rare.isEmpty ? nil : rare.value.userMessage }
        set { change { $0.userMessage = newValue } }
    }

    /// The parameter that the outcome concerns.
    public var parameter: String? {
        get { rare.isEmpty ? nil : rare.value.parameter }
        set { change { $0.parameter = newValue } }
    }

    /// The provider's own status of a flow or resource, such as `needs_second_factor`.
    public var statusType: String? {
        get { rare.isEmpty ? nil : rare.value.statusType }
        set { change { $0.statusType = newValue } }
    }

    /// What is left to be done before the session that there is can be used, in the provider's word, such as
    /// `reset-password`; nil if nobody is signed in, or nothing is left.
    public var openTask: String? {
        get { rare.isEmpty ? nil : rare.value.openTask }
        set { change { $0.openTask = newValue } }
    }

    /// The provider's own result of a factor, such as `WAITING`.
    public var factorResult: String? {
        get { rare.isEmpty ? nil : rare.value.factorResult }
        set { change { $0.factorResult = newValue } }
    }

    /// The provider's trace or request id.
    public var traceID: String? {
        get { rare.isEmpty ? nil : rare.value.traceID }
        set { change { $0.traceID = newValue } }
    }

    /// The provider's advice on what authentication it wants (`acr_values`, a policy advice, a DPoP nonce).
    public var advice: JSONValue? {
        get { rare.isEmpty ? nil : rare.value.advice }
        set { change { $0.advice = newValue } }
    }

    /// The provider's further members of the error, kept whole (Clerk's `meta`); it may name people, so it is never
    /// logged.
    public var details: JSONValue? {
        get { rare.isEmpty ? nil : rare.value.details }
        set { change { $0.details = newValue } }
    }

    /// The HTTP status; nil when no response came.
    public var status: Int?

    /// The transport's error; nil when a response came.
    public var transportError: TransportError? {
        get { rare.isEmpty ? nil : rare.value.transportError }
        set { change { $0.transportError = newValue } }
    }

    /// The outcomes of the items of a batch, in order; empty for a single answer.
    public var items: [Outcome] {
        get { rare.isEmpty ? [] : rare.value.items }
        set { change { $0.items = newValue } }
    }

    /// What a success has none of; kept aside, since every layer and every waiting call copies an outcome.
    private var rare = BoxedIfPresent<Rare>()

    private struct Rare: Sendable, Hashable {
        var retryAfter: Duration?
        var delayForm = DelayForm.atLeast
        var remedies: [Outcome.Remedy] = []
        var lockout: Lockout?
        var credential: CredentialKind?
        var tokenAction = TokenAction.keep
        var code: String?
        var subcode: String?
        var message: String?
        var userMessage: String?
        var parameter: String?
        var statusType: String?
        var openTask: String?
        var factorResult: String?
        var traceID: String?
        var advice: JSONValue?
        var details: JSONValue?
        var transportError: TransportError?
        var items = [Outcome]()
    }

    private mutating func change(_ body: (inout Rare) -> Void) {
        var values = rare.optional ?? Rare()
        body(&values)
        if rare.isEmpty, values == Rare() { return }
        rare = BoxedIfPresent(values)
    }

    /// Creates an outcome.
    public init(
        _ kind: Kind,
        scope: Scope = .endpoint,
        processed: Processed = .unknown,
        retryAfter: Duration? = nil,
        remedies: [Outcome.Remedy] = [],
        status: Int? = nil
    ) {
        self.kind = kind
        self.scope = scope
        self.processed = processed
        self.status = status
        if retryAfter == nil, remedies.isEmpty { return }
        rare = BoxedIfPresent(Rare(retryAfter: retryAfter.map { min($0, .longest) }, remedies: remedies))
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

extension Outcome {
    /// Whether two outcomes say the same.
    public static func == (first: Outcome, second: Outcome) -> Bool {
        first.kind == second.kind && first.scope == second.scope && first.processed == second.processed
            && first.status == second.status && (first.rare.optional ?? Rare()) == (second.rare.optional ?? Rare())
    }

    /// Hashes what the outcome says.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(scope)
        hasher.combine(processed)
        hasher.combine(status)
        hasher.combine(rare.optional ?? Rare())
    }
}

extension Outcome {
    /// Whether the outcome tells of a server that is down or overloaded, and not of what was asked of it.
    public var isLoadFailure: Bool {
        switch kind {
        case .unavailable, .transport, .timedOut, .rateLimited: true
        default: false
        }
    }
}
