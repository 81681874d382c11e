#if Redis
extension RedisStore {
    /// A password that cannot be printed, interpolated, dumped or encoded.
    public struct Password: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible,
        CustomDebugStringConvertible, CustomReflectable
    {
        let text: String

        /// Wraps a password.
        public init(_ text: String) {
            self.text = text
        }

        /// Wraps a password.
        public init(stringLiteral value: String) {
            self.init(value)
        }

        /// A placeholder.
        public var description: String { "[secret]" }

        /// A placeholder.
        public var debugDescription: String { "[secret]" }

        /// A mirror without children.
        public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
    }
}
#endif
