/// What one call wants to be treated differently.
public struct RequestOptions: Sendable {
    /// What makes it safe to send the request a second time when nobody knows whether the first was processed.
    public struct ResendPermission: Sendable, Hashable {
        enum Grant: Hashable { case byMethod, callerVouches, never }
        let grant: Grant

        /// Idempotent methods may be resent (RFC 9110 section 9.2.2), and requests with an `Idempotency-Key` field.
        public static let byMethod = ResendPermission(grant: .byMethod)
        /// The caller vouches that processing the request twice does no harm.
        public static let replayable = ResendPermission(grant: .callerVouches)
        /// The request spends something (a password attempt, a one-time code, a rotating refresh token): it is never
        /// resent on doubt, whatever its method.
        public static let spending = ResendPermission(grant: .never)
    }

    /// How much of a response is read before it is judged.
    public struct Buffering: Sendable, Hashable {
        let limit: Int

        /// Reads up to `limit` bytes of the body before the response is judged.
        ///
        /// What is larger streams on behind them. A transfer that breaks within the limit is still recovered from.
        public static func upTo(_ limit: Int) -> Buffering { Buffering(limit: max(0, limit)) }
        /// Hands a successful response out as soon as its head has arrived; error bodies are read all the same.
        public static let streamed = Buffering(limit: -1)
    }

    /// Whether the request may be sent a second time on doubt; default: ``ResendPermission/byMethod``.
    public var resend: ResendPermission {
        get { storage.values.resend }
        set { change { $0.resend = newValue } }
    }

    /// How much of the response is read before it is judged; default: 1 MiB.
    public var buffering: Buffering {
        get { storage.values.buffering }
        set { change { $0.buffering = newValue } }
    }

    /// The time the whole call may take, its body included, shorter or longer than that of a ``Deadline`` of the client,
    /// whose place it takes; nil leaves it to that.
    ///
    /// An operation's deadline holds all the same.
    public var deadline: Duration? {
        get { storage.values.deadline }
        set { change { $0.deadline = newValue } }
    }

    /// Until when the request may leave, whatever holds it up, and what the call comes to after; nil is no limit.
    ///
    /// For what has an end: a code, a ticket, a link. A wait that would not end before it is not begun, and what is too
    /// late is not sent again.
    public var sendBy: RequestOptions.SendBy? {
        get { storage.values.sendBy }
        set { change { $0.sendBy = newValue } }
    }

    /// Who tells what an exchange came to; nil takes the client's.
    public var classifier: (any OutcomeClassifier)? {
        get { storage.values.classifier }
        set { change { $0.classifier = newValue } }
    }

    /// The account that the request tries to open, so that a lockout holds for it; any stable text, such as the
    /// identifier in lower case.
    public var account: String? {
        get { storage.values.account }
        set { change { $0.account = newValue } }
    }

    /// What tells the credential of the request from others if limits are counted per credential; nil asks the
    /// layers that attach one (``CredentialPresenting``), and takes the `Authorization` field if none does.
    public var credentialID: String? {
        get { storage.values.credentialID }
        set { change { $0.credentialID = newValue } }
    }

    /// The app that the request counts for, so that a limit of an app holds no other; nil counts all requests to an
    /// origin for one app.
    public var app: String? {
        get { storage.values.app }
        set { change { $0.app = newValue } }
    }

    /// The sort of credential that the request presents; nil lets the authorization say it, or the field's presence.
    public var presents: Outcome.CredentialKind? {
        get { storage.values.presents }
        set { change { $0.presents = newValue } }
    }

    /// Layers of this call alone, the outermost first; they stand innermost and see every attempt.
    ///
    /// A provider attaches and keeps its credentials here, so that each attempt carries the newest.
    public var attemptLayers: [any ClientLayer] {
        get { storage.values.attemptLayers }
        set { change { $0.attemptLayers = newValue } }
    }

    /// Policies of this call alone, asked before those of the client's ``Recovery``; none by default.
    ///
    /// A provider says here what repairs its own refusals. They decide within the engine's limits, and without an
    /// engine nobody asks them.
    public var policies: [any RecoveryPolicy] {
        get { storage.values.policies }
        set { change { $0.policies = newValue } }
    }

    /// What holds the attempts of this call back beside the client's own ``Recovery``, the first asked first; none by
    /// default.
    ///
    /// A provider keeps a rate here that it knows beforehand. Without an engine nobody asks them.
    public var admissions: [any Admission] {
        get { storage.values.admissions }
        set { change { $0.admissions = newValue } }
    }

    /// How urgent the call is where calls stand in line (``Recovery/ConcurrencyLimit``): the greater number goes first;
    /// default: 0.
    public var priority: Int {
        get { storage.values.priority }
        set { change { $0.priority = newValue } }
    }

    /// Whether a ``Redirects`` layer of the client follows this call's redirects; default: it does.
    ///
    /// False if the redirect itself is the answer, as from an authorization endpoint.
    public var followsRedirects: Bool {
        get { storage.values.followsRedirects }
        set { change { $0.followsRedirects = newValue } }
    }

    /// A name for the call in its events, such as that of what it is made for; it must be no secret.
    ///
    /// Nil is none.
    public var label: String? {
        get { storage.values.label }
        set { change { $0.label = newValue } }
    }

    /// Told this call's events, beside those who watch the client.
    public var observer: (@Sendable (RecoveryEvent) -> Void)? {
        get { storage.values.observer }
        set { change { $0.observer = newValue } }
    }

    /// Handed the recording of the call when it ends, in whatever way; of a call that is redirected one for each hop, and
    /// none without an engine.
    public var recorder: (@Sendable (CallRecording) -> Void)? {
        get { storage.values.recorder }
        set { change { $0.recorder = newValue } }
    }

    /// The number under which the call appears in events; nil takes the client's next.
    public var callID: Int? {
        get { storage.values.callID }
        set { change { $0.callID = newValue } }
    }

    /// Whether an engine decides about the call by nothing but what it has itself, and nobody records that.
    var hasNothingOfItsOwn: Bool { storage.hasNothingOfItsOwn }

    /// Whether the call has layers of its own.
    var hasAttemptLayers: Bool { storage.hasAttemptLayers }

    /// Whether the call has a classifier of its own.
    var hasClassifier: Bool { storage.hasClassifier }

    /// Whether the call may leave only until some moment.
    var hasSendLimit: Bool { storage.hasSendLimit }

    /// Whether anybody watches the call by itself.
    var isObserved: Bool { storage.isObserved }

    /// Whether the call is recorded.
    var isRecorded: Bool { storage.values.recorder != nil }

    /// One for all copies, and what each call asks of it.
    private final class Storage: Sendable {
        let values: Values
        let hasNothingOfItsOwn: Bool
        let hasAttemptLayers: Bool
        let hasClassifier: Bool
        let isObserved: Bool
        let hasSendLimit: Bool

        init(_ values: Values) {
            self.values = values
            hasNothingOfItsOwn = values.policies.isEmpty && values.admissions.isEmpty && values.recorder == nil
            hasAttemptLayers = !values.attemptLayers.isEmpty
            hasClassifier = values.classifier != nil
            isObserved = values.observer != nil
            hasSendLimit = values.sendBy != nil
        }
    }

    private struct Values: Sendable {
        var resend = ResendPermission.byMethod
        var buffering = Buffering.upTo(1 << 20)
        var deadline: Duration?
        var sendBy: RequestOptions.SendBy?
        var classifier: (any OutcomeClassifier)?
        var account: String?
        var credentialID: String?
        var app: String?
        var presents: Outcome.CredentialKind?
        var attemptLayers: [any ClientLayer] = []
        var policies: [any RecoveryPolicy] = []
        var admissions: [any Admission] = []
        var priority = 0
        var followsRedirects = true
        var label: String?
        var observer: (@Sendable (RecoveryEvent) -> Void)?
        var recorder: (@Sendable (CallRecording) -> Void)?
        var callID: Int?
    }

    /// Shared by all copies: every layer and every waiting call has one.
    private var storage: Storage

    private static let standard = Storage(Values())

    private mutating func change(_ body: (inout Values) -> Void) {
        var changed = storage.values
        body(&changed)
        storage = Storage(changed)
    }

    /// Creates options that say nothing special.
    public init() {
        storage = Self.standard
    }

    /// Creates options.
    public init(
        resend: ResendPermission = .byMethod,
        buffering: Buffering = .upTo(1 << 20),
        deadline: Duration? = nil,
        sendBy: RequestOptions.SendBy? = nil,
        classifier: (any OutcomeClassifier)? = nil,
        account: String? = nil,
        credentialID: String? = nil,
        app: String? = nil,
        presents: Outcome.CredentialKind? = nil,
        attemptLayers: [any ClientLayer] = [],
        policies: [any RecoveryPolicy] = [],
        admissions: [any Admission] = [],
        priority: Int = 0,
        followsRedirects: Bool = true,
        label: String? = nil,
        observer: (@Sendable (RecoveryEvent) -> Void)? = nil,
        recorder: (@Sendable (CallRecording) -> Void)? = nil,
        callID: Int? = nil
    ) {
        let values = Values(
            resend: resend,
            buffering: buffering,
            deadline: deadline,
            sendBy: sendBy,
            classifier: classifier,
            account: account,
            credentialID: credentialID,
            app: app,
            presents: presents,
            attemptLayers: attemptLayers,
            policies: policies,
            admissions: admissions,
            priority: priority,
            followsRedirects: followsRedirects,
            label: label,
            observer: observer,
            recorder: recorder,
            callID: callID
        )
        storage = Storage(values)
    }
}
