public import HTTPRecovery
import HTTPTypes

extension OAuthServer {
    /// Reads the server's own description of itself.
    ///
    /// Asked for, in this order and until one answers: the document of OpenID Connect Discovery 1.0, that of RFC 8414,
    /// and both with the well-known part at the other end of the issuer's path. If a document is missing or is
    /// something else, the next one is asked for; an outage or a throttle ends the search, as it says nothing about
    /// what there is. What the document says otherwise than expected counts as absent, and an endpoint without TLS is
    /// left out if the issuer has TLS.
    ///
    /// - Parameters:
    ///   - issuer: The server's identifier: an absolute URL without query and fragment.
    ///   - client: Sends the requests. The document is public: no credential is needed, or sent by this function.
    /// - Returns: The server, with all endpoints that it names.
    /// - Throws: `Origin.InvalidURL` when the issuer is no such URL; `RecoveryError` when no document can be read, of the kind
    ///   `misconfigured` with the code `issuer_mismatch` when it names another issuer (RFC 8414 section 3.3);
    ///   `CancellationError` as soon as the task is cancelled.
    public static func discover(issuer: String, using client: RecoveringClient) async throws -> OAuthServer {
        var lastError: RecoveryError?
        for request in try documents(of: issuer) {
            do {
                let response = try await client.send(
                    request,
                    options: RequestOptions(classifier: OAuthEndpointClassifier(expects: .metadata), presents: .client)
                )
                let bytes = Array(response.body.bytesInMemory ?? [])
                return try OAuthServer(issuer: issuer, document: OAuthBody(bytes).members, in: response)
            } catch let error as RecoveryError where error.saysNoDocument {
                // The first error is about the form that most servers have.
                lastError = lastError ?? error
            }
        }
        throw lastError ?? RecoveryError(outcome: Outcome(.notFound), reason: .notRecoverable)
    }

    private init(issuer: String, document: JSONValue, in response: RecoveredResponse) throws(RecoveryError) {
        guard document["issuer"]?.string == issuer else {
            var outcome = Outcome(.misconfigured, processed: .yes, remedies: [.fixRequest], status: 200)
            outcome.code = "issuer_mismatch"
            outcome.parameter = "issuer"
            throw RecoveryError(
                outcome: outcome,
                reason: .notRecoverable,
                response: response,
                history: response.history
            )
        }
        let mayLackTLS = issuer.lowercased().hasPrefix("http://")
        var requests: [Endpoint: HTTPRequest] = [:]
        for member in (document.members ?? []).prefix(1000) {
            let isEndpoint = member.key.hasSuffix("_endpoint") || member.key == Endpoint.keys.rawValue
            guard isEndpoint, let url = member.value.string, let request = try? HTTPRequest(method: .post, url: url),
                mayLackTLS || request.scheme == "https"
            else { continue }
            requests[Endpoint(rawValue: member.key)] = request
        }
        self.init(issuer: issuer, metadata: document, requests: requests)
    }

    /// The requests for all documents that may describe the issuer.
    private static func documents(of issuer: String) throws(Origin.InvalidURL) -> [HTTPRequest] {
        guard !issuer.contains("?"), !issuer.contains("#") else {
            throw Origin.InvalidURL(description: "the issuer has a query or a fragment")
        }
        let base = try HTTPRequest(url: issuer, headerFields: [.accept: "application/json"])
        var path = base.path ?? "/"
        while path.hasSuffix("/") { path.removeLast() }
        let (openID, oauth) = ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")
        var paths = [path + openID, oauth + path]
        if !path.isEmpty { paths += [openID + path, path + oauth] }
        return paths.map { path in
            var request = base
            request.path = path
            return request
        }
    }
}

extension RecoveryError {
    /// Whether the answer says that the document is not there, or that what is there is none.
    fileprivate var saysNoDocument: Bool {
        switch kind {
        case .unreadable: true
        case .rateLimited, .quotaExhausted, .unavailable: false
        default: outcome.code != "issuer_mismatch" && (outcome.status.map { (400..<500).contains($0) } ?? false)
        }
    }
}
