extension DPoPAuthorization {
    /// Why an access token was not sent: its type does not fit the way in which it was to be presented.
    public enum BindingError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The token is bound to a key and must not be sent as a bearer token (RFC 9449 section 7.1).
        case bound
        /// The server has issued the token as another type than `DPoP`: it is not bound to the key that proofs are made
        /// with.
        case notBound
        /// The server has issued the token as a type that nothing here knows how to present (RFC 6749 section 7.1).
        case unknownType

        /// What is wrong and what to do.
        public var description: String {
            switch self {
            case .bound: "the access token is of the type DPoP; send it with DPoPAuthorization, not as a bearer token"
            case .unknownType: "the access token is of a type that is neither Bearer nor DPoP; it cannot be presented"
            case .notBound:
                "the access token is not of the type DPoP; renew it at a token endpoint that is given proofs"
            }
        }
    }
}
