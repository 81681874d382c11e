public import HTTPRecovery
public import HTTPTypes

extension OAuthClient {
    /// One attempt at an endpoint of an authorization server, while the client's proof is added.
    public struct Attempt: Sendable {
        /// The server, whose issuer is the audience of an assertion (RFC 7523 section 3).
        public let server: OAuthServer
        /// The URL that the attempt goes to.
        public let url: String
        /// The client's identifier.
        public let clientID: String
        /// The wall time now.
        public let wallTime: Timestamp
        /// Where randomness comes from.
        public let random: Runtime.RandomSource
        /// Until when the attempt may leave, because its proof is stale after; nil is no limit.
        ///
        /// An attempt that could not leave in time is followed by another with a proof of its own.
        public var sendBy: Timestamp?
        /// The fields of the body.
        public var form: FormFields
        /// The header fields.
        public var headerFields: HTTPFields

        /// Creates an attempt; useful for testing an authentication by itself.
        public init(
            server: OAuthServer,
            url: String,
            clientID: String,
            wallTime: Timestamp,
            random: Runtime.RandomSource = Runtime.RandomSource(),
            form: FormFields = FormFields(),
            headerFields: HTTPFields = [:]
        ) {
            self.server = server
            self.url = url
            self.clientID = clientID
            self.wallTime = wallTime
            self.random = random
            self.form = form
            self.headerFields = headerFields
        }
    }
}

// Header fields print their values.
extension OAuthClient.Attempt: Redacted {
    /// Where the attempt goes, and nothing of the proof.
    public var description: String { "OAuthClient.Attempt(\(url.prefix { $0 != "?" }))" }
}
