import HTTPTypes

extension Response: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Status and outcome; no header field, since cookies and tokens stand there, and nothing of the body.
    public var description: String {
        "Response(status: \(status.code), outcome: \(outcome.kind.rawValue), attempts: \(history.attempts.count))"
    }

    /// The same.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
