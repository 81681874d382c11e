extension HTTPBody: Redacted {
    /// The length, where it is known; nothing of the content.
    public var description: String {
        "HTTPBody(\(length.map { "\($0) bytes" } ?? "streamed"))"
    }
}
