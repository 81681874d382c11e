#if Cryptography
/// Why a client's assertion could not be made; nothing was sent.
public enum ClientAssertionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The audience was to be the issuer, and the server was described without one.
    case unknownIssuer
    /// The client's secret is empty.
    case emptySecret

    /// What is wrong and what to do.
    public var description: String {
        switch self {
        case .unknownIssuer: "the assertion is for the issuer, but the server has none; describe it with one"
        case .emptySecret: "the client's secret is empty"
        }
    }
}
#endif
