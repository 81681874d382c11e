/// What accompanies a call through the pipeline.
public struct CallContext: Sendable {
    /// What the call wants to be treated differently.
    public var options: RequestOptions

    /// When the call has to be over, response body included; nil is no limit.
    public var deadline: TimeSource.Instant?

    /// The time one attempt may take, response body included; nil is no limit.
    public var attemptTimeout: Duration?

    /// The outcome that this request follows up where it continues a call, as after a redirect; nil otherwise.
    ///
    /// The engine charges such a request to the retry budget instead of counting it as a call of its own.
    public var followUp: Outcome?

    /// What the call has done so far.
    public let record: CallRecord

    /// Clock, randomness, shared state and events.
    public let runtime: Runtime

    /// Creates a context.
    public init(options: RequestOptions = RequestOptions(), record: CallRecord, runtime: Runtime) {
        self.options = options
        self.deadline = nil
        self.attemptTimeout = nil
        self.followUp = nil
        self.record = record
        self.runtime = runtime
    }

    /// The time left until the deadline, at least zero; nil without one.
    public var remaining: Duration? {
        guard let deadline else { return nil }
        return max(.zero, runtime.time.now.duration(to: deadline))
    }

    /// Tells those who watch the client's events.
    public func emit(_ kind: @autoclosure () -> RecoveryEvent.Kind) {
        let observer = options.observer
        guard observer != nil || runtime.events.isObserved else { return }
        let event = RecoveryEvent(call: record.callID, time: runtime.time.now, kind: kind())
        observer?(event)
        runtime.events.emit(event)
    }
}

/// What all calls of a client share.
public struct Runtime: Sendable {
    /// Where time comes from.
    public var time: TimeSource
    /// Where randomness comes from.
    public var random: RandomSource
    /// What is known about closed gates, shared as far as the store spans.
    public var store: any RecoveryStore
    /// Whom events are told.
    public var events: EventHub
    /// Who tells what an exchange came to, unless the call names its own.
    public var classifier: any OutcomeClassifier

    /// Creates a runtime.
    public init(
        time: TimeSource = .system,
        random: RandomSource = RandomSource(),
        store: any RecoveryStore = InMemoryRecoveryStore(),
        events: EventHub = EventHub(),
        classifier: any OutcomeClassifier = HTTPClassifier()
    ) {
        self.time = time
        self.random = random
        self.store = store
        self.events = events
        self.classifier = classifier
    }
}
