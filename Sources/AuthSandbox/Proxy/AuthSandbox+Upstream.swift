extension AuthSandbox {
    /// Starts a sandbox that stands before another server: it forwards everything, and does harm where it is told to.
    ///
    /// What is not below `/_sandbox/` goes to the upstream, and its answer comes back as it is, unless a fault strikes.
    /// A fault that leaves its request unprocessed keeps it from the upstream; any other strikes only when the
    /// upstream's answer is there as a whole. Faults, the log of requests and the clock are those of any sandbox; people,
    /// codes and settings are of no effect here.
    ///
    /// - Parameters:
    ///   - address: Where to listen: an IP address or `localhost`, and a port; port 0 takes a free one.
    ///   - upstream: The server that answers. It need not run yet: a request that does not reach it is answered with
    ///     502, and one that it has not answered in time with 504.
    ///   - faults: What goes wrong from the start.
    ///   - seed: What the tokens follow from that the fault `rotate_token` hands out.
    ///   - log: Takes a line for each request; called on the sandbox's threads.
    /// - Returns: A sandbox that answers already.
    /// - Throws: ``SandboxError`` when the address is not one or is taken, or when the name of the upstream cannot be
    ///   looked up, which is done once, here.
    public static func start(
        listen address: String = "127.0.0.1:0",
        upstream: SandboxUpstream,
        faults: [SandboxFault] = [],
        seed: UInt64 = 1,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(SandboxError) -> AuthSandbox {
        try AuthSandbox(
            listen: address,
            scenario: SandboxScenario(users: [], faults: faults),
            seed: seed,
            providers: [],
            upstream: upstream,
            log: log
        )
    }
}
