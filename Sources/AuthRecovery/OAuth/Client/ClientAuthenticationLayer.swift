package import HTTPRecovery
import HTTPTypes

/// Writes the body of each attempt, with a proof of the client that is made for this attempt alone.
struct ClientAuthenticationLayer: ClientLayer {
    let client: OAuthClient
    /// What the proof is added to.
    var form = FormFields()
    /// What stands in the `Authorization` field, if that is no proof of the client.
    var bearer: Secret?
    /// How the fields become the body.
    var content: @Sendable (FormFields) -> MessageBody = { $0.body }

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        var request = request
        // No access token belongs on these requests, whatever stands around this layer.
        request.headerFields[.authorization] = nil
        if let bearer {
            var field = HTTPField(name: .authorization, value: "Bearer \(bearer.reveal())")
            field.indexingStrategy = .disallow
            request.headerFields[fields: .authorization] = [field]
        }
        var context = context
        context.presentAsCalled()
        var attempt = OAuthClient.Attempt(
            server: client.server,
            url: "\(Origin(of: request))\(request.path ?? "/")",
            clientID: client.clientID,
            wallTime: context.runtime.time.wallTime,
            random: context.runtime.random,
            form: form,
            headerFields: request.headerFields
        )
        do {
            try await client.authentication.authenticate(&attempt)
        } catch let error as RecoveryError {
            throw error
        } catch {
            try Task.checkCancellation()
            throw RecoveryError(
                outcome: Outcome(.misconfigured, processed: .no, remedies: [.fixRequest]),
                reason: .notRecoverable,
                history: context.record.history,
                cause: error
            )
        }
        request.headerFields = attempt.headerFields
        if let limit = attempt.sendBy { context.limitSending(to: limit) }
        return try await next(request, body: content(attempt.form), context: context)
    }
}

extension OAuthClient {
    /// A layer for endpoints that take another body than a form: it writes the body of each attempt, with the client's proof.
    ///
    /// - Parameters:
    ///   - bearer: A credential that goes into the `Authorization` field; nil for none.
    ///   - content: Makes the body, given the fields of the proof.
    package func proof(
        beside bearer: Secret? = nil,
        in content: @escaping @Sendable (FormFields) -> MessageBody
    ) -> any ClientLayer {
        ClientAuthenticationLayer(client: self, bearer: bearer, content: content)
    }
}
