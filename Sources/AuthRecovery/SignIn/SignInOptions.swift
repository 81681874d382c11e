/// How a sign-in deals with what goes wrong.
public struct SignInOptions: Sendable, Hashable {
    /// Which factors to prefer if several are offered and the responder does not choose, the best first.
    public var preference: [Factor.Key]

    /// The factors that may stand in for a compromised password, the best first; empty switches the fallback off.
    public var compromisedPasswordFallback: [Factor.Key]

    /// How often one question is asked before the sign-in gives up; at least 1.
    ///
    /// So often in a row it is also read at the server where the sign-in stands, if an answer was lost.
    public var maxRounds: Int

    /// How often a flow that died is begun again.
    public var maxRestarts: Int

    /// How long after its beginning the sign-in may still wait for the server between two calls, as between two polls;
    /// nil for any time.
    ///
    /// A wait that could not end before is not begun. The calls themselves are bounded by the client, and nobody hurries
    /// the person who answers.
    public var deadline: Duration?

    /// The longest single wait between two calls; nil for any.
    public var maxWait: Duration?

    /// Whether a session of the person who is named, which is there already, is a sign-in that has finished.
    ///
    /// At a person's own device it is. Whoever lets somebody in by the sign-in wants to see the answers: what they have typed
    /// was not looked at. ``SuspendedSignIns`` takes one only where it is also told that it is the browser's own.
    public var acceptsExistingSession: Bool

    /// Creates options.
    ///
    /// - Parameters:
    ///   - preference: Which factors to prefer; those not named come last, in the server's order.
    ///   - compromisedPasswordFallback: Which factors may stand in for a compromised password. Default: an e-mail code,
    ///     else a phone code.
    ///   - maxRounds: How often one question is asked. Default: 3.
    ///   - maxRestarts: How often a dead flow is begun again. Default: 1.
    ///   - deadline: How long after its beginning the sign-in may still wait between two calls. Default: any time.
    ///   - maxWait: The longest single wait between two calls. Default: any.
    ///   - acceptsExistingSession: Whether a session that is there already is a finished sign-in. Default: yes.
    public init(
        preference: [Factor.Key] = [.password, .totp, .emailCode, .phoneCode, .backupCode],
        compromisedPasswordFallback: [Factor.Key] = [.emailCode, .phoneCode],
        maxRounds: Int = 3,
        maxRestarts: Int = 1,
        deadline: Duration? = nil,
        maxWait: Duration? = nil,
        acceptsExistingSession: Bool = true
    ) {
        self.preference = preference
        self.compromisedPasswordFallback = compromisedPasswordFallback
        self.maxRounds = max(1, maxRounds)
        self.maxRestarts = max(0, maxRestarts)
        self.deadline = deadline
        self.maxWait = maxWait
        self.acceptsExistingSession = acceptsExistingSession
    }
}
