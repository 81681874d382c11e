public import HTTPRecovery

extension OAuthClient {
    /// Begins a device flow (RFC 8628 section 3.1).
    ///
    /// - Parameters:
    ///   - scope: What is asked for; nil for the server's default.
    ///   - parameters: Further parameters of the request.
    /// - Returns: What to show to the person.
    /// - Throws: `RecoveryError` when the flow could not be begun; `CancellationError` as soon as the task is cancelled.
    public func authorizeDevice(
        scope: String? = nil,
        parameters: FormFields = FormFields()
    ) async throws -> OAuthClient.DeviceAuthorization {
        var form = FormFields()
        form.add("scope", scope)
        form.add(parameters)
        let answer = try await perform(
            Call(
                endpoint: .deviceAuthorization,
                form: form,
                // A code that nobody has seen does no harm.
                resend: .replayable,
                classifier: OAuthEndpointClassifier(expects: .deviceAuthorization)
            )
        )
        let now = client.runtime.time.now
        guard let device = OAuthClient.DeviceAuthorization(answer.members, receivedAt: now) else {
            throw answer.unreadable
        }
        return device
    }

    /// Waits until the person has answered a device flow, and obtains the tokens (RFC 8628 section 3.4).
    ///
    /// It is one operation, whose polls come at the server's interval; `slow_down` makes the interval
    /// longer by five seconds for good. A poll whose answer is lost, or that meets an outage or a throttle, is followed
    /// by another at twice the interval, 60 s at most, as long as the flow lasts: RFC 8628 section 3.5 wants it so,
    /// although a device code is spent in the end. The waits are events of the reason `challenge_pending`.
    ///
    /// - Parameters:
    ///   - device: The flow.
    ///   - observer: Told the events of the polls and the waits between them, beside those who watch the client.
    /// - Throws: `RecoveryError`: of the kind `declined` if the person said no, of the kind `flow_expired` as soon as
    ///   no further poll would be in time, whatever else the server refuses; `CancellationError` as soon as the task
    ///   is cancelled.
    public func tokens(
        for device: OAuthClient.DeviceAuthorization,
        observer: (@Sendable (RecoveryEvent) -> Void)? = nil
    ) async throws -> OAuthClient.TokenAnswer {
        let login = deviceSignIn()
        return try await client.operation(observer: observer) { operation in
            try await login.wait(for: device, in: operation)
        }
    }

    /// Sign-ins by device login, to be stepped, as by a web backend or a program with a window.
    ///
    /// - Parameters:
    ///   - scope: What is asked for; nil for the server's default.
    ///   - parameters: Further parameters of the request.
    ///   - store: Where the tokens are kept, before the flow ends with them; nil leaves that to the caller.
    public func deviceSignIn(
        scope: String? = nil,
        parameters: FormFields = FormFields(),
        storingIn store: (any TokenStore)? = nil
    ) -> OAuthClient.DeviceSignIn {
        OAuthClient.DeviceSignIn(oauth: self, scope: scope, parameters: parameters, store: store)
    }
}
