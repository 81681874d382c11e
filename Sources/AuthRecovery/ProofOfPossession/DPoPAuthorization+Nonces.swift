public import HTTPRecovery
public import HTTPTypes

extension DPoPAuthorization {
    /// The newest nonce that each server has given out for proofs (RFC 9449 sections 8 and 9).
    ///
    /// All layers that speak to the same servers with the same key share one, so that one answer serves all. It holds the
    /// nonces of a bounded number of origins; a nonce is a hint from the server and no secret.
    public final class Nonces: Sendable {
        /// The most bytes of a nonce that is kept.
        private static let maximumLength = 4096

        private let nonces: Locked<RecentValues<String>>

        /// Creates an empty collection.
        ///
        /// - Parameter capacity: The most origins that are remembered, at least 1; default: 64.
        public init(capacity: Int = 64) {
            nonces = Locked(RecentValues(capacity: capacity))
        }

        /// The newest nonce of an origin; nil if it has given none.
        public subscript(origin: Origin) -> String? {
            nonces.withLock { $0[origin] }
        }

        /// Keeps the nonce of an answer, whatever its status; an answer without a usable one changes nothing.
        ///
        /// - Parameters:
        ///   - fields: The answer's header fields.
        ///   - origin: The origin that has answered.
        public func keep(_ fields: HTTPFields, from origin: Origin) {
            guard let nonce = fields.lines("dpop-nonce").last(where: Self.isNonce) else { return }
            nonces.withLock { $0.keep(nonce, for: origin) }
        }

        /// Whether a text is a nonce by RFC 9449 section 8.1.
        private static func isNonce(_ text: String) -> Bool {
            (1...maximumLength).contains(text.utf8.count)
                && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
        }
    }
}
