public import AuthRecovery
import HTTPRecovery

extension Clerk {
    /// Signs somebody up, and in.
    ///
    /// What the instance requires and the request does not bring is asked for, one field at a time: a password by the key
    /// `new_password`, a phone number by `phone_number`, anything else by `text` with Clerk's name of the field as the
    /// prompt. Addresses and numbers are proved by codes, each of which is sent once. Who has proved themselves to a
    /// provider and turns out to have an account is signed in. Where Clerk wants a captcha or another proof that somebody is no
    /// robot, and the configuration has none, it is asked for by the key `captcha`, as in a sign-in.
    ///
    /// - Parameters:
    ///   - request: What they sign up with.
    ///   - responder: Answers what is asked.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its id is stored before this returns.
    /// - Throws: `RecoveryError` for what could not be recovered from: of the kind `conflict` if an address, number or
    ///   name is taken. `Challenge.NoAnswer` if the responder had none, `CancellationError` as soon as the task is cancelled.
    public func signUp(
        _ request: ClerkSignUpRequest,
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        var flow = signUpFlow(request, options: options)
        return try await flow.run(answering: responder)
    }

    /// A sign-up to be stepped, as by a web backend: nothing is sent before its first step.
    ///
    /// - Parameters:
    ///   - request: What they sign up with.
    ///   - options: How to deal with what goes wrong.
    public func signUpFlow(
        _ request: ClerkSignUpRequest,
        options: SignInOptions = SignInOptions()
    ) -> SignInFlow<ClerkSession> {
        flow(ClerkSignUpMachine(api: api, request: request), options)
    }

    /// Signs in whoever has proved themselves in a sign-up and has an account already.
    ///
    /// - Parameters:
    ///   - responder: Answers what is asked, such as a second factor.
    ///   - options: How to deal with what goes wrong.
    /// - Returns: The session; its id is stored before this returns.
    /// - Throws: As ``signIn(identifier:password:answering:options:)``.
    public func signInByTransfer(
        answering responder: any ChallengeResponder,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkSession {
        try await run(.transfer, responder, options)
    }
}
