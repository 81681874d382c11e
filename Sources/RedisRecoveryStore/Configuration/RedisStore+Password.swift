#if Redis
public import HTTPRecovery

extension RedisStore {
    /// A password that cannot be printed, interpolated, dumped or encoded.
    public struct Password: Sendable, Hashable, ExpressibleByStringLiteral, Redacted {
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
    }
}
#endif
