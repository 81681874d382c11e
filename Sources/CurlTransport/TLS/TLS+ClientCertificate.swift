public import HTTPRecovery

extension CurlTransport.TLS {
    /// A certificate with its private key, by which a server knows the client; it cannot be printed, interpolated,
    /// dumped or encoded.
    ///
    /// What is missing, does not fit together or cannot be decrypted ends an attempt as `misconfigured`, never sent.
    public struct ClientCertificate: Sendable, Hashable, Redacted {
        enum Source: Hashable {
            case file(String)
            case pem([UInt8])
        }

        let chain: Source
        let key: Source
        let passphrase: Passphrase?

        /// Takes the certificate and its key from files, which are read for each new connection.
        ///
        /// - Parameters:
        ///   - chain: The path of the certificate chain in PEM, the client's own first.
        ///   - key: The path of its private key in PEM; nil if it stands in the same file.
        ///   - passphrase: What the key is encrypted with; nil if it is not.
        public static func files(
            chain: String,
            key: String? = nil,
            passphrase: Passphrase? = nil
        ) -> ClientCertificate {
            ClientCertificate(chain: .file(chain), key: .file(key ?? chain), passphrase: passphrase)
        }

        /// Takes the certificate and its key from memory.
        ///
        /// - Parameters:
        ///   - chain: The certificate chain in PEM, the client's own first.
        ///   - key: Its private key in PEM.
        ///   - passphrase: What the key is encrypted with; nil if it is not.
        public static func pem(
            chain: [UInt8],
            key: [UInt8],
            passphrase: Passphrase? = nil
        ) -> ClientCertificate {
            ClientCertificate(chain: .pem(chain), key: .pem(key), passphrase: passphrase)
        }

        /// Where the certificate comes from.
        public var description: String {
            switch chain {
            case .file(let path): "the certificate in \(path)"
            case .pem: "a certificate in memory"
            }
        }
    }
}
