extension CurlTransport {
    /// How connections to `https` origins are protected.
    ///
    /// The server's certificate is verified, for the origin's host, unless that is switched off.
    public struct TLS: Sendable, Hashable {
        /// Whose certificates are trusted; ``Authorities/system`` by default.
        ///
        /// A proxy that is reached over TLS is verified against the same ones.
        public var authorities: Authorities

        /// The certificate to show to a server that asks for one; nil by default.
        ///
        /// It is offered to every origin that asks. Whoever wants to be known to one alone uses a transport for it.
        public var clientCertificate: ClientCertificate?

        /// The public keys of which a server must show one, beside a certificate that is trusted; empty by default,
        /// which is any key.
        ///
        /// They hold for every origin of the transport. Name a spare key too: when the only pinned one is replaced,
        /// nothing is sent any more.
        public var pinnedPublicKeys: Set<PublicKeyPin>

        /// The lowest version to accept; ``Version/tls12`` by default.
        public var minimumVersion: Version

        /// The highest version to offer; nil, the default, is the highest that libcurl's TLS library has.
        public var maximumVersion: Version?

        /// Whether any server certificate is accepted; false by default.
        ///
        /// > Warning: With true, anyone on the path can read and change everything, credentials included, unless
        /// > ``pinnedPublicKeys`` says which key it must be. It is for tests on one's own machine.
        public var isVerificationDisabled: Bool

        /// Creates settings.
        public init(
            authorities: Authorities = .system,
            clientCertificate: ClientCertificate? = nil,
            pinnedPublicKeys: Set<PublicKeyPin> = [],
            minimumVersion: Version = .tls12,
            maximumVersion: Version? = nil,
            isVerificationDisabled: Bool = false
        ) {
            self.authorities = authorities
            self.clientCertificate = clientCertificate
            self.pinnedPublicKeys = pinnedPublicKeys
            self.minimumVersion = minimumVersion
            self.maximumVersion = maximumVersion
            self.isVerificationDisabled = isVerificationDisabled
        }
    }
}
