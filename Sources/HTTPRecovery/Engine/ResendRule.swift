public import HTTPTypes

/// Whether a request may be sent a second time: the first promise, as a pure function.
package enum ResendRule {
    /// Why the request must not be sent again; nil when it may.
    ///
    /// It may when the server certainly has not processed it, when its method is idempotent (RFC 9110 section 9.2.2),
    /// when it carries an idempotency key, or when the caller vouches for it; and never on doubt when it spends
    /// something, which a 408 leaves. Its body must be readable from the start in any case.
    package static func obstacle(
        outcome: Outcome,
        request: HTTPRequest,
        body: MessageBody?,
        permission: RequestOptions.ResendPermission
    ) -> History.StopReason? {
        if let body, !body.canBeRead { return .bodyNotReplayable }
        switch permission.grant {
        case .never: return outcome.provesNothingSpent ? nil : .processedUnknown
        case _ where outcome.processed == .no: return nil
        case .callerVouches: return nil
        case .byMethod:
            let isSafe = request.method.isIdempotent || request.headerFields.contains(.idempotencyKey)
            return isSafe ? nil : .methodNotIdempotent
        }
    }
}

extension Outcome {
    /// Whether it is certain that the server has not processed the request, certain enough for what can be spent once.
    ///
    /// A 408 says that no complete request has come, and allows to repeat it (RFC 9110 section 15.5.9). But who has waited
    /// in vain may be a proxy in front of a server that got the request: for what spends something that is no proof.
    package var provesNothingSpent: Bool {
        processed == .no && status != 408
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
