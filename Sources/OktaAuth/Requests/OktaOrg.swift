import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Where an org is.
struct OktaOrg: Sendable, Hashable {
    private let base: ServiceURL

    /// Reads an org's URL: what stands before `/api/v1`.
    init(_ url: String) throws(Origin.InvalidURL) {
        base = try ServiceURL(url, without: "/api/v1")
    }

    var origin: Origin { base.origin }

    /// The URL without a slash at its end.
    var url: String { base.description }

    /// The domain, which WebAuthn credentials are bound to.
    var domain: String { base.domain }

    /// A request below the org's URL.
    func request(
        _ method: HTTPRequest.Method,
        path: String,
        query: FormFields = FormFields()
    ) -> HTTPRequest {
        base.request(method, path: path, query: query)
    }

    /// The request for a published link: followed as it is, but to no other origin.
    ///
    /// - Throws: `RecoveryError` with an ``OktaLinkError`` as its cause.
    func request(for link: OktaLink, adding query: [String] = []) throws(RecoveryError) -> HTTPRequest {
        let method = link.methods.isEmpty || link.methods.contains("POST") ? HTTPRequest.Method.post : .get
        guard var request = base.request(method, following: link.href) else {
            throw Self.refusal((try? HTTPRequest(url: link.href)) == nil ? .invalid : .foreignOrigin)
        }
        if !query.isEmpty { request.path = (request.path ?? "/").addingQuery(query.joined(separator: "&")) }
        return request
    }

    static func refusal(_ error: OktaLinkError) -> RecoveryError {
        RecoveryError(
            outcome: Outcome(.misconfigured, processed: .no, remedies: [.fixRequest]),
            reason: .notRecoverable,
            cause: error
        )
    }
}
