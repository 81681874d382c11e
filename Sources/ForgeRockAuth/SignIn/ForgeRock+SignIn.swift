public import AuthRecovery
import HTTPRecovery

extension ForgeRock {
    /// Signs in by a journey of one's own choice.
    ///
    /// - Parameters:
    ///   - start: What the journey begins with; nil for the journey to sign in with. One that has to begin anew begins with it
    ///     too, unless it was suspended: what a link has resumed begins with the journey to sign in with.
    ///   - journeyOptions: How it is begun.
    ///   - identifier: The name of the account; nil lets the person be asked.
    ///   - password: The password; nil lets the person be asked.
    ///   - responder: Answers what is asked.
    ///   - callbacks: Answers callbacks before the sign-in looks at them.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its token is stored before this returns.
    /// - Throws: As ``signIn(identifier:password:answering:callbacks:options:)``; of the kind `reauthentication_required` if
    ///   a session is to be made stronger and there is none.
    public func signIn(
        _ start: JourneyStart?,
        with journeyOptions: JourneyOptions = JourneyOptions(),
        identifier: String? = nil,
        password: Secret? = nil,
        answering responder: any ChallengeResponder,
        callbacks: any JourneyCallbackResponder = NoJourneyCallbackResponder(),
        options: SignInOptions = SignInOptions()
    ) async throws -> ForgeRockSession {
        if journeyOptions.upgradesSession || start?.isAdvice == true,
            try await api.tokens.read().credentials.ssoToken == nil
        {
            throw RecoveryError.signedOut
        }
        var flow = signInFlow(
            start,
            with: journeyOptions,
            identifier: identifier,
            password: password,
            callbacks: callbacks,
            options: options
        )
        return try await flow.run(answering: responder)
    }

    /// A sign-in by a journey of one's own choice, to be stepped: nothing is sent before its first step.
    ///
    /// - Parameters:
    ///   - start: What the journey begins with, and begins anew with unless it was suspended; nil for the journey to sign in
    ///     with.
    ///   - journeyOptions: How it is begun.
    ///   - identifier: The name of the account; nil lets the person be asked.
    ///   - password: The password; nil lets the person be asked.
    ///   - callbacks: Answers callbacks before the sign-in looks at them. They are not part of what is suspended: then those
    ///     of the configuration answer.
    ///   - options: How to deal with what goes wrong.
    public func signInFlow(
        _ start: JourneyStart?,
        with journeyOptions: JourneyOptions = JourneyOptions(),
        identifier: String? = nil,
        password: Secret? = nil,
        callbacks: any JourneyCallbackResponder = NoJourneyCallbackResponder(),
        options: SignInOptions = SignInOptions()
    ) -> SignInFlow<ForgeRockSession> {
        let machine = machine(
            journey(start, options: journeyOptions, account: identifier),
            restart: start.flatMap { $0.isSuspended ? nil : $0 } ?? self.start,
            identifier,
            password,
            callbacks
        )
        return SignInFlow(machine, client: api.client, options: options)
    }
}
