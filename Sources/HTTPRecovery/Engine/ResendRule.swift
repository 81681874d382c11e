public import HTTPTypes

/// Whether a request may be sent a second time: the first promise, as a pure function.
public enum ResendRule {
    /// Why the request must not be sent again; nil when it may.
    ///
    /// It may when the server certainly has not processed it, when its method is idempotent (RFC 9110 section 9.2.2),
    /// when it carries an idempotency key, or when the caller vouches for it; and never on doubt when it spends
    /// something. Its body must be readable from the start in any case.
    public static func obstacle(
        outcome: Outcome,
        request: HTTPRequest,
        body: HTTPBody?,
        permission: RequestOptions.ResendPermission
    ) -> StopReason? {
        if let body, !body.canBeRead { return .bodyNotReplayable }
        if outcome.processed == .no { return nil }
        switch permission.grant {
        case .never: return .processedUnknown
        case .callerVouches: return nil
        case .byMethod:
            let isSafe = request.method.isIdempotent || request.headerFields.contains(.idempotencyKey)
            return isSafe ? nil : .methodNotIdempotent
        }
    }
}

extension HTTPRequest.Method {
    /// Whether processing the request twice has the effect of processing it once (RFC 9110 section 9.2.2).
    public var isIdempotent: Bool {
        switch self {
        case .get, .head, .options, .trace, .put, .delete: true
        default: rawValue == "QUERY"
        }
    }
}

extension HTTPField.Name {
    /// `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header).
    public static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
}
