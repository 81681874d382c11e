public import AuthRecovery
public import HTTPRecovery
public import HTTPTypes

/// Does what a policy advises, once for a request, and replays it.
///
/// It authenticates more strongly by the advised journey, with the session that is held, and tells of it in the replay: by
/// the transaction's id as query item `_txid` for a gateway, by `X-TxID` or `X-Tree` for a service that asks the policy by
/// itself. ``SessionCookie`` adds `X-IdToken` to these where an ID token is held.
///
/// ```swift
/// let resources = RecoveringClient(transport: transport) {
///     Recovery {
///         RateLimitBackoff()
///         StepUp(forgeRock, answering: prompts)
///         TransientRetry()
///     }
///     SessionCookie(forgeRock)
/// }
/// ```
///
/// No credential is cleared on the way: a step-up that fails leaves everything as it was. A resource that advises again
/// after it has been followed is not followed a second time.
///
/// The journey stands within the call's deadline. ``ForgeRock/send(_:answering:callbacks:options:)``
/// gives people the time they need.
public struct StepUp: RecoveryPolicy {
    private let authentication: Authentication

    /// Creates the policy.
    ///
    /// - Parameters:
    ///   - forgeRock: Runs the journeys, with a client of its own.
    ///   - responder: Answers what is asked.
    ///   - callbacks: Answers callbacks before the journey looks at them.
    ///   - options: How to deal with what goes wrong in the journey.
    public init(
        _ forgeRock: ForgeRock,
        answering responder: any ChallengeResponder,
        callbacks: any JourneyCallbackResponder = NoJourneyCallbackResponder(),
        options: SignInOptions = SignInOptions()
    ) {
        authentication = Authentication(
            forgeRock: forgeRock,
            responder: responder,
            callbacks: callbacks,
            options: options
        )
    }

    /// Follows an advice that came from the server.
    public func decide(_ failure: FailureContext) -> FailureContext.Decision {
        guard failure.wasSent, failure.outcome.kind == .stepUpRequired,
            failure.outcome.advice.flatMap({ PolicyAdvice($0) }) != nil
        else { return .pass }
        return .repair(authentication)
    }

    private struct Authentication: FailureContext.Remediation {
        let forgeRock: ForgeRock
        let responder: any ChallengeResponder
        let callbacks: any JourneyCallbackResponder
        let options: SignInOptions

        var name: String { "step_up" }

        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
            guard let advice = outcome.advice.flatMap({ PolicyAdvice($0) }) else { return .failed(outcome) }
            do {
                try await forgeRock.follow(advice, answering: responder, callbacks: callbacks, options: options)
            } catch let error as RecoveryError {
                let reason: History.StopReason = error.reason == .identityChanged ? .identityChanged : .repairFailed
                return .failed(error.outcome, reason: reason, cause: error)
            }
            return .amended { advice.amend(&$0) }
        }
    }
}

extension PolicyAdvice {
    /// Adds what tells that the advice was followed.
    ///
    /// A gateway reads the transaction's id as a query item, a service that asks the policy by itself reads it, or the
    /// journey, as a field. Each ignores what is meant for the other.
    func amend(_ request: inout HTTPRequest) {
        if let journey { request.headerFields.setSecret(Self.journeyField, journey) }
        guard let id = transactionID else { return }
        request.headerFields.setSecret(Self.transactionField, id)
        if let path = request.path { request.path = path.addingQuery("_txid=\(FormFields.encode(id))") }
    }

    /// Whether a request tells that an advice was followed.
    static func isFollowed(in request: HTTPRequest) -> Bool {
        [transactionField, journeyField].contains(where: request.headerFields.contains)
    }

    private static let transactionField = HTTPField.Name("X-TxID")!
    private static let journeyField = HTTPField.Name("X-Tree")!
    /// For whom it was followed.
    static let identityField = HTTPField.Name("X-IdToken")!
}

extension ForgeRock {
    /// Authenticates as a policy advises, with the session that is held.
    ///
    /// - Throws: As ``signIn(identifier:password:answering:callbacks:options:)``; of the kind
    ///   `reauthentication_required` if there is no session that could be made stronger; of the reason `identity_changed`
    ///   if somebody else has answered, whose session is ended and not kept. Nothing of the person's is cleared.
    public func follow(
        _ advice: PolicyAdvice,
        answering responder: any ChallengeResponder,
        callbacks: any JourneyCallbackResponder = NoJourneyCallbackResponder(),
        options: SignInOptions = SignInOptions()
    ) async throws {
        guard try await api.tokens.read().credentials.ssoToken != nil else { throw RecoveryError.signedOut }
        _ = try await run(
            journey(.advice(advice), options: JourneyOptions(upgradesSession: true)),
            restart: .advice(advice),
            identifier: nil,
            password: nil,
            answering: responder,
            callbacks: callbacks,
            options: options,
            because: Outcome(.stepUpRequired)
        )
    }
}

/// Presents the session to applications behind a gateway, and removes it if the server has refused it.
///
/// It stands inside `Recovery`, so that each attempt carries the newest session, and sends it to the given origins and
/// to no other.
public struct SessionCookie: CredentialPresenting {
    private let forgeRock: ForgeRock
    private let audience: Set<Origin>

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - forgeRock: Keeps the session.
    ///   - audience: The origins that the session belongs to, beside that of the server itself.
    public init(_ forgeRock: ForgeRock, audience: Set<Origin> = []) {
        self.forgeRock = forgeRock
        self.audience = audience.union([forgeRock.api.server.origin])
    }

    /// Attaches the session.
    public func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        let origin = Origin(of: request)
        let held = try await forgeRock.api.tokens.read().credentials
        guard audience.contains(origin), let token = held.ssoToken else {
            return try await next(request, body: body, context: context)
        }
        let layer = SessionCookieLayer(
            origin: origin,
            cookieName: try await forgeRock.api.sessionCookieName(),
            token: token,
            idToken: held.idToken,
            addsField: false,
            isPresented: context.record.presented?.kind != .access && !request.headerFields.contains(.authorization)
        )
        return try await layer.intercept(request, body: body, context: context, next: next)
    }

    /// Whose session a request is going to carry.
    public func credential(for request: HTTPRequest, context: CallContext) async -> PresentedCredential.Identity? {
        guard audience.contains(Origin(of: request)), !request.headerFields.contains(.authorization) else { return nil }
        return try? await forgeRock.api.tokens.read().credentials.ssoToken.map {
            PresentedCredential.Identity(session: $0.reveal())
        }
    }
}
