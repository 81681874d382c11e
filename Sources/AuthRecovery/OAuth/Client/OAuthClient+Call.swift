import HTTPRecovery
import HTTPTypes

extension OAuthClient {
    /// What one call is.
    struct Call {
        var endpoint: OAuthServer.Endpoint
        var form: FormFields
        var presents: Outcome.CredentialKind? = .client
        var resend: RequestOptions.ResendPermission = .byMethod
        var sendBy: RequestOptions.SendBy?
        var classifier: OAuthEndpointClassifier
        var observer: (@Sendable (RecoveryEvent) -> Void)?
        /// The account that the call tries to open; nil for none.
        var account: String?
    }

    /// An answer that was accepted.
    struct Answer: Sendable {
        var members: JSONValue
        var response: RecoveredResponse
        /// The server's time, if it says so, else the local one.
        var date: Timestamp

        var tokens: OAuthClient.TokenAnswer {
            get throws(RecoveryError) {
                if let tokens = OAuthClient.TokenAnswer(members, date: date) { return tokens }
                throw unreadable
            }
        }

        var unreadable: RecoveryError {
            RecoveryError(
                outcome: Outcome(.unreadable, processed: .yes, status: response.status.code),
                reason: .notRecoverable,
                response: response,
                history: response.history
            )
        }
    }

    func perform(_ call: Call) async throws -> Answer {
        var request = try server.request(to: call.endpoint)
        request.headerFields[.accept] = "application/json"
        request.headerFields[.contentType] = "application/x-www-form-urlencoded"
        var classifier = call.classifier
        classifier.base = self.classifier
        let response = try await client.send(
            request,
            // What the engine looks at; each attempt writes its own.
            body: call.form.body,
            options: RequestOptions(
                resend: call.resend,
                sendBy: call.sendBy,
                classifier: classifier,
                account: call.account,
                // Limits are counted per client, and apart from those of its tokens.
                credentialID: "client \(clientID)",
                presents: call.presents,
                attemptLayers: [ClientAuthenticationLayer(client: self, form: call.form)] + attemptLayers,
                policies: policies,
                observer: call.observer
            )
        )
        return answer(in: response)
    }

    /// What an accepted response says.
    func answer(in response: RecoveredResponse) -> Answer {
        // Accepted answers have been read as a whole: one that is longer than is read for judging was not accepted.
        let bytes = Array(response.body.bytesInMemory ?? [])
        let clock = ServerClock(response.headerFields, receivedAt: client.runtime.time.wallTime)
        return Answer(members: OAuthBody(bytes).members, response: response, date: clock.now)
    }
}
