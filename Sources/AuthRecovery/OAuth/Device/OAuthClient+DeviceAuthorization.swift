public import HTTPRecovery

extension OAuthClient {
    /// A device login that has begun (RFC 8628 section 3.2): what the person has to do, and until when.
    public struct DeviceAuthorization: Sendable {
        /// What the client presents until the person has answered.
        public let deviceCode: Secret
        /// What the person enters.
        public let userCode: String
        /// Where the person enters it.
        public let verificationURI: String
        /// As ``verificationURI`` with the code in it, for a QR code or a browser; nil if the server has none.
        public let verificationURIComplete: String?
        /// The least time between two polls.
        public let interval: Duration
        /// When the flow is over, on the client's clock.
        public let expiresAt: TimeSource.Instant

        /// Creates a flow of what a server has told.
        package init(
            deviceCode: Secret,
            userCode: String,
            verificationURI: String,
            verificationURIComplete: String? = nil,
            interval: Duration,
            expiresAt: TimeSource.Instant
        ) {
            self.deviceCode = deviceCode
            self.userCode = userCode
            self.verificationURI = verificationURI
            self.verificationURIComplete = verificationURIComplete
            self.interval = interval
            self.expiresAt = expiresAt
        }

        /// Reads an answer.
        ///
        /// - Parameters:
        ///   - members: The answer's JSON object.
        ///   - receivedAt: When it came.
        /// - Returns: Nil if one of the codes or the address is missing.
        init?(_ members: JSONValue, receivedAt: TimeSource.Instant) {
            guard Self.isComplete(members), let deviceCode = members["device_code"]?.string,
                let userCode = members["user_code"]?.string, let uri = Self.uri(members, "")
            else { return nil }
            self.deviceCode = Secret(deviceCode)
            self.userCode = userCode.bounded(to: 256)
            self.verificationURI = uri
            self.verificationURIComplete = Self.uri(members, "_complete")
            // RFC 8628 section 3.2: five seconds if none are stated. What a server means by less than one, it would not
            // bear for long.
            let interval = members["interval"]?.lenientNumber?.seconds ?? .seconds(5)
            self.interval = max(interval, .seconds(1))
            let lifetime = members["expires_in"]?.lenientNumber?.seconds ?? Self.defaultLifetime
            self.expiresAt = receivedAt.advanced(by: min(max(lifetime, .zero), Self.maximumLifetime))
        }

        /// How long the flow lasts if the server does not say: as long as those of most servers.
        private static let defaultLifetime: Duration = .seconds(600)
        /// The longest that is polled for: no person takes more than a day.
        private static let maximumLifetime: Duration = .seconds(86_400)

        /// Whether an answer has all that a flow needs.
        static func isComplete(_ members: JSONValue) -> Bool {
            members["device_code"]?.string?.isEmpty == false && members["user_code"]?.string?.isEmpty == false
                && uri(members, "") != nil
        }

        /// An address; Google's servers write `url` for `uri`.
        private static func uri(_ members: JSONValue, _ suffix: String) -> String? {
            let names = ["verification_uri\(suffix)", "verification_url\(suffix)"]
            return names.lazy.compactMap { members[$0]?.string?.nonEmpty }.first?.bounded(to: 8192)
        }
    }
}

extension OAuthClient.DeviceAuthorization: Redacted {
    /// A placeholder: the codes are for the person alone.
    public var description: String { "OAuthClient.DeviceAuthorization" }
}
