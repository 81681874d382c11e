public import HTTPTypes

/// A response as a transport delivers it.
public struct TransportResponse: Sendable {
    /// Status and header fields.
    public var head: HTTPResponse

    /// The body, which may still be on its way.
    public var body: HTTPBody

    /// Creates a response.
    public init(head: HTTPResponse, body: HTTPBody = .empty) {
        self.head = head
        self.body = body
    }
}
