/// How a journey is begun.
public struct JourneyOptions: Sendable, Hashable {
    /// Whether a person who has a session is asked all the same (`ForceAuth`); default: no.
    public var forcesAuthentication: Bool
    /// Whether no session is made (`noSession`), as for confirming something; default: no.
    public var skipsSession: Bool
    /// Whether the stored session goes along and is made stronger, as in a step-up; default: no, except for what a
    /// policy advises.
    public var upgradesSession: Bool
    /// Whether a sign-in presents a name and a password that it was given with its first request already (zero-page
    /// login); default: no.
    ///
    /// It saves a request where the journey begins with them and the server allows it. If the server asks for the password
    /// all the same, nobody knows whether it has looked at it: the person is asked.
    public var presentsLoginAtOnce: Bool

    /// Creates options.
    public init(
        forcesAuthentication: Bool = false,
        skipsSession: Bool = false,
        upgradesSession: Bool = false,
        presentsLoginAtOnce: Bool = false
    ) {
        self.forcesAuthentication = forcesAuthentication
        self.skipsSession = skipsSession
        self.upgradesSession = upgradesSession
        self.presentsLoginAtOnce = presentsLoginAtOnce
    }
}
