import HTTPTypes

/// What accompanies a call through the pipeline.
public struct CallContext: Sendable {
    /// What the call wants to be treated differently.
    public var options: RequestOptions

    /// When the call has to be over, response body included; nil is no limit.
    public var deadline: TimeSource.Instant?

    /// The time one attempt may take, response body included; nil is ``AttemptTimeout/standard``.
    public var attemptTimeout: Duration?

    /// Until when the present attempt may leave, as a layer inside the engine says; nil is no limit.
    ///
    /// ``limitSending(to:)`` sets it. The call's own limit is ``RequestOptions/sendBy``; the earlier of both holds.
    public var sendBy: TimeSource.Instant?

    /// The longest single wait that the engine around allows; nil without an engine.
    ///
    /// A layer that waits by itself keeps to it.
    public var longestWait: Duration?

    /// The outcome that this request follows up where it continues a call, as after a redirect; nil otherwise.
    ///
    /// The engine charges such a request to the retry budget instead of counting it as a call of its own, and waits
    /// before it for as long as the outcome states.
    public var followUp: Outcome? {
        get { continued?.value }
        set { continued = newValue.map { Box($0) } }
    }

    private var continued: Box<Outcome>?

    /// Why the present attempt is made.
    public internal(set) var cause = AttemptCause.call

    /// What the call failed with before, where an operation makes it again; nil otherwise.
    var repetition: Outcome.Kind?

    /// The credential that the request presents, as the layer has said that attaches it; nil where none has.
    public private(set) var presented: PresentedCredential?

    /// Whether a layer has said that the request presents none.
    private(set) var presentsNothing = false

    /// The client's layers that can tell whose credential a request is going to present, the outermost first.
    var presenters: [any Middleware] = []

    /// What the call has done so far.
    public let record: CallRecord

    /// Clock, randomness, shared state and events.
    public let runtime: Runtime

    /// Creates a context.
    public init(options: RequestOptions = RequestOptions(), record: CallRecord, runtime: Runtime) {
        self.options = options
        self.deadline = nil
        self.attemptTimeout = nil
        self.sendBy = nil
        self.longestWait = nil
        self.presented = nil
        self.record = record
        self.runtime = runtime
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
        presented = credential
        presentsNothing = credential == nil
        record.presented = credential
    }

    /// Takes back what a layer outside has said: the request presents what the call says
    /// (``RequestOptions/presents``), in its body.
    package mutating func presentAsCalled() {
        presented = nil
        presentsNothing = false
        record.presented = nil
    }

    /// Tells those who watch the client's events.
    public func emit(_ kind: @autoclosure () -> RecoveryEvent.Kind) {
        let observer = options.observer
        guard observer != nil || runtime.events.isObserved else { return }
        let event = RecoveryEvent(
            call: record.callID,
            parent: record.parent,
            label: options.label,
            method: record.request?.method.rawValue,
            url: record.request?.redactedURL,
            time: runtime.time.now,
            kind: kind()
        )
        observer?(event)
        runtime.events.emit(event)
    }
}
