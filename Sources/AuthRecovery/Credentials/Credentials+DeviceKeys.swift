extension Credentials {
    /// Keys of a device that are bound to accounts, and sign what a provider wants to see signed by that device (PingAM's
    /// nodes for device binding and signing).
    ///
    /// The one who implements it keeps the keys, and asks the person for what a key wants: a PIN, a fingerprint, nothing.
    /// Providers bound the time: what takes longer than the request's timeout is cancelled, and cancellation has to end it.
    public protocol DeviceKeys: Sendable {
        /// Makes a key for an account, and proves that it has it.
        ///
        /// - Throws: ``Credentials/DeviceKeyFailure`` for what the server is to be told; any other error is told as
        ///   ``Credentials/DeviceKeyFailure/abort``. `CancellationError` when the task is cancelled.
        func bind(_ request: Credentials.DeviceKeyRequest) async throws -> Credentials.DeviceBinding

        /// Signs the challenge with a key that was bound.
        ///
        /// - Returns: The signed claims as a JWS in its compact form (RFC 7515 section 3.1).
        /// - Throws: As ``bind(_:)``; ``Credentials/DeviceKeyFailure/notRegistered`` if there is no such key.
        func sign(_ request: Credentials.DeviceKeyRequest) async throws -> Secret
    }

    /// What a provider wants a device's key for.
    public struct DeviceKeyRequest: Sendable, Hashable {
        /// What a key wants of the person before it signs.
        @nonexhaustive public enum Consent: String, Sendable, Hashable {
            /// A fingerprint or a face.
            case biometric = "BIOMETRIC_ONLY"
            /// A fingerprint or a face, or else what unlocks the device.
            case biometricOrPasscode = "BIOMETRIC_ALLOW_FALLBACK"
            /// A PIN of the app's own.
            case pin = "APPLICATION_PIN"
            /// Nothing.
            case none = "NONE"
        }

        /// The provider's challenge, which is one of the claims that are signed.
        public var challenge: String
        /// The provider's id of the account; nil if any key that was bound will do.
        public var userID: String?
        /// The name of the account.
        public var userName: String?
        /// What a new key has to want of the person; nil for a key that was bound already.
        public var consent: Consent?
        /// A heading to show.
        public var title: String?
        /// A second heading to show.
        public var subtitle: String?
        /// A text to show.
        public var text: String?
        /// How long the person may take.
        public var timeout: Duration

        /// Creates a request.
        public init(
            challenge: String,
            userID: String? = nil,
            userName: String? = nil,
            consent: Consent? = nil,
            title: String? = nil,
            subtitle: String? = nil,
            text: String? = nil,
            timeout: Duration = .seconds(60)
        ) {
            self.challenge = challenge
            self.userID = userID
            self.userName = userName
            self.consent = consent
            self.title = title
            self.subtitle = subtitle
            self.text = text
            self.timeout = timeout
        }
    }

    /// A key that was made for an account.
    public struct DeviceBinding: Sendable, Hashable {
        /// The claims with the challenge, signed by the key, whose public part stands in the header (RFC 7515 section 4.1.3).
        public var proof: Secret
        /// What tells the device from others.
        public var deviceID: String
        /// What the device is called; nil leaves that to the provider.
        public var deviceName: String?

        /// Creates a binding.
        public init(proof: Secret, deviceID: String, deviceName: String? = nil) {
            self.proof = proof
            self.deviceID = deviceID
            self.deviceName = deviceName
        }
    }

    /// Why a device's key did not sign.
    @nonexhaustive public enum DeviceKeyFailure: Error, Sendable, Hashable {
        /// The person took too long.
        case timeout
        /// The person did not want it, or it came to nothing otherwise.
        case abort
        /// The device cannot keep such a key.
        case unsupported
        /// There is no key for the account.
        case notRegistered
    }
}
