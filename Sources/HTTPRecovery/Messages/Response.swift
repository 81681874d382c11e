public import HTTPTypes

/// The answer to a call: the response that was accepted, what it means, and how it came about.
public struct Response: Sendable {
    /// What a response holds, in one place for all copies: every layer that waits for one has room for it.
    ///
    /// Unchecked, because it is changed only while a single response refers to it.
    private final class Storage: @unchecked Sendable {
        var head: HTTPResponse
        var body: HTTPBody
        var outcome: Outcome
        var history: History
        var origin: Origin?

        init(_ head: HTTPResponse, _ body: HTTPBody, _ outcome: Outcome, _ history: History, _ origin: Origin?) {
            self.head = head
            self.body = body
            self.outcome = outcome
            self.history = history
            self.origin = origin
        }
    }

    private var storage: Storage

    private mutating func change(_ body: (Storage) -> Void) {
        if !isKnownUniquelyReferenced(&storage) {
            storage = Storage(storage.head, storage.body, storage.outcome, storage.history, storage.origin)
        }
        body(storage)
    }

    /// Status and header fields.
    public var head: HTTPResponse {
        get { storage.head }
        set { change { $0.head = newValue } }
    }

    /// The body.
    public var body: HTTPBody {
        get { storage.body }
        set { change { $0.body = newValue } }
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

    /// Who gave the answer, where that is not the origin that was asked.
    var origin: Origin? {
        get { storage.origin }
        set { change { $0.origin = newValue } }
    }

    /// Creates a response.
    public init(head: HTTPResponse, body: HTTPBody, outcome: Outcome = Outcome(.ok), history: History = History()) {
        storage = Storage(head, body, outcome, history, nil)
    }

    /// The status code.
    public var status: HTTPResponse.Status { head.status }

    /// The header fields.
    public var headerFields: HTTPFields { head.headerFields }
}
