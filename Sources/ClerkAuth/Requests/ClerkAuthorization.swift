import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Presents the client token and keeps what the answer says about it, before anyone uses the answer.
///
/// Clerk's native rules: the token goes out raw in `Authorization`; an `Authorization` field in the answer replaces
/// it, on any status; a blank one, or the bare word `Bearer`, clears it; no status and no error code does.
struct ClerkAuthorization: Middleware {
    let tokens: any TokenStore

    func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        context: CallContext,
        next: Next
    ) async throws -> Response {
        let stored = try await tokens.read()
        let token = stored.credentials.clientToken
        let presented = PresentedCredential(
            kind: .client,
            version: stored.version,
            identity: token.map { ClientToken.identity(of: $0) }
        )
        if let first = context.record.presented, first.identity != presented.identity {
            var outcome = Outcome(.stateConflict, processed: .no, remedies: [.resync])
            outcome.tokenAction = .keep
            throw RecoveryError(outcome: outcome, reason: .identityChanged, history: context.record.history)
        }
        var request = request
        if let token { request.headerFields[.authorization] = token.reveal() }
        context.record.presented = presented
        let response = try await next(request, body: body, context: context)
        if let field = response.headerFields[.authorization] {
            try await keep(ClientToken.change(stated: field), since: stored, context: context)
        }
        return response
    }

    private func keep(_ change: ClientToken.Change, since sent: StoredCredentials, context: CallContext) async throws {
        var present = sent
        while true {
            // Another call has stored a newer token meanwhile: an answer to the older one does not touch it.
            guard present.credentials.clientToken == sent.credentials.clientToken else { return }
            var changed = present.credentials
            switch change {
            case .clear: changed.remove(.client)
            case .replace(let token): changed.clientToken = token
            }
            if changed == present.credentials { return }
            if try await tokens.replace(version: present.version, with: changed) != nil {
                if change == .clear { context.emit(.clear(.client)) }
                return
            }
            present = try await tokens.read()
        }
    }
}

/// Clerk's client token.
enum ClientToken {
    /// What an answer's `Authorization` field asks for.
    enum Change: Equatable {
        case clear
        case replace(Secret)
    }

    static func change(stated field: String) -> Change {
        let text = field.drop { $0 == " " || $0 == "\t" }
        var trimmed = String(text)
        while let last = trimmed.last, last == " " || last == "\t" { trimmed.removeLast() }
        if trimmed.isEmpty || trimmed.lowercased() == "bearer" { return .clear }
        if trimmed.lowercased().hasPrefix("bearer ") { trimmed = String(trimmed.dropFirst(7).drop { $0 == " " }) }
        return .replace(Secret(trimmed))
    }

    /// Which client a token belongs to: the id it claims, else a fingerprint of the token.
    ///
    /// The claim is a hint that is read without checking the signature; a wrong one can only stop a repeat.
    static func identity(of token: Secret) -> String {
        let parts = token.reveal().split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 3, let bytes = Base64.decode(parts[1].utf8), let claims = try? JSONValue(parsing: bytes),
            let id = claims["id"]?.string
        {
            return id
        }
        return String(UInt(bitPattern: token.hashValue), radix: 36)
    }
}
