public import HTTPRecovery
import HTTPTypes

/// An authorization server: who it is and where its endpoints are.
///
/// ```swift
/// let server = try OAuthServer(endpoints: [.token: "https://id.example.com/token"])
/// let other = try await OAuthServer.discover(issuer: "https://id.example.com", using: client)
/// ```
public struct OAuthServer: Sendable, Hashable {
    /// An endpoint, by the name of its member in a discovery document (RFC 8414 section 2).
    public struct Endpoint: RawRepresentable, Sendable, Hashable {
        /// The name of the member, such as `token_endpoint`.
        public let rawValue: String

        /// Creates the name of an endpoint.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Issues tokens (RFC 6749 section 3.2).
        public static let token = Endpoint(rawValue: "token_endpoint")
        /// Where the person consents (RFC 6749 section 3.1).
        public static let authorization = Endpoint(rawValue: "authorization_endpoint")
        /// Begins a device flow (RFC 8628 section 3.1).
        public static let deviceAuthorization = Endpoint(rawValue: "device_authorization_endpoint")
        /// Revokes tokens (RFC 7009).
        public static let revocation = Endpoint(rawValue: "revocation_endpoint")
        /// Tells about tokens (RFC 7662).
        public static let introspection = Endpoint(rawValue: "introspection_endpoint")
        /// Tells about the person (OpenID Connect Core 1.0 section 5.3).
        public static let userInfo = Endpoint(rawValue: "userinfo_endpoint")
        /// The keys that the server signs with.
        public static let keys = Endpoint(rawValue: "jwks_uri")
        /// Ends the person's session (OpenID Connect RP-Initiated Logout 1.0).
        public static let endSession = Endpoint(rawValue: "end_session_endpoint")
        /// Registers clients (RFC 7591).
        public static let registration = Endpoint(rawValue: "registration_endpoint")
        /// Takes authorization requests beforehand (RFC 9126).
        public static let pushedAuthorizationRequest = Endpoint(rawValue: "pushed_authorization_request_endpoint")
    }

    /// The server's identifier; nil if it is not known, and then nothing can be compared with it.
    public let issuer: String?

    /// The server's metadata as it was discovered; `null` if the endpoints were given by hand.
    public let metadata: JSONValue

    private var requests: [Endpoint: HTTPRequest]

    /// Creates a server from its endpoints.
    ///
    /// - Parameters:
    ///   - issuer: The server's identifier, by which answers of the authorization endpoint are checked (RFC 9207).
    ///   - endpoints: The absolute URLs of the endpoints that are used.
    /// - Throws: `Origin.InvalidURL` when one of the texts is no such URL.
    public init(issuer: String? = nil, endpoints: [Endpoint: String]) throws(Origin.InvalidURL) {
        self.issuer = issuer
        self.metadata = .null
        self.requests = [:]
        for (endpoint, url) in endpoints { requests[endpoint] = try HTTPRequest(method: .post, url: url) }
    }

    /// Creates a server from discovered metadata.
    init(issuer: String, metadata: JSONValue, requests: [Endpoint: HTTPRequest]) {
        self.issuer = issuer
        self.metadata = metadata
        self.requests = requests
    }

    /// The URL of an endpoint; nil if the server has none that is known.
    public subscript(endpoint: Endpoint) -> String? {
        requests[endpoint].map { "\($0.scheme ?? "https")://\($0.authority ?? "")\($0.path ?? "/")" }
    }

    /// A POST request to an endpoint.
    ///
    /// - Throws: `RecoveryError` of the kind `misconfigured` if the endpoint is not known.
    func request(to endpoint: Endpoint) throws(RecoveryError) -> HTTPRequest {
        guard let request = requests[endpoint] else {
            var outcome = Outcome(.misconfigured, processed: .no, remedies: [.fixRequest])
            outcome.parameter = endpoint.rawValue
            throw RecoveryError(outcome: outcome, reason: .notRecoverable)
        }
        return request
    }

    /// Whether the server says that it names itself in the answers of its authorization endpoint (RFC 9207 section 3).
    var namesItselfInRedirects: Bool {
        metadata["authorization_response_iss_parameter_supported"]?.bool == true
    }
}
