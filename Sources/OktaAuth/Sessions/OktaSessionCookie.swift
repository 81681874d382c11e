import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Presents the org's session as its cookie, and says which one it was.
struct OktaSessionCookie: CredentialPresenting {
    let tokens: any TokenStore

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        let stored = try await tokens.read().credentials
        guard let id = stored.sessionID else { return try await next(request, body: body, context: context) }
        var (request, context) = (request, context)
        // What a server calls an id must not become another field.
        if id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ";") }) {
            var field = HTTPField(name: .cookie, value: "sid=\(id)")
            field.indexingStrategy = .disallow
            request.headerFields.append(field)
        }
        context.present(PresentedCredential(kind: .session, version: stored.version(of: .session) ?? 0))
        return try await next(request, body: body, context: context)
    }

    /// Whose session a request is going to carry.
    func credential(for request: HTTPRequest, context: CallContext) async -> PresentedCredential.Identity? {
        try? await tokens.read().credentials.sessionID.map { PresentedCredential.Identity(session: $0) }
    }
}
