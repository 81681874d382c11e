extension PresentedCredential {
    /// What tells the credential of one account from those of others, without the credential itself.
    ///
    /// The same in every process that presents the same credential, since they may share the limits that are known; and as
    /// far as possible the same before and after a renewal, since a limit mostly counts what somebody does, not with which
    /// token.
    public struct Identity: Sendable, Hashable {
        /// The name by which limits are kept; no secret, and no name of a person.
        public var name: String

        /// Names that the same credential had before a renewal, under which a limit may be known still.
        public var formerNames: [String]

        /// Creates an identity.
        ///
        /// - Parameters:
        ///   - name: The name by which limits are kept, such as a fingerprint.
        ///   - formerNames: Names before a renewal. Default: none.
        public init(name: String, formerNames: [String] = []) {
            self.name = name
            self.formerNames = formerNames
        }

        /// The identity of a session, by a fingerprint of what presents it.
        package init(session: String) {
            self.init(name: "session \(Fingerprint.text(of: session))")
        }
    }
}
