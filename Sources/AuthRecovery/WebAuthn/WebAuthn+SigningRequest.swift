extension WebAuthn {
    /// What a relying party wants to be signed (Web Authentication section 5.5).
    public struct SigningRequest: Sendable, Hashable {
        /// The relying party's challenge, as bytes.
        public var challenge: [UInt8]
        /// The relying party's id, a domain.
        public var relyingPartyID: String
        /// The origin that the client data is made for, such as `https://login.example.com`.
        public var origin: String
        /// The credentials that may be used; empty for any that the authenticator finds by itself.
        public var allowedCredentials: [[UInt8]]
        /// Whether the person has to be verified, by a PIN or a fingerprint.
        public var userVerification: WebAuthn.RegistrationRequest.Requirement
        /// How long the person may take.
        public var timeout: Duration

        /// Creates a request.
        public init(
            challenge: [UInt8],
            relyingPartyID: String,
            origin: String,
            allowedCredentials: [[UInt8]] = [],
            userVerification: WebAuthn.RegistrationRequest.Requirement = .preferred,
            timeout: Duration = .seconds(60)
        ) {
            self.challenge = challenge
            self.relyingPartyID = relyingPartyID
            self.origin = origin
            self.allowedCredentials = allowedCredentials
            self.userVerification = userVerification
            self.timeout = timeout
        }
    }
}

extension WebAuthn {
    /// The proof of a credential, as the relying party gets it (Web Authentication section 5.2.2).
    public struct Assertion: Sendable, Hashable {
        /// The id of the credential.
        public var credentialID: [UInt8]
        /// The client data that the signature covers the hash of, as JSON.
        public var clientDataJSON: [UInt8]
        /// The authenticator data that the signature covers (section 6.1).
        public var authenticatorData: [UInt8]
        /// The signature.
        public var signature: [UInt8]
        /// The relying party's handle of the account; nil if the authenticator has none.
        public var userHandle: [UInt8]?
        /// The sort of authenticator, `platform` or `cross-platform`; nil if it is not known.
        public var attachment: String?

        /// Creates an assertion.
        public init(
            credentialID: [UInt8],
            clientDataJSON: [UInt8],
            authenticatorData: [UInt8],
            signature: [UInt8],
            userHandle: [UInt8]? = nil,
            attachment: String? = nil
        ) {
            self.credentialID = credentialID
            self.clientDataJSON = clientDataJSON
            self.authenticatorData = authenticatorData
            self.signature = signature
            self.userHandle = userHandle
            self.attachment = attachment
        }
    }
}
