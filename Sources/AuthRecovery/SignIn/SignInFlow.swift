public import HTTPRecovery

/// A sign-in from its beginning to its session, as a value that is stepped: it takes an answer, and says what is wanted
/// next.
///
/// ```swift
/// var flow = clerk.signInFlow(.identifier(name, password: password))
/// var turn = try await flow.step(.begin)
/// while case .ask(let challenge) = turn.step {
///     turn = try await flow.step(.answer(.text(await form.answer(to: challenge))))
/// }
/// ```
///
/// It asks for what the server wants, submits the answers, and recovers from what the server refuses, alike for every
/// provider; a ``SignInMachine`` knows the provider's part. Between two steps it holds no task. ``run(answering:)`` is the
/// loop over it for a program with a terminal; ``SuspendedSignIns`` keeps it between the requests of a web backend.
public struct SignInFlow<Session: Sendable>: Sendable {
    /// The provider's part.
    package var machine: any SignInMachine<Session>
    let client: RecoveringClient
    var options: SignInOptions
    /// What has called for the sign-in.
    let cause: Outcome
    var progress: SignInProgress
    /// What the person is asked for is owed to this, until an answer is accepted.
    var occasion: Outcome
    var wanted = SignInWanted.beginning

    /// Creates a flow.
    ///
    /// - Parameters:
    ///   - machine: The provider's part.
    ///   - client: The client that the machine's calls are made by; each step is an operation of it.
    ///   - options: How to deal with what goes wrong.
    ///   - cause: What has called for it, such as a refusal that wants a step up; by default nothing in particular.
    public init(
        _ machine: any SignInMachine<Session>,
        client: RecoveringClient,
        options: SignInOptions = SignInOptions(),
        because cause: Outcome = Outcome(.challengeRequired)
    ) {
        self.machine = machine
        self.client = client
        self.options = options
        self.cause = cause
        occasion = cause
        progress = SignInProgress()
        progress.maxRounds = options.maxRounds
    }

    /// Takes a step.
    ///
    /// It is one operation at the client, and goes on until something is wanted of the person, or of time.
    ///
    /// - Parameter input: What it is taken with.
    /// - Returns: What is wanted next.
    /// - Throws: `RecoveryError` for what could not be recovered from: the sign-in is over then, unless the input does not
    ///   fit what is wanted, which is of the kind `invalid_request`, is sent to nobody and changes nothing.
    ///   ``Credentials/StoreError`` if the store did not take what was obtained, `CancellationError` as soon as the task is
    ///   cancelled; what became of the step is read by ``SignInInput/resync`` then.
    public mutating func step(_ input: SignInInput) async throws -> SignInTurn<Session> {
        let notices = Locked<[Outcome]>([])
        do {
            let step = try await SignInContext.run(client, options: options) { notice in
                notices.withLock { $0.append(notice) }
            } _: { context in
                try await advance(.input(input), context)
            }
            return SignInTurn(step, notices: notices.withLock { $0 })
        } catch {
            throw try told(error)
        }
    }

    /// Ends a sign-in that nobody goes on with: at the server too, if it knows such an end.
    ///
    /// - Throws: `RecoveryError` if the server could not be told; the flow is over all the same.
    public mutating func abandon() async throws {
        wanted = .nothing
        try await SignInContext.run(client, options: options) { _ in
        } _: { context in
            machine.enter(context)
            try await machine.abandon()
        }
    }

    /// What goes out of a step that has failed.
    mutating func told(_ error: any Error) throws -> any Error {
        // A responder or a store may have its own word for being cancelled.
        try Task.checkCancellation()
        if error is InputNotWanted { return RecoveryError.inputNotWanted(by: wanted) }
        guard var error = (error as? RecoveryError)?.toldToWhoSignsIn else { return error }
        wanted = .nothing
        // Who is signed out has no session that waits for anything.
        if error.kind != .reauthenticationRequired, error.outcome.openTask == nil {
            error.outcome.openTask = machine.openTask
        }
        return error
    }
}
