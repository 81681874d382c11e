extension HTTPBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The length, where it is known; nothing of the content.
    public var description: String {
        "HTTPBody(\(length.map { "\($0) bytes" } ?? "streamed"))"
    }

    /// The same.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
