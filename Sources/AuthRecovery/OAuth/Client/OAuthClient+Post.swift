package import HTTPRecovery

extension OAuthClient {
    /// Posts a form to an endpoint that a provider has beside those of the specifications, with the client's proof.
    ///
    /// - Parameters:
    ///   - form: The fields.
    ///   - endpoint: The endpoint.
    ///   - presents: The sort of credential that is presented beside the client's own.
    ///   - resend: What makes it safe to send the request again on doubt.
    ///   - account: The account that the request tries to open; nil for none.
    /// - Returns: The members of the answer, which may be that a flow goes on, and the answer.
    /// - Throws: `RecoveryError`; `CancellationError` as soon as the task is cancelled.
    package func post(
        _ form: FormFields,
        to endpoint: OAuthServer.Endpoint,
        presents: Outcome.CredentialKind? = nil,
        resend: RequestOptions.ResendPermission,
        account: String? = nil
    ) async throws -> (members: JSONValue, response: RecoveredResponse) {
        let answer = try await perform(
            Call(
                endpoint: endpoint,
                form: form,
                presents: presents,
                resend: resend,
                classifier: OAuthEndpointClassifier(expects: .metadata),
                account: account
            )
        )
        return (answer.members, answer.response)
    }
}
