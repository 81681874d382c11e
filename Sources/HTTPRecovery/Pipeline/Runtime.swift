/// What all calls of a client share.
public struct Runtime: Sendable {
    /// Where time comes from.
    public var time: TimeSource
    /// Where randomness comes from.
    public var random: Runtime.RandomSource
    /// What is known about closed gates, leases, budgets and records, shared as far as the store spans.
    public var state: SharedState
    /// Whom events are told.
    public var events: RecoveryEvent.Hub
    /// Who tells what an exchange came to, unless the call names its own.
    public var classifier: any OutcomeClassifier
    /// The numbers of calls and operations in the events.
    package let numbers = CallNumbers()

    /// Creates a runtime.
    ///
    /// - Parameters:
    ///   - time: Where time comes from.
    ///   - random: Where randomness comes from.
    ///   - store: Keeps what calls have to know of each other; by default for this process alone.
    ///   - storeTimeout: The longest that a call waits for a store outside this process; default: 250 ms. A store that
    ///     does not answer within it is done without until it does; that is told once, as an event of call 0.
    ///   - events: Whom events are told.
    ///   - classifier: Who tells what an exchange came to.
    public init(
        time: TimeSource = .system,
        random: Runtime.RandomSource = Runtime.RandomSource(),
        store: any RecoveryStore = InMemoryRecoveryStore(),
        storeTimeout: Duration = .milliseconds(250),
        events: RecoveryEvent.Hub = RecoveryEvent.Hub(),
        classifier: any OutcomeClassifier = HTTPClassifier()
    ) {
        self.time = time
        self.random = random
        self.state = SharedState(store, timeout: storeTimeout, time: time) { health in
            events.emit(RecoveryEvent(call: 0, time: time.now, kind: .store(health)))
        }
        self.events = events
        self.classifier = classifier
    }
}
