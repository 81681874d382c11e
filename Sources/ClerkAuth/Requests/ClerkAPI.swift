import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The Frontend API as a native client calls it.
struct ClerkAPI: Sendable {
    /// The version of the Frontend API that the client speaks.
    static let version = "2026-05-12"

    let base: FrontendAPI
    let client: RecoveringClient
    let tokens: any TokenStore

    /// What one call is.
    struct Call {
        var method: HTTPRequest.Method = .get
        /// The path below `/v1`, with a leading slash.
        var path: String
        var query: [(String, String)] = []
        var form: FormFields?
        var resend: RequestOptions.ResendPermission = .byMethod
        var account: String?
        var observer: (@Sendable (RecoveryEvent) -> Void)?
    }

    /// Performs a call and reads its answer.
    ///
    /// - Throws: `RecoveryError` when the call failed, or when a success has a body that is not JSON.
    func perform(_ call: Call) async throws -> (json: JSONValue, response: Response) {
        let response = try await send(call)
        let bytes = try await response.body.collect(upTo: 1 << 22)
        if bytes.isEmpty { return (.null, response) }
        guard let json = try? JSONValue(parsing: bytes) else {
            throw RecoveryError(
                outcome: Outcome(.unreadable, processed: .yes, status: response.status.code),
                reason: .notRecoverable,
                response: response,
                history: response.history
            )
        }
        return (json, response)
    }

    /// Performs a call.
    func send(_ call: Call) async throws -> Response {
        var request = base.request(call.method, path: "/v1" + call.path, query: call.query)
        request.headerFields[Self.versionField] = Self.version
        request.headerFields[Self.mobileField] = "1"
        request.headerFields[.accept] = "application/json"
        if call.form != nil { request.headerFields[.contentType] = "application/x-www-form-urlencoded" }
        return try await client.send(
            request,
            body: call.form?.body,
            options: RequestOptions(
                resend: call.resend,
                classifier: ClerkClassifier(),
                account: call.account,
                // Clerk counts per address and class of endpoint, so the token does not tell limits apart.
                credentialID: "",
                presents: .client,
                attemptLayers: [ClerkAuthorization(tokens: tokens)],
                observer: call.observer
            )
        )
    }

    private static let versionField = HTTPField.Name("clerk-api-version")!
    private static let mobileField = HTTPField.Name("x-mobile")!
}

/// Where the Frontend API is: an origin, and the path that a proxy puts in front.
struct FrontendAPI: Sendable, Hashable {
    let scheme: String
    let authority: String
    let prefix: String

    /// Reads a base URL: what stands before `/v1`.
    init(_ url: String) throws(InvalidURL) {
        let request = try HTTPRequest(url: url)
        scheme = request.scheme ?? "https"
        authority = request.authority ?? ""
        var path = request.pathWithoutQuery
        while path.hasSuffix("/") { path.removeLast() }
        if path.hasSuffix("/v1") { path.removeLast(3) }
        prefix = path
    }

    var origin: Origin { Origin(scheme: scheme, authority: authority) }

    /// A request of a native client: every one carries `_is_native`.
    func request(_ method: HTTPRequest.Method, path: String, query: [(String, String)] = []) -> HTTPRequest {
        let items = ([("_is_native", "true")] + query).map { "\(FormFields.encode($0))=\(FormFields.encode($1))" }
        let separator = path.contains("?") ? "&" : "?"
        return HTTPRequest(
            method: method,
            scheme: scheme,
            authority: authority,
            path: prefix + path + separator + items.joined(separator: "&")
        )
    }
}
