public import HTTPRecovery
public import HTTPTypes

/// Attaches the access token as a bearer token (RFC 6750), to the origins it belongs to and to no other.
///
/// It stands inside `Recovery`, so that each attempt carries the newest token, and tells the engine
/// which version was presented. A request that brings its own `Authorization` field is left alone. A token that is bound
/// to a key is never sent as a bearer token: the call fails as `misconfigured` (``TokenBindingError``).
public struct Authorization: Middleware {
    private let tokens: any TokenStore
    private let audience: Set<Origin>

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - tokens: Where the access token is kept.
    ///   - audience: The origins that the token belongs to.
    public init(_ tokens: any TokenStore, audience: Set<Origin>) {
        self.tokens = tokens
        self.audience = audience
    }

    /// Attaches the token and reports its version.
    public func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        context: CallContext,
        next: Next
    ) async throws -> Response {
        guard audience.contains(Origin(of: request)), !request.headerFields.contains(.authorization) else {
            return try await next(request, body: body, context: context)
        }
        let stored = try await tokens.read()
        guard let token = stored.credentials.accessToken, !token.isEmpty else {
            context.record.presented = nil
            return try await next(request, body: body, context: context)
        }
        // A bound token sent without a proof is refused, and shown to whoever could use it where it is not checked.
        if let type = stored.credentials.tokenType, Credentials.isDPoP(type) {
            throw RecoveryError.misconfigured(TokenBindingError.bound, context)
        }
        var request = request
        request.headerFields.setAuthorization("Bearer \(token.reveal())")
        context.record.presented = PresentedCredential(
            kind: .access,
            version: stored.credentials.version(of: .access) ?? 0
        )
        return try await next(request, body: body, context: context)
    }
}

extension HTTPFields {
    /// Sets the `Authorization` field, and keeps its value out of the compression tables of HTTP/2 and HTTP/3 (RFC 7541
    /// section 7.1.3).
    package mutating func setAuthorization(_ value: String) {
        var field = HTTPField(name: .authorization, value: value)
        field.indexingStrategy = .disallow
        self[fields: .authorization] = [field]
    }
}
