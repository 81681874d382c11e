public import AuthRecovery
public import HTTPTypes

/// One request of a batch.
public struct FacebookBatchRequest: Sendable {
    /// The method.
    public var method: HTTPRequest.Method
    /// The path below the version, such as `me/feed?limit=5`.
    public var path: String
    /// The fields of a body; nil for none.
    public var form: FormFields?
    /// A token of its own; nil presents that of the batch.
    public var token: Secret?
    /// The name under which other requests of the batch use its answer; nil for none.
    public var name: String?
    /// The name of the request that has to succeed before this one; nil for none.
    public var dependsOn: String?
    /// Whether a success of a named request is left out of the answer, as Facebook does by default; default: no.
    public var omitsAnswerOnSuccess: Bool
    /// Whether sending it twice does no harm; nil, the default, goes by the method.
    public var isReplayable: Bool?

    /// Creates a request.
    public init(
        _ method: HTTPRequest.Method = .get,
        path: String,
        form: FormFields? = nil,
        token: Secret? = nil,
        name: String? = nil,
        dependsOn: String? = nil,
        omitsAnswerOnSuccess: Bool = false,
        isReplayable: Bool? = nil
    ) {
        self.method = method
        self.path = path
        self.form = form
        self.token = token
        self.name = name
        self.dependsOn = dependsOn
        self.omitsAnswerOnSuccess = omitsAnswerOnSuccess
        self.isReplayable = isReplayable
    }
}
