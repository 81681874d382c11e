extension WebAuthn {
    /// What a relying party wants of a new credential (Web Authentication section 5.4).
    public struct RegistrationRequest: Sendable, Hashable {
        /// Whom the credential is for (section 5.4.3).
        public struct User: Sendable, Hashable {
            /// The relying party's handle of the account, 1 to 64 bytes.
            public var id: [UInt8]
            /// The name of the account.
            public var name: String
            /// The name to show.
            public var displayName: String

            /// Creates a user.
            public init(id: [UInt8], name: String = "", displayName: String = "") {
                self.id = id
                self.name = name
                self.displayName = displayName
            }
        }

        /// How much the relying party wants a property of the authenticator (sections 5.4.6 and 5.8.6).
        public enum Requirement: String, Sendable, Hashable {
            /// It has to be there.
            case required
            /// It is used if it is there.
            case preferred
            /// It is not used if that can be avoided.
            case discouraged
        }

        /// The relying party's challenge, as bytes.
        public var challenge: [UInt8]
        /// The relying party's id, a domain.
        public var relyingPartyID: String
        /// The relying party's name to show.
        public var relyingPartyName: String
        /// The origin that the client data is made for, such as `https://login.example.com`.
        public var origin: String
        /// Whom the credential is for.
        public var user: User
        /// The accepted signature algorithms by their COSE numbers, the best first; -7 is ES256.
        public var algorithms: [Int]
        /// The credentials of which the authenticator must not hold any.
        public var excludedCredentials: [[UInt8]]
        /// Whether the person has to be verified, by a PIN or a fingerprint.
        public var userVerification: Requirement
        /// Whether the credential has to be found without its id.
        public var residentKey: Requirement
        /// The wanted sort of authenticator, `platform` or `cross-platform`; nil for any.
        public var attachment: String?
        /// The attestation that is wanted: `none`, `indirect`, `direct` or `enterprise`.
        public var attestation: String
        /// How long the person may take.
        public var timeout: Duration

        /// Creates a request.
        public init(
            challenge: [UInt8],
            relyingPartyID: String,
            relyingPartyName: String = "",
            origin: String,
            user: User,
            algorithms: [Int] = [-7],
            excludedCredentials: [[UInt8]] = [],
            userVerification: Requirement = .preferred,
            residentKey: Requirement = .discouraged,
            attachment: String? = nil,
            attestation: String = "none",
            timeout: Duration = .seconds(60)
        ) {
            self.challenge = challenge
            self.relyingPartyID = relyingPartyID
            self.relyingPartyName = relyingPartyName
            self.origin = origin
            self.user = user
            self.algorithms = algorithms
            self.excludedCredentials = excludedCredentials
            self.userVerification = userVerification
            self.residentKey = residentKey
            self.attachment = attachment
            self.attestation = attestation
            self.timeout = timeout
        }
    }
}

extension WebAuthn {
    /// A new credential, as the relying party gets it (Web Authentication section 5.2.1).
    public struct Attestation: Sendable, Hashable {
        /// The id of the credential.
        public var credentialID: [UInt8]
        /// The client data that the authenticator has seen the hash of, as JSON.
        public var clientDataJSON: [UInt8]
        /// The attestation object, in CBOR.
        public var attestationObject: [UInt8]
        /// The sort of authenticator, `platform` or `cross-platform`; nil if it is not known.
        public var attachment: String?

        /// Creates an attestation.
        public init(
            credentialID: [UInt8],
            clientDataJSON: [UInt8],
            attestationObject: [UInt8],
            attachment: String? = nil
        ) {
            self.credentialID = credentialID
            self.clientDataJSON = clientDataJSON
            self.attestationObject = attestationObject
            self.attachment = attachment
        }
    }
}
