public import HTTPTypes

/// The answer to a call: the response that was accepted, what it means, and how it came about.
public struct RecoveredResponse: Sendable {
    /// What a response holds, in one place for all copies: every layer that waits for one has room for it.
    ///
    /// Unchecked, because it is changed only while a single response refers to it.
    private final class Storage: @unchecked Sendable {
        var received: TransportResponse
        var outcome: Outcome
        var history: History
        var origin: Origin?
        var times: AttemptTimes?

        init(_ received: consuming TransportResponse, _ outcome: consuming Outcome, _ history: History = History()) {
            self.received = received
            self.outcome = outcome
            self.history = history
        }
    }

    private var storage: Storage

    private mutating func change(_ body: (Storage) -> Void) {
        if !isKnownUniquelyReferenced(&storage) {
            let copy = Storage(storage.received, storage.outcome, storage.history)
            (copy.origin, copy.times) = (storage.origin, storage.times)
            storage = copy
        }
        body(storage)
    }

    /// Status and header fields.
    public var head: HTTPResponse {
        get { storage.received.head }
        set { change { $0.received.head = newValue } }
    }

    /// The body.
    public var body: MessageBody {
        get { storage.received.body }
        set { change { $0.received.body = newValue } }
    }

    /// What the transport learns beside head and body; nil if that is nothing.
    public var report: (any TransportResponse.Report)? {
        get { storage.received.report }
        set { change { $0.received.report = newValue } }
    }

    /// What the response means; ``Outcome/Kind/ok`` or ``Outcome/Kind/continue`` unless it hangs on an error.
    public var outcome: Outcome {
        get { storage.outcome }
        set { change { $0.outcome = newValue } }
    }

    /// Every attempt and wait of the call, with their reasons.
    public var history: History {
        get { storage.history }
        set { change { $0.history = newValue } }
    }

    /// Takes note of what has led to a response that nobody else has yet, and of the times of its attempt.
    func note(_ history: History, _ times: AttemptTimes) {
        storage.history = history
        storage.times = times
    }

    /// When the attempt ended that it came of, and how long that took; nil if it came of none.
    var times: AttemptTimes? { storage.times }

    /// Whether it is a failure.
    var isFailure: Bool { storage.outcome.isFailure }

    /// Whether it is no failure, and answered by the origin that was asked.
    @inline(__always)
    var isOwnSuccess: Bool { !storage.outcome.isFailure && storage.origin == nil }

    /// How much stands in the history.
    var stepCount: Int { storage.history.steps.count }

    /// Who gave the answer, if that is not the origin that was asked.
    var origin: Origin? {
        get { storage.origin }
        set { change { $0.origin = newValue } }
    }

    /// Creates a response.
    public init(head: HTTPResponse, body: MessageBody, outcome: Outcome = Outcome(.ok), history: History = History()) {
        storage = Storage(TransportResponse(head: head, body: body), outcome, history)
    }

    /// Creates the answer to an attempt.
    init(_ received: consuming TransportResponse, _ outcome: consuming Outcome) {
        storage = Storage(received, outcome)
    }

    /// The status code.
    public var status: HTTPResponse.Status { head.status }

    /// The header fields.
    public var headerFields: HTTPFields { head.headerFields }
}
