public import HTTPTypes

/// The answer to a call: the response that was accepted, what it means, and how it came about.
public struct Response: Sendable {
    /// Status and header fields.
    public var head: HTTPResponse

    /// The body.
    public var body: HTTPBody

    /// What the response means; ``Outcome/Kind/ok`` or ``Outcome/Kind/continue`` unless it hangs on an error.
    public var outcome: Outcome

    /// Every attempt and wait of the call, with their reasons.
    public var history: History

    /// Who gave the answer, where that is not the origin that was asked.
    var origin: Origin?

    /// Creates a response.
    public init(head: HTTPResponse, body: HTTPBody, outcome: Outcome = Outcome(.ok), history: History = History()) {
        self.head = head
        self.body = body
        self.outcome = outcome
        self.history = history
    }

    /// The status code.
    public var status: HTTPResponse.Status { head.status }

    /// The header fields.
    public var headerFields: HTTPFields { head.headerFields }
}
