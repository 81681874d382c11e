public import HTTPTypes

/// A response as a transport delivers it.
public struct TransportResponse: Sendable {
    /// Status and header fields.
    public var head: HTTPResponse

    /// The body, which may still be on its way.
    public var body: MessageBody

    /// Creates a response.
    public init(head: HTTPResponse, body: MessageBody = .empty) {
        self.head = head
        self.body = body
    }
}
