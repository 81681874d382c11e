#if Redis
extension RedisStore {
    /// Which primary Sentinels are asked for, and who asks them.
    ///
    /// They are reached in the same way as servers, over TLS if ``RedisStore/Configuration/tls`` says so.
    public struct Sentinel: Sendable, Hashable {
        /// The name that the Sentinels watch the primary under, such as `mymaster`.
        public var primary: String

        /// The user of the Sentinels' access control list; nil, the default, is their default user.
        public var user: String?

        /// The password of the Sentinels, which is not that of the servers; nil, the default, sends none.
        public var password: Password?

        /// Creates a description.
        public init(primary: String, user: String? = nil, password: Password? = nil) {
            self.primary = primary
            self.user = user
            self.password = password
        }
    }
}
#endif
