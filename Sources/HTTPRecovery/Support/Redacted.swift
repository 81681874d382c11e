/// A value of which its description alone is ever printed: not by `print`, `dump`, string interpolation or a debugger.
///
/// It is for what holds secrets or the words of a server; the description leaves them out.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// The same as the description.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
