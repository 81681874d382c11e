extension SharedState {
    /// The content of a record and the version that tells it from those before and after it.
    public struct Record: Sendable, Hashable {
        /// The content.
        public var bytes: [UInt8]

        /// The version; it only grows.
        public var version: UInt64

        /// Creates a record.
        public init(bytes: [UInt8], version: UInt64) {
            self.bytes = bytes
            self.version = version
        }
    }
}
