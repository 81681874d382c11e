public import HTTPRecovery
public import HTTPTypes

/// A request to a provider, below its base URL; the credential is the provider's affair.
public struct ProviderRequest: Sendable {
    /// The method.
    public var method: HTTPRequest.Method
    /// The path below the base URL; it may have a query.
    public var path: String
    /// Further fields of the query.
    public var query: FormFields
    /// Further header fields.
    public var headerFields: HTTPFields
    /// The body; nil sends none.
    public var body: ProviderRequest.Content?
    /// What makes it safe to send the request again on doubt.
    public var resend: RequestOptions.ResendPermission

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the base URL; it may have a query.
    ///   - query: Further fields of the query.
    ///   - headerFields: Further header fields.
    ///   - body: The body; nil, the default, sends none.
    ///   - resend: What makes it safe to send the request again on doubt. Default: its method.
    public init(
        _ method: HTTPRequest.Method = .get,
        path: String,
        query: FormFields = FormFields(),
        headerFields: HTTPFields = [:],
        body: ProviderRequest.Content? = nil,
        resend: RequestOptions.ResendPermission = .byMethod
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headerFields = headerFields
        self.body = body
        self.resend = resend
    }
}

extension ProviderRequest: Redacted {
    /// Method and path; no query, no header field and nothing of the body.
    public var description: String { "ProviderRequest(\(method.rawValue) \(path.prefix { $0 != "?" }))" }
}
