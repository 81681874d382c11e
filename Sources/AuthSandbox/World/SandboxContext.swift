import HTTPRecovery

/// What all providers share: the time, the settings, randomness, the post and the faults.
struct SandboxContext: Sendable {
    /// Milliseconds since 1970 on the sandbox's clock.
    var now: Int64
    var settings: SandboxSettings
    /// Who answers.
    let providers: Set<SandboxProvider>
    var random: SplitMix64
    /// For codes alone, so that the n-th code of a run is the same whatever else was asked for.
    var codes: SplitMix64
    var outbox = Outbox()
    var faults: FaultTable
    /// The subject that each person has in tokens, by their identifier.
    var subjects: [String: String] = [:]
    /// Who has registered at a provider, for the token endpoint that knows them by their subjects.
    var newcomers: [SandboxUser] = []
    /// The codes that a provider's own sign-in has ended with, for a token endpoint that exchanges them.
    var interactionCodes: [String: OAuthCode] = [:]
    /// Where the request at hand was sent: scheme and authority.
    var origin = "http://localhost"
    /// Whether a fault wants the token of the request at hand replaced.
    var rotatesToken = false
    /// Lines for the sandbox's log.
    var log: [String] = []

    /// Whether a provider is one of those who answer.
    func serves(_ world: any ProviderWorld.Type) -> Bool { providers.contains(SandboxProvider(world)) }

    /// Sends a code to somebody, into the outbox and the log.
    mutating func send(_ message: SandboxMessage) {
        outbox.send(message)
        log.append("code \(message.code) for \(message.to) (\(message.strategy))")
    }
}
