extension CurlTransport.TLS {
    /// Whose certificates are trusted.
    public struct Authorities: Sendable, Hashable {
        enum Choice: Hashable {
            case system
            case file(String)
            case certificates([UInt8])
        }

        let choice: Choice

        /// Those that the system trusts.
        public static let system = Authorities(choice: .system)

        /// Those in a file of PEM certificates, and no others.
        ///
        /// The file is read when a connection is made. One that is missing or holds no certificate ends an attempt as
        /// `misconfigured`, never sent.
        public static func file(_ path: String) -> Authorities { Authorities(choice: .file(path)) }

        /// Those in a text of PEM certificates, and no others.
        ///
        /// Bytes that hold no certificate end an attempt as `misconfigured`, never sent.
        ///
        /// - Parameter pem: At most 8 MB.
        public static func certificates(_ pem: [UInt8]) -> Authorities { Authorities(choice: .certificates(pem)) }
    }
}
