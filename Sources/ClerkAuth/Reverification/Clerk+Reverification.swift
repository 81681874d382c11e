public import AuthRecovery
public import HTTPRecovery
public import HTTPTypes

extension Clerk {
    /// Has the person prove themselves again within the session, as for a sensitive action (step-up).
    ///
    /// Factors, codes and lockouts are dealt with as in a sign-in, and each answer is sent once. Session tokens that are
    /// held are dropped, since they tell the old age of the factors.
    ///
    /// - Parameters:
    ///   - level: How far.
    ///   - sessionID: The session; nil for the one that the store names.
    ///   - responder: Answers what is asked.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` where the session is over. `NoAnswer` where the
    ///   responder had none, `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func reverify(
        _ level: ClerkReverification = .secondFactor,
        sessionID: String? = nil,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        var flow = try await reverificationFlow(level, sessionID: sessionID, options: options)
        return try await flow.run(answering: responder)
    }

    /// The same, to be stepped, as by a web backend; nothing is asked of anybody before its first step.
    ///
    /// - Parameters:
    ///   - level: How far.
    ///   - sessionID: The session; nil for the one that the store names.
    ///   - options: How to deal with what goes wrong.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` where the session is over.
    ///   `CancellationError` as soon as the task is cancelled.
    public func reverificationFlow(
        _ level: ClerkReverification = .secondFactor,
        sessionID: String? = nil,
        options: SignInOptions = SignInOptions()
    ) async throws -> SignInFlow<ClerkSession> {
        let id = try await api.heldSession(sessionID)
        guard let session = try await api.liveSession(id) else {
            throw RecoveryError(
                outcome: Outcome(.reauthenticationRequired, processed: .no, remedies: [.reauthenticate]),
                reason: .notRecoverable
            )
        }
        let machine = ClerkReverificationMachine(api: api, session: session, level: level)
        return flow(machine, options, because: Outcome(.stepUpRequired))
    }

    /// Sends a request that may want the person to prove themselves again: where it does, they are asked, and the request
    /// is sent once more, which the server has refused unprocessed.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the base URL.
    ///   - form: The fields of the body; nil sends none.
    ///   - resend: What makes it safe to send the request again on doubt. Default: its method.
    ///   - responder: Answers what is asked.
    ///   - options: How to deal with what goes wrong.
    /// - Throws: As ``send(_:path:form:resend:)`` and ``reverify(_:sessionID:answering:options:)``.
    public func send(
        _ method: HTTPRequest.Method = .get,
        path: String,
        form: FormFields? = nil,
        resend: RequestOptions.ResendPermission = .byMethod,
        reverifyingWith responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> RecoveredResponse {
        let sessionID = try await api.tokens.read().credentials.sessionID
        return try await api.client.attended(
            (),
            where: { $0.kind == .stepUpRequired && $0.outcome.processed == .no },
            send: { _, operation in
                try await within(operation).send(method, path: path, form: form, resend: resend)
            },
            asking: { error, operation in
                try await within(operation).reverify(
                    ClerkReverification(wantedBy: error.outcome),
                    sessionID: sessionID,
                    answering: responder,
                    options: options
                )
                guard try await api.tokens.read().credentials.sessionID == sessionID else {
                    var error = error
                    error.reason = .identityChanged
                    throw error
                }
            }
        )
    }
}
