import HTTPRecovery
import HTTPTypes

/// Writes the form of each attempt, with a proof of the client that is made for this attempt alone.
struct ClientAuthenticationLayer: ClientLayer {
    let client: OAuthClient
    let form: FormFields

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        var request = request
        // No access token belongs on these requests, whatever stands around this layer.
        request.headerFields[.authorization] = nil
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
        return try await next(request, body: attempt.form.body, context: context)
    }
}
