import AuthRecovery
public import HTTPRecovery

extension ClerkConfiguration {
    /// A key of this device that signs its owner in: ECDSA on the curve P-256, with SHA-256 (ES256).
    ///
    /// The app keeps it where it cannot be copied, asks the person for what it wants before it signs, and keeps Clerk's id of
    /// it, which ``Clerk/enrollTrustedDevice(answering:)`` returns.
    public struct TrustedDeviceKey: Sendable {
        /// The platform, by Clerk's word: `ios` or `android`; whether Clerk takes any other is not documented.
        public var platform: String
        /// What identifies the app; the instance has to list it.
        public var appIdentifier: String
        /// What the device is called; nil leaves that to Clerk.
        public var name: String?
        /// The public key as a JWK (RFC 7517 section 4): `kty`, `crv`, `x`, `y`.
        public var publicKey: JSONValue
        /// Signs the UTF-8 bytes of a text, and gives the signature in its ASN.1 form (X9.62).
        ///
        /// Whatever it throws is the cause of a `factor_unavailable`; `CancellationError` when the task is cancelled.
        public var sign: @Sendable (_ clientData: String) async throws -> [UInt8]

        /// Creates a key.
        public init(
            platform: String,
            appIdentifier: String,
            name: String? = nil,
            publicKey: JSONValue,
            sign: @escaping @Sendable (_ clientData: String) async throws -> [UInt8]
        ) {
            self.platform = platform
            self.appIdentifier = appIdentifier
            self.name = name
            self.publicKey = publicKey
            self.sign = sign
        }

        /// The signature as Clerk takes it.
        func signature(of clientData: String) async throws -> Secret {
            do {
                return Secret(Base64.encodeForURL(try await sign(clientData)))
            } catch {
                try Task.checkCancellation()
                throw RecoveryError(
                    outcome: Outcome(.factorUnavailable, processed: .no, remedies: [.switchFactor]),
                    reason: .notRecoverable,
                    cause: error
                )
            }
        }

        /// What enrolls it.
        var form: FormFields {
            var form: FormFields = ["platform": platform, "app_identifier": appIdentifier]
            form.add("name", name)
            form.add("algorithm", "ES256")
            form.add("public_key_jwk", publicKey.description)
            return form
        }
    }
}
