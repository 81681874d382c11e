public import HTTPRecovery
public import HTTPTypes

/// Attaches the access token as a bearer token (RFC 6750), to the origins it belongs to and to no other.
///
/// It stands inside `Recovery`, so that each attempt carries the newest token, and tells the engine which one was
/// presented. A token that has expired is renewed before the request goes out, and one that expires soon in the
/// background. A request that brings its own `Authorization` field, or presents another credential, is left alone. A
/// token that is bound to a key is never sent as a bearer token: the call fails as `misconfigured`
/// (``DPoPAuthorization/BindingError``).
public struct Authorization: CredentialPresenting, CredentialRemembering {
    private let tokens: TokenManager
    private let audience: Set<Origin>

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - tokens: Keeps the access token and renews it.
    ///   - audience: The origins that the token belongs to.
    public init(_ tokens: TokenManager, audience: Set<Origin>) {
        self.tokens = tokens
        self.audience = audience
    }

    /// Creates the layer for a token that nothing renews.
    ///
    /// - Parameters:
    ///   - store: Where the access token is kept.
    ///   - audience: The origins that the token belongs to.
    public init(_ store: any TokenStore, audience: Set<Origin>) {
        self.init(TokenManager(store: store), audience: audience)
    }

    /// Attaches the token and reports its version.
    public func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        guard attaches(to: request, context) else { return try await next(request, body: body, context: context) }
        let credentials = try await tokens.credentials(for: context).credentials
        var context = context
        guard let token = credentials.accessToken, !token.isEmpty else {
            context.present(nil)
            return try await next(request, body: body, context: context)
        }
        // A bound token sent without a proof is refused, and shown to whoever could use it if it is not checked.
        if let type = credentials.tokenType, type.lowercased() != "bearer", !type.isEmpty {
            let error = Credentials.isDPoP(type) ? DPoPAuthorization.BindingError.bound : .unknownType
            throw RecoveryError.misconfigured(error, context)
        }
        var request = request
        request.headerFields.setAuthorization("Bearer \(token.reveal())")
        context.present(PresentedCredential(kind: .access, version: credentials.version(of: .access) ?? 0))
        defer { tokens.note(context.record.receivedHead, context: context) }
        return try await next(request, body: body, context: context)
    }

    /// Whose token a request is going to carry.
    public func credential(for request: HTTPRequest, context: CallContext) async -> PresentedCredential.Identity? {
        attaches(to: request, context) ? await tokens.identity(for: context) : nil
    }

    /// Whose token an attempt has carried.
    package func presentedCredential(in context: CallContext) -> PresentedCredential.Identity? {
        tokens.presentedIdentity(in: context)
    }

    private func attaches(to request: HTTPRequest, _ context: CallContext) -> Bool {
        audience.contains(Origin(of: request)) && !request.headerFields.contains(.authorization)
            && (context.options.presents == nil || context.options.presents == .access)
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
