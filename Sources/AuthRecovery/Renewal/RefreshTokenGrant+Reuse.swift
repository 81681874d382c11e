extension RefreshTokenGrant {
    /// What may be done with a refresh token after the answer to its use was lost.
    ///
    /// A server that rotates refresh tokens takes a second use of one for theft, and ends the whole session (RFC 9700
    /// section 4.14.2). Nobody can tell whether a request whose answer was lost has used the token.
    public enum Reuse: Sendable, Hashable {
        /// Nothing is known of the server: the call whose renewal was not answered fails; another one may present the token
        /// again within 30 s, the usual grace, and none after it.
        case undeclared
        /// The server does not rotate refresh tokens: the same token is presented again.
        case reusable
        /// The server rotates: a token that may have been used is presented again within the grace that the server states,
        /// counted from its first use, and never after it.
        case rotating(grace: Duration)
    }
}
