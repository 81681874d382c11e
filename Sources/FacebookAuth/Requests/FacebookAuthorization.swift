import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Presents the token of one call, with the proof of the app's secret, anew for each attempt.
final class FacebookAuthorization: Sendable {
    /// What an attempt has presented.
    struct Presented: Sendable {
        var token: Secret
        /// The version of the stored token; nil for one that the caller holds.
        var version: UInt64?
        var userID: String?
    }

    private let api: GraphAPI
    private let token: FacebookToken
    private let latest = Locked<Presented?>(nil)

    init(_ api: GraphAPI, token: FacebookToken) {
        self.api = api
        self.token = token
    }

    /// What the last attempt has presented; nil if there was nothing to present.
    var presented: Presented? { latest.withLock { $0 } }

    /// The layer that presents it for a call.
    ///
    /// - Parameter isOfFile: Whether the call is about the upload of a file, which knows one form of presenting alone.
    func layer(ofFile isOfFile: Bool) -> any ClientLayer { Layer(authorization: self, isOfFile: isOfFile) }

    private struct Layer: ClientLayer {
        let authorization: FacebookAuthorization
        let isOfFile: Bool

        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            try await authorization.present(request, ofFile: isOfFile, body: body, context: context, next: next)
        }
    }

    private func present(
        _ request: HTTPRequest,
        ofFile isOfFile: Bool,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        // A token goes to Graph, and nowhere else.
        guard api.trusts(Origin(of: request)), var presented = try await current(context) else {
            return try await next(request, body: body, context: context)
        }
        let first = self.presented?.userID ?? context.record.presented?.identity
        if let first, let now = presented.userID, first != now {
            let refusal = RecoveryError(
                outcome: Outcome(.stateConflict, processed: .no),
                reason: .identityChanged,
                history: context.record.history
            )
            throw refusal.ofAnotherPerson
        }
        // Whose calls these are stays known if a newer token does not tell.
        presented.userID = presented.userID ?? first
        latest.withLock { [presented] in $0 = presented }
        var (request, context) = (request, context)
        if let version = presented.version {
            context.present(PresentedCredential(kind: .access, version: version, identity: presented.userID))
        }
        switch api.configuration.tokenPlacement {
        case _ where isOfFile: request.headerFields.setAuthorization("OAuth \(presented.token.reveal())")
        case .header: request.headerFields.setAuthorization("Bearer \(presented.token.reveal())")
        case .query:
            var fields = FormFields()
            fields.add("access_token", secret: presented.token)
            request.addQuery(fields)
        }
        if token.wantsProof { request.addQuery(try api.proof(of: presented.token)) }
        defer { api.manager?.note(context.record.receivedHead, context: context) }
        return try await next(request, body: body, context: context)
    }

    private func current(_ context: CallContext) async throws -> Presented? {
        guard token == .stored else { return token.given(by: api.app).map { Presented(token: $0) } }
        let stored: Credentials
        if let manager = api.manager {
            stored = try await manager.credentials(for: context).credentials
        } else {
            stored = try await api.store.read(for: context).credentials
        }
        guard let token = stored.accessToken, !token.isEmpty else { return nil }
        return Presented(token: token, version: stored.version(of: .access), userID: stored.facebookUserID)
    }
}
