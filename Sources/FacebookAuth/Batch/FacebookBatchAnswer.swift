public import HTTPRecovery
public import HTTPTypes

/// The answer to one request of a batch.
public struct FacebookBatchAnswer: Sendable {
    /// What it came to; one that was not done because a request that it needs has failed has that one's kind.
    public var outcome: Outcome
    /// Status and header fields; nil if there was no answer to this request.
    public var head: HTTPResponse?
    /// The body; empty if there was no answer.
    public var body: MessageBody
    /// How often the request was sent.
    public var attempts: Int

    /// The body as a JSON value; nil if it is none.
    public var json: JSONValue? {
        body.bytesInMemory.flatMap { bytes in FacebookBody(ResponseContent(Array(bytes)), Array(bytes)).json }
    }
}
