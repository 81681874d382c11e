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
    ) async throws -> DeviceAuthorization {
        var form = FormFields()
        form.add("scope", scope)
        form.add(parameters)
        let calls = CallNumber()
        let answer = try await perform(
            Call(
                endpoint: .deviceAuthorization,
                form: form,
                // A code that nobody has seen does no harm.
                resend: .replayable,
                classifier: OAuthEndpointClassifier(expects: .deviceAuthorization),
                observer: { calls.observe($0) }
            )
        )
        let now = client.runtime.time.now
        guard let device = DeviceAuthorization(answer.members, receivedAt: now, call: calls.latest) else {
            throw answer.unreadable
        }
        return device
    }

    /// Waits until the person has answered a device flow, and obtains the tokens (RFC 8628 section 3.4).
    ///
    /// The server is asked at its interval, every time a second call of the client; `slow_down` makes the interval
    /// longer by five seconds for good. A poll whose answer is lost, or that meets an outage or a throttle, is followed
    /// by another at twice the interval, 60 s at most, as long as the flow lasts: RFC 8628 section 3.5 wants it so,
    /// although a device code is spent in the end. The waits are events of the reason `challenge_pending`.
    ///
    /// - Parameters:
    ///   - device: The flow.
    ///   - observer: Told the events of the polls and the waits between them, beside those who watch the client.
    /// - Throws: `RecoveryError`: of the kind `declined` where the person said no, of the kind `flow_expired` as soon as
    ///   no further poll would be in time, whatever else the server refuses; `CancellationError` as soon as the task
    ///   is cancelled.
    public func tokens(
        for device: DeviceAuthorization,
        observer: (@Sendable (RecoveryEvent) -> Void)? = nil
    ) async throws -> TokenAnswer {
        let calls = CallNumber(device.call)
        let watch: @Sendable (RecoveryEvent) -> Void = { event in
            calls.observe(event)
            observer?(event)
        }
        var polling = DevicePolling(device)
        var reason = Outcome.Kind.challengePending
        var wait = polling.wait(from: client.runtime.time.now)
        while let delay = wait {
            try await pause(delay, for: reason, call: calls.latest, observer: observer)
            do {
                let answer = try await poll(device, observer: watch)
                let outcome = answer.response.outcome
                guard outcome.kind == .continue else { return try answer.tokens }
                polling.note(outcome.code == OAuthError.Word.slowDown.rawValue ? .slowDown : .pending)
                reason = .challengePending
                wait = polling.wait(from: client.runtime.time.now, atLeast: outcome.retryAfter)
            } catch let error as RecoveryError where error.isPassing {
                polling.note(.lost)
                reason = error.kind
                wait = polling.wait(from: client.runtime.time.now, atLeast: error.retryAfter)
                if wait == nil { throw error }
            }
        }
        throw RecoveryError(outcome: Self.deviceCodeExpired, reason: .notRecoverable)
    }

    /// What a device flow comes to that has lasted too long.
    private static var deviceCodeExpired: Outcome {
        var outcome = Outcome(.flowExpired, processed: .no, remedies: [.restartFlow])
        outcome.code = OAuthError.Word.expiredToken.rawValue
        outcome.tokenAction = .clear
        return outcome
    }

    private func poll(
        _ device: DeviceAuthorization,
        observer: @escaping @Sendable (RecoveryEvent) -> Void
    ) async throws -> Answer {
        let grant = TokenGrant.deviceCode(device.deviceCode)
        return try await perform(
            Call(
                endpoint: .token,
                form: grant.form,
                presents: grant.presents,
                resend: grant.resend,
                sendBy: SendBy(client.runtime.time.wallTime(at: device.expiresAt), orElse: Self.deviceCodeExpired),
                classifier: OAuthEndpointClassifier(expects: .tokens, isPolling: true),
                observer: observer
            )
        )
    }

    /// Waits between two polls, visibly.
    private func pause(
        _ delay: Duration,
        for reason: Outcome.Kind,
        call: Int,
        observer: (@Sendable (RecoveryEvent) -> Void)?
    ) async throws {
        let runtime = client.runtime
        let end = runtime.time.now.advanced(by: delay)
        let event = RecoveryEvent(
            call: call,
            time: runtime.time.now,
            kind: .wait(reason: reason, duration: delay, until: runtime.time.wallTime(at: end))
        )
        observer?(event)
        runtime.events.emit(event)
        try await runtime.time.sleep(until: end)
    }
}

extension RecoveryError {
    /// Whether a device flow outlives the error: nothing was said about the flow itself.
    fileprivate var isPassing: Bool {
        switch kind {
        case .transport, .timedOut, .unavailable, .rateLimited, .quotaExhausted:
            remedies.contains(.retry) || remedies.contains(.wait)
        default: false
        }
    }
}
