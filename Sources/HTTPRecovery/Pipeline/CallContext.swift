import HTTPTypes

/// What accompanies a call through the pipeline.
///
/// It is small: each layer and each waiting call has a copy. Unchecked, because what it holds is guarded by a lock.
public struct CallContext: @unchecked Sendable {
    /// What the call wants to be treated differently.
    public var options: RequestOptions {
        get { rare.isEmpty ? record.options : rare.value.options ?? record.options }
        set { change { $0.options = newValue } }
    }

    /// When the call has to be over, response body included; nil is no limit.
    public var deadline: TimeSource.Instant? {
        get { end.value.map { TimeSource.Instant(sinceStart: $0) } }
        set { end = PackedDuration(newValue?.sinceStart) }
    }

    private var end = PackedDuration.none

    /// The time one attempt may take, response body included; nil is ``AttemptTimeout/standard``.
    public var attemptTimeout: Duration? {
        get { timeout.value }
        set { timeout = PackedDuration(newValue) }
    }

    private var timeout = PackedDuration.none

    /// The longest time in which no byte of an attempt comes or goes; nil is no limit but that of the attempt.
    public var idleTimeout: Duration? {
        get { rare.isEmpty ? nil : rare.value.idleTimeout }
        set { change { $0.idleTimeout = newValue } }
    }

    /// What stands between the present attempt and its transport, by the word of a layer inside the engine; nil is nothing.
    var interposition: (@Sendable (any HTTPTransport) -> any HTTPTransport)? {
        get { rare.isEmpty ? nil : rare.value.interposition }
        set { change { $0.interposition = newValue } }
    }

    /// Whether the attempt goes through its transport as any other.
    var usesTransportAsItIs: Bool {
        isAsMade || (idleTimeout == nil && interposition == nil)
    }

    /// The longest single wait that the engine around allows; nil without an engine.
    ///
    /// A layer that waits by itself keeps to it.
    public var longestWait: Duration? {
        get { wait.value }
        set { wait = PackedDuration(newValue) }
    }

    private var wait = PackedDuration.none

    /// Ends the call after the time, unless it ends earlier.
    mutating func bound(to limit: PackedDuration) {
        end = .least(end, PackedDuration(record.start.sinceStart) + limit)
    }

    /// Ends each attempt after the time, unless it ends earlier.
    mutating func boundAttempts(to limit: PackedDuration) {
        timeout = .least(timeout, limit)
    }

    /// Bounds each wait, whatever bounded it before.
    mutating func boundWaits(to limit: PackedDuration) {
        wait = limit
    }

    /// The time that an attempt has which begins at the moment; ``PackedDuration/none`` if nothing bounds it.
    func attemptTime(from start: TimeSource.Instant) -> PackedDuration {
        // No client waits for ever because nobody has thought of it.
        let own = timeout.isNone ? Self.standardTimeout : timeout.isLongest ? .none : timeout
        return end.isNone ? own : .least(own, end - PackedDuration(start.sinceStart))
    }

    private static let standardTimeout = PackedDuration(AttemptOptions.standardTimeout)

    /// Until when the present attempt may leave, as a layer inside the engine says; nil is no limit.
    ///
    /// ``limitSending(to:)`` sets it. The call's own limit is ``RequestOptions/sendBy``; the earlier of both holds.
    public var sendBy: TimeSource.Instant? {
        get { rare.isEmpty ? nil : rare.value.sendBy }
        set { change { $0.sendBy = newValue } }
    }

    /// The outcome that this request follows up if it continues a call, as after a redirect; nil otherwise.
    ///
    /// The engine charges such a request to the retry budget instead of counting it as a call of its own, and waits
    /// before it for as long as the outcome states.
    public var followUp: Outcome? {
        get { rare.isEmpty ? nil : rare.value.followUp }
        set { change { $0.followUp = newValue } }
    }

    /// Why the present attempt is made.
    public internal(set) var cause: History.Cause {
        get { rare.isEmpty ? .call : rare.value.cause }
        set { if newValue != cause { change { $0.cause = newValue } } }
    }

    /// What the call failed with before, if an operation makes it again; nil otherwise.
    var repetition: Outcome.Kind? {
        get { rare.isEmpty ? nil : rare.value.repetition }
        set { change { $0.repetition = newValue } }
    }

    /// The credential that the request presents, as the layer has said that attaches it; nil if none has.
    public var presented: PresentedCredential? { presentation.credential }

    /// What the layers have said of it.
    var presentation: Presentation { rare.isEmpty ? .asCalled : rare.value.presentation }

    /// What most attempts have none of.
    private struct Rare {
        var options: RequestOptions?
        var sendBy: TimeSource.Instant?
        var idleTimeout: Duration?
        var interposition: (@Sendable (any HTTPTransport) -> any HTTPTransport)?
        var followUp: Outcome?
        var cause = History.Cause.call
        var repetition: Outcome.Kind?
        var presentation = Presentation.asCalled
    }

    private var rare = BoxedIfPresent<Rare>()

    /// Whether nothing stands between the beginning of the call and its attempt that takes its time, or writes into the
    /// record: no layer, no admission, no wait.
    var isStraight = false

    private mutating func change(_ body: (inout Rare) -> Void) {
        var changed = rare.optional ?? Rare()
        body(&changed)
        rare = BoxedIfPresent(changed)
    }

    /// Whether the call is like most: it stands for itself, with nothing of its own that an engine would heed.
    var hasNothingOfItsOwn: Bool {
        isAsMade && wait.isNone && record.options.hasNothingOfItsOwn
    }

    /// Whether nothing has been changed that few attempts change.
    var isAsMade: Bool { rare.isEmpty }

    /// What the call shares with all calls of its client.
    var surroundings: Surroundings { record.surroundings }

    /// What the call has done so far.
    public var record: CallContext.Record { CallContext.Record(storage) }

    private var storage: CallContext.Record.Storage

    /// Clock, randomness, shared state and events.
    public var runtime: Runtime { surroundings.runtime }

    /// Creates a context of its own, for work that belongs to no call of a client.
    ///
    /// - Parameters:
    ///   - options: What is to be treated differently. Default: nothing.
    ///   - runtime: Clock, randomness, shared state and events.
    public init(options: RequestOptions = RequestOptions(), runtime: Runtime) {
        self.init(CallContext.Record(callID: 0, options, Surroundings(runtime)))
    }

    init(_ record: CallContext.Record) {
        storage = record.storage
    }

    /// The context of an attempt that is made beside that of this one: what it does is written into a record of its own.
    func beside() -> CallContext {
        var copy = self
        copy.storage = CallContext.Record(beside: record).storage
        return copy
    }

    /// The time left until the deadline, at least zero; nil without one.
    public var remaining: Duration? {
        guard let deadline else { return nil }
        return max(.zero, runtime.time.now.duration(to: deadline))
    }

    /// Says which credential the request presents; a layer that attaches one says so in the context that it hands on.
    ///
    /// It holds for the attempt that the context comes to and for no other: a request to another origin, or one from
    /// which the credential was taken away, presents nothing.
    public mutating func present(_ credential: PresentedCredential?) {
        change { $0.presentation = credential.map { .credential($0) } ?? .nothing }
        record.presented = credential
    }

    /// Takes back what a layer outside has said: the request presents what the call says
    /// (``RequestOptions/presents``), in its body.
    package mutating func presentAsCalled() {
        change { $0.presentation = .asCalled }
        record.presented = nil
    }

    /// Whether anybody watches the events of the call.
    var isObserved: Bool {
        options.isObserved || surroundings.runtime.events.isObserved
    }

    /// Tells those who watch the client's events.
    public func emit(_ kind: @autoclosure () -> RecoveryEvent.Kind) {
        emit(kind(), waitCause: nil)
    }

    /// Tells those who watch that the call waits, and what for.
    func emit(_ kind: @autoclosure () -> RecoveryEvent.Kind, waitCause: RecoveryEvent.WaitCause?) {
        guard isObserved else { return }
        let observer = options.observer
        let event = RecoveryEvent(
            call: record.callID,
            parent: record.parent,
            label: options.label,
            method: record.request?.method.rawValue,
            url: record.request?.redactedURL,
            time: runtime.time.now,
            kind: kind(),
            waitCause: waitCause
        )
        observer?(event)
        runtime.events.emit(event)
    }
}
