import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The name of the session's cookie.
struct SessionCookieName {
    var text: String
    /// Whether the server has not said it: then what looks like a dead session may be one that was not seen.
    var isAssumed = false
}

/// Presents the session to PingAM, to the origin it belongs to and to no other.
struct SessionCookieLayer: CredentialPresenting {
    let origin: Origin
    let cookieName: SessionCookieName
    let token: Secret
    /// Whose session it is, for services that are told that an advice was followed; nil if no ID token is held.
    var idToken: Secret?
    /// Whether the token goes out in a field of its own too, as PingAM's REST API takes it.
    var addsField = true
    /// Whether the session is what the call presents; false if it only accompanies another proof.
    var isPresented = true

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        guard Origin(of: request) == origin else { return try await next(request, body: body, context: context) }
        var (request, context) = (request, context)
        let value = token.reveal()
        var cookies = request.headerFields[values: .cookie]
        cookies.append("\(cookieName.text)=\(value)")
        request.headerFields.setSecret(.cookie, cookies.joined(separator: "; "))
        if addsField, let name = HTTPField.Name(cookieName.text) { request.headerFields.setSecret(name, value) }
        if let idToken, PolicyAdvice.isFollowed(in: request), !request.headerFields.contains(PolicyAdvice.identityField)
        {
            request.headerFields.setSecret(PolicyAdvice.identityField, idToken.reveal())
        }
        if isPresented {
            let version = Credentials(ssoToken: token).version(of: .session) ?? 0
            context.present(PresentedCredential(kind: .session, version: version))
        }
        var response = try await next(request, body: body, context: context)
        if cookieName.isAssumed, isPresented, response.outcome.isFailure { response.outcome.tokenAction = .keep }
        return response
    }

    /// Whose session a request is going to carry.
    func credential(for request: HTTPRequest, context: CallContext) async -> PresentedCredential.Identity? {
        isPresented && Origin(of: request) == origin ? PresentedCredential.Identity(session: token.reveal()) : nil
    }
}

extension HTTPFields {
    /// Sets a field whose value is a secret, and keeps it out of the compression tables (RFC 7541 section 7.1.3).
    mutating func setSecret(_ name: HTTPField.Name, _ value: String) {
        var field = HTTPField(name: name, value: value)
        field.indexingStrategy = .disallow
        self[fields: name] = [field]
    }
}
