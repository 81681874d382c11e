public import HTTPRecovery
public import HTTPTypes

/// Attaches proofs of possession, and access tokens that are bound to their key, to the origins they belong to and to
/// no other (RFC 9449, DPoP).
///
/// It stands inside `Recovery`, so that each attempt carries a fresh proof for its own method and URL, with the newest
/// token and the newest nonce of the server. It keeps the nonce of every answer, of refusals and of answers whose body
/// breaks off too; ``DPoPAuthorization/NonceRetry`` repeats what was refused for want of one.
///
/// ```swift
/// let nonces = DPoPAuthorization.Nonces()
/// let client = RecoveringClient(transport: transport) {
///     Recovery {
///         DPoPAuthorization.NonceRetry()
///         SessionRenewal(tokens)
///         TransientRetry()
///     }
///     DPoPAuthorization(tokens, prover: prover, nonces: nonces, audience: [api])
/// }
/// ```
///
/// Without tokens it attaches proofs alone: that is what the endpoints of the authorization server want (RFC 9449
/// section 5).
public struct DPoPAuthorization: CredentialPresenting, CredentialRemembering {
    private let tokens: TokenManager?
    private let prover: any DPoPAuthorization.Prover
    private let nonces: DPoPAuthorization.Nonces
    private let clocks: ServerClocks
    private let audience: Set<Origin>

    /// How long after its making a proof may leave; default: 30 seconds.
    ///
    /// Servers accept a proof only for a short time around its `iat` (RFC 9449 section 11.1). An attempt that is held up
    /// for longer, by a queue or a connection, is not sent; the next one carries a fresh proof.
    public var proofLifetime: Duration = .seconds(30)

    /// Creates a layer for requests with an access token.
    ///
    /// - Parameters:
    ///   - tokens: Keeps the access token, which was issued for the prover's key, and renews it.
    ///   - prover: Signs the proofs.
    ///   - nonces: The servers' nonces; by default the layer's own.
    ///   - clocks: What is known of the servers' clocks; by default the layer's own.
    ///   - audience: The origins that the token belongs to.
    public init(
        _ tokens: TokenManager,
        prover: any DPoPAuthorization.Prover,
        nonces: DPoPAuthorization.Nonces = DPoPAuthorization.Nonces(),
        clocks: ServerClocks = ServerClocks(),
        audience: Set<Origin>
    ) {
        self.tokens = tokens
        self.prover = prover
        self.nonces = nonces
        self.clocks = clocks
        self.audience = audience
    }

    /// Creates a layer for requests with an access token that nothing renews.
    ///
    /// - Parameters:
    ///   - store: Where the access token is kept, which was issued for the prover's key.
    ///   - prover: Signs the proofs.
    ///   - nonces: The servers' nonces; by default the layer's own.
    ///   - clocks: What is known of the servers' clocks; by default the layer's own.
    ///   - audience: The origins that the token belongs to.
    public init(
        _ store: any TokenStore,
        prover: any DPoPAuthorization.Prover,
        nonces: DPoPAuthorization.Nonces = DPoPAuthorization.Nonces(),
        clocks: ServerClocks = ServerClocks(),
        audience: Set<Origin>
    ) {
        self.init(TokenManager(store: store), prover: prover, nonces: nonces, clocks: clocks, audience: audience)
    }

    /// Creates a layer for requests without an access token: those to the authorization server.
    ///
    /// - Parameters:
    ///   - prover: Signs the proofs; what is issued is bound to its key.
    ///   - nonces: The servers' nonces; by default the layer's own.
    ///   - clocks: What is known of the servers' clocks; by default the layer's own.
    ///   - audience: The origins of the authorization server.
    public init(
        prover: any DPoPAuthorization.Prover,
        nonces: DPoPAuthorization.Nonces = DPoPAuthorization.Nonces(),
        clocks: ServerClocks = ServerClocks(),
        audience: Set<Origin>
    ) {
        self.tokens = nil
        self.prover = prover
        self.nonces = nonces
        self.clocks = clocks
        self.audience = audience
    }

    /// Attaches token and proof, and keeps what the answer says about nonce and clock.
    ///
    /// If the layer has tokens, a request that brings its own `Authorization` field, or presents another credential,
    /// is left alone; a token that has expired is renewed before, one that expires soon in the background. A token that the
    /// server has issued as another type than `DPoP` fails the call (``DPoPAuthorization/BindingError``): it is not bound to the key.
    public func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        let origin = Origin(of: request)
        guard audience.contains(origin), tokens == nil || wantsToken(request, context) else {
            return try await next(request, body: body, context: context)
        }
        var (request, context) = (request, context)
        let token = try await presentedToken(&context)
        let nonce = nonces[origin]
        if token != nil || tokens == nil {
            if let token { request.headerFields.setAuthorization("DPoP \(token.reveal())") }
            context.limitSending(to: context.runtime.time.wallTime.advanced(by: max(.zero, proofLifetime)))
            try await attachProof(to: &request, token: token, nonce: nonce, context: context)
        }
        var response = try await send(request, body: body, context: context, next: next)
        // A repeat with the same nonce would be refused for the same reason.
        if response.outcome.kind == .nonceRequired, nonces[origin] == nonce {
            response.outcome.remedies.removeAll { $0 == .newNonce }
        }
        return response
    }

    /// Whose token a request is going to carry; nil for one that carries a proof alone.
    public func credential(for request: HTTPRequest, context: CallContext) async -> PresentedCredential.Identity? {
        guard let tokens, audience.contains(Origin(of: request)), wantsToken(request, context) else { return nil }
        return await tokens.identity(for: context)
    }

    /// Whose token an attempt has carried.
    package func presentedCredential(in context: CallContext) -> PresentedCredential.Identity? {
        tokens?.presentedIdentity(in: context)
    }

    private func wantsToken(_ request: HTTPRequest, _ context: CallContext) -> Bool {
        !request.headerFields.contains(.authorization)
            && (context.options.presents == nil || context.options.presents == .access)
    }

    private func presentedToken(_ context: inout CallContext) async throws -> Secret? {
        guard let tokens else { return nil }
        let credentials = try await tokens.credentials(for: context).credentials
        guard let token = credentials.accessToken, !token.isEmpty else {
            context.present(nil)
            return nil
        }
        if let type = credentials.tokenType, !Credentials.isDPoP(type) {
            throw RecoveryError.misconfigured(DPoPAuthorization.BindingError.notBound, context)
        }
        context.present(PresentedCredential(kind: .access, version: credentials.version(of: .access) ?? 0))
        return token
    }

    private func attachProof(
        to request: inout HTTPRequest,
        token: Secret?,
        nonce: String?,
        context: CallContext
    ) async throws {
        let random = context.runtime.random
        let claims = DPoPAuthorization.Claims(
            id: Base64.encodeForURL(random.bytes(16)),
            method: request.method.rawValue,
            url: request.redactedURL,
            issuedAt: clocks.time(at: Origin(of: request), wallTime: context.runtime.time.wallTime),
            accessTokenHash: token.map { Base64.encodeForURL(SHA256.hash($0.reveal().utf8)) },
            nonce: nonce
        )
        do {
            let proof = try await prover.proof(claims)
            var field = HTTPField(name: .dpop, value: proof.reveal())
            field.indexingStrategy = .disallow
            request.headerFields[fields: .dpop] = [field]
        } catch {
            try Task.checkCancellation()
            throw RecoveryError.misconfigured(error, context)
        }
    }

    /// Sends the request and keeps the answer's nonce and clock, also if its body breaks off.
    private func send(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        // What stands there may be of an attempt before; its nonce is no news.
        context.record.receivedHead = nil
        defer {
            tokens?.note(context.record.receivedHead, context: context)
            if let fields = context.record.receivedHead?.headerFields {
                let origin = Origin(of: request)
                nonces.keep(fields, from: origin)
                clocks.keep(fields, from: origin, receivedAt: context.runtime.time.wallTime)
            }
        }
        return try await next(request, body: body, context: context)
    }
}

extension RecoveryError {
    /// A call that was not sent because its caller has set something up wrongly.
    static func misconfigured(_ cause: any Error, _ context: CallContext) -> RecoveryError {
        RecoveryError(
            outcome: Outcome(.misconfigured, processed: .no, remedies: [.fixRequest]),
            reason: .notRecoverable,
            history: context.record.history,
            cause: cause
        )
    }
}

extension HTTPField.Name {
    /// `DPoP` (RFC 9449 section 4.1).
    public static let dpop = HTTPField.Name("DPoP")!
}
