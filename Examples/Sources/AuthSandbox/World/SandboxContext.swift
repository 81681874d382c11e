/// What a provider is handed with each request: the time, randomness, the post, and the settings.
struct SandboxContext {
    /// Milliseconds since 1970 on the sandbox's clock.
    let now: Int64
    let settings: SandboxSettings
    var random: SeededGenerator
    /// For codes alone, so that the n-th code of a run is the same whatever else was asked for.
    var codes: SeededGenerator
    var outbox: Outbox
    /// Lines for the sandbox's log.
    var log: [String] = []

    /// Sends a code to somebody, into the outbox and the log.
    mutating func send(_ message: SandboxMessage) {
        outbox.send(message)
        log.append("code \(message.code) for \(message.to) (\(message.strategy))")
    }
}
