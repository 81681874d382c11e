public import HTTPTypes

/// A response as a transport delivers it.
public struct TransportResponse: Sendable {
    /// Status and header fields.
    public var head: HTTPResponse

    /// The body, which may still be on its way.
    public var body: MessageBody

    /// What the transport learns beside them, such as trailers; nil, the default, if that is nothing.
    public var report: (any Report)? {
        get { kept.optional }
        set { kept = BoxedIfPresent(newValue) }
    }

    private var kept = BoxedIfPresent<any Report>()

    /// Creates a response.
    public init(head: HTTPResponse, body: MessageBody = .empty, report: (any Report)? = nil) {
        self.head = head
        self.body = body
        self.kept = BoxedIfPresent(report)
    }
}
