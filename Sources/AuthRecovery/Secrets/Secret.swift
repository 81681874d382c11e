public import HTTPRecovery

/// A text that must not be seen: a password, a code, a token.
///
/// It cannot be printed, interpolated, dumped or encoded; whoever needs the text asks for it with ``reveal()``, which
/// is easy to find in a review.
public struct Secret: Sendable, Hashable, Redacted {
    private let text: String

    /// Wraps a text.
    public init(_ text: String) {
        self.text = text
    }

    /// The text itself.
    public func reveal() -> String {
        text
    }

    /// Whether the text is empty.
    public var isEmpty: Bool { text.isEmpty }

    /// A placeholder.
    public var description: String { "[secret]" }
}

extension Secret: ExpressibleByStringLiteral {
    /// Wraps a text.
    public init(stringLiteral value: String) { self.init(value) }
}
