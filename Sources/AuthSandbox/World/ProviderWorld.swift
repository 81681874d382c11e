import HTTPRecovery

/// One provider as a value: its people and tokens, and what a request does to them.
///
/// A new one is a folder with such a value and its parts, and a name in ``SandboxProvider/all``.
protocol ProviderWorld: Sendable {
    /// The word on the command line, and before the provider's own control endpoints.
    static var name: String { get }
    /// What it adds to the settings, to a person and to a scenario: nil for nothing.
    static var settings: (any SandboxPart.Type)? { get }
    static var person: (any SandboxPart.Type)? { get }
    static var scenario: (any SandboxPart.Type)? { get }
    /// What can be done behind the back of its clients.
    static var controls: [SandboxControl] { get }
    /// The forms of its errors, which a fault may name to get them from any provider.
    static var envelopes: [String] { get }
    /// Whether a request is one for tokens, so that its grant is noted.
    static func isTokenRequest(_ request: SandboxRequest) -> Bool
    /// What the log shows of an error's body; nil where it is not one of this provider's.
    static func errorCode(of body: JSONValue) -> String?
    /// Headers that carry secrets of its own, in lower case.
    static func secretHeaders(_ settings: SandboxSettings) -> Set<String>

    /// A provider that knows nobody yet.
    init(scenario: SandboxScenario, seed: UInt64, context: inout SandboxContext)

    /// Adds a person; one with the same identifier is replaced.
    mutating func add(_ user: SandboxUser, context: inout SandboxContext)

    /// Locks a person, or unlocks them; somebody else is no error.
    mutating func lock(_ user: String, _ lock: SandboxLock)

    /// How everybody stands who has an account here.
    func standings(_ context: SandboxContext) -> [SandboxStanding]

    /// The pages where somebody signs in with a browser.
    ///
    /// - Parameters:
    ///   - callback: Where they lead to.
    ///   - context: The settings.
    func links(callback: String, _ context: SandboxContext) -> [SandboxLink]

    /// Whether a request is for this provider; those after it in ``SandboxProvider/all`` were asked before.
    func takes(_ request: SandboxRequest, context: SandboxContext) -> Bool

    /// Answers a request that it takes.
    mutating func answer(_ request: SandboxRequest, context: inout SandboxContext) -> SandboxResponse

    /// Has its say before any provider answers a request: it may change the request, or answer it.
    mutating func precede(_ request: inout SandboxRequest, context: inout SandboxContext) -> SandboxResponse?

    /// Has its say about the answer of any provider, the faults' included.
    mutating func follow(_ response: inout SandboxResponse, to request: SandboxRequest, context: SandboxContext)

    /// An error that a fault makes up.
    ///
    /// - Parameters:
    ///   - fault: The fault; what it leaves open is as usual.
    ///   - status: The status; nil for the usual one.
    ///   - form: One of ``envelopes``; nil for what the request would be answered with.
    ///   - request: The request that is struck.
    ///   - context: The time and the settings.
    func error(
        _ fault: SandboxFault,
        status: Int?,
        form: String?,
        to request: SandboxRequest,
        context: SandboxContext
    ) -> SandboxResponse
}

extension ProviderWorld {
    static var settings: (any SandboxPart.Type)? { nil }
    static var person: (any SandboxPart.Type)? { nil }
    static var scenario: (any SandboxPart.Type)? { nil }
    static var controls: [SandboxControl] { [] }
    static var envelopes: [String] { [] }

    static func isTokenRequest(_ request: SandboxRequest) -> Bool { false }
    static func secretHeaders(_ settings: SandboxSettings) -> Set<String> { [] }

    mutating func lock(_ user: String, _ lock: SandboxLock) {}
    func links(callback: String, _ context: SandboxContext) -> [SandboxLink] { [] }
    mutating func precede(_ request: inout SandboxRequest, context: inout SandboxContext) -> SandboxResponse? { nil }
    mutating func follow(_ response: inout SandboxResponse, to request: SandboxRequest, context: SandboxContext) {}
}
