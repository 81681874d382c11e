extension MessageBody: Redacted {
    /// The length, if it is known; nothing of the content.
    public var description: String {
        "MessageBody(\(length.map { "\($0) bytes" } ?? "streamed"))"
    }
}
