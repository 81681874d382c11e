public import HTTPRecovery
import HTTPRecoveryTesting

/// A local server that behaves like authentication providers, with people, lockouts, codes, tokens and faults.
///
/// It is meant for tests and demonstrations: start it inside a test on a free port, point the client at its ``url``,
/// and stop it when the test ends.
///
/// ```swift
/// let sandbox = try await AuthSandbox.start(scenario: .unlimited)
/// defer { sandbox.stop() }
/// // … sign in at sandbox.url as linus@example.com, then look for the code that was sent:
/// let code = sandbox.outbox(to: "linus@example.com").last?.code
/// ```
///
/// Who has an account is told by ``SandboxScenario``, what can go wrong by ``SandboxFault``. Everything that the methods
/// here do can be done over HTTP too, by another process: `GET /_sandbox/` lists how, and in a browser it is a page that
/// shows what there is and does it by a click (``pageURL``). All ids and codes follow from the seed, and all times from
/// the sandbox's own clock, which ``advanceClock(by:)`` moves.
public final class AuthSandbox: Sendable {
    private let server: SocketServer
    private let world: Locked<SandboxWorld>

    /// Where it listens, such as `http://127.0.0.1:49152`.
    public let url: String
    /// The port that it listens on.
    public let port: Int
    /// The time in milliseconds since 1970.
    private let clock: @Sendable () -> Int64
    /// The page that shows it in a browser, such as `http://127.0.0.1:49152/_sandbox/`.
    ///
    /// Nil where the loopback interface does not lead to it: the page is shown on this machine alone.
    public let pageURL: String?

    /// Starts a sandbox.
    ///
    /// - Parameters:
    ///   - address: Where to listen: an IP address or `localhost`, and a port; port 0 takes a free one.
    ///   - scenario: People, settings and faults.
    ///   - seed: What all ids and codes follow from.
    ///   - providers: Which providers it serves. Default: all.
    ///   - log: Takes a line for each code and each request; called on the sandbox's threads.
    ///   - now: What time it is, such as that of a `ManualClock`: `{ time.wallTime }`; called on the sandbox's threads. Default:
    ///     the machine's clock.
    /// - Returns: A sandbox that answers already.
    /// - Throws: ``SandboxError`` when the address is not one or is taken.
    public static func start(
        listen address: String = "127.0.0.1:0",
        scenario: SandboxScenario = .standard,
        seed: UInt64 = 1,
        providers: [SandboxProvider] = SandboxProvider.all,
        log: @escaping @Sendable (String) -> Void = { _ in },
        now: (@Sendable () -> Timestamp)? = nil
    ) async throws(SandboxError) -> AuthSandbox {
        try AuthSandbox(listen: address, scenario: scenario, seed: seed, providers: providers, log: log, now: now)
    }

    /// Starts a sandbox, for programs that are not asynchronous: it blocks while an upstream's name is looked up.
    ///
    /// - Parameters:
    ///   - address: Where to listen: an IP address or `localhost`, and a port; port 0 takes a free one.
    ///   - scenario: People, settings and faults.
    ///   - seed: What all ids and codes follow from.
    ///   - providers: Which providers it serves; none before an upstream. Default: all.
    ///   - upstream: The server that answers in their place; nil for none.
    ///   - log: Takes a line for each code and each request; called on the sandbox's threads.
    ///   - now: What time it is; called on the sandbox's threads. Default: the machine's clock.
    /// - Throws: ``SandboxError`` when the address is not one or is taken, when the scenario contradicts itself, or when
    ///   the name of the upstream cannot be looked up.
    public init(
        listen address: String = "127.0.0.1:0",
        scenario: SandboxScenario = .standard,
        seed: UInt64 = 1,
        providers: [SandboxProvider] = SandboxProvider.all,
        upstream: SandboxUpstream? = nil,
        log: @escaping @Sendable (String) -> Void = { _ in },
        now: (@Sendable () -> Timestamp)? = nil
    ) throws(SandboxError) {
        let text = address
        guard let address = SocketAddress(listening: text) else {
            throw SandboxError(.cannotListen, "\(text) is not an address such as 127.0.0.1:8080")
        }
        try scenario.check()
        let isOnMachinesClock = now == nil
        let clock: @Sendable () -> Int64 = { (now?() ?? .system()).milliseconds }
        self.clock = clock
        let world = Locked(
            SandboxWorld(
                scenario: scenario,
                seed: seed,
                wallNow: clock(),
                providers: Set(providers),
                upstream: upstream
            )
        )
        self.world = world
        var handler = SandboxHandler(
            receive: { request in
                let wallNow = clock()
                // When it arrived counts, not when this thread came to it: a busy machine makes no client late.
                // A reading that the clock cannot have had is of a clock that was set.
                let arrival = request.arrival.flatMap { arrival in
                    isOnMachinesClock && (wallNow - 60_000...wallNow).contains(arrival) ? arrival : nil
                }
                let (action, lines) = world.withLock { $0.receive(request, wallNow: arrival ?? wallNow) }
                for line in lines { log(line) }
                return action
            },
            complete: { call, outcome in
                let (reply, lines) = world.withLock { $0.complete(call, outcome, wallNow: clock()) }
                for line in lines { log(line) }
                return reply
            }
        )
        if let upstream {
            switch SocketAddress.resolve(upstream.name, port: upstream.port) {
            case .success(let addresses): handler.addresses = addresses
            case .failure(let error):
                throw SandboxError(.cannotResolve, "cannot look up the upstream \(upstream.name): \(error.reason)")
            }
            let reaches = handler.addresses.map(\.host)
            let own = ["0.0.0.0", "::"].contains(address.host) ? ["127.0.0.1", "::1"] : [address.host]
            if address.port == upstream.port, reaches.contains(where: own.contains) {
                throw SandboxError(.invalidInput, "\(upstream.url) is where the sandbox itself is to listen")
            }
            handler.timeout = upstream.timeoutMilliseconds
        }
        let serving = handler
        do {
            server = try SocketServer(address) { serving.serve($0, until: $1) }
        } catch {
            throw SandboxError(.cannotListen, "cannot listen on \(address.text): \(error.reason)")
        }
        port = server.address.port
        url = "http://\(server.address.text)"
        switch server.address.host {
        case "0.0.0.0": pageURL = "http://127.0.0.1:\(port)/_sandbox/"
        case "::": pageURL = "http://[::1]:\(port)/_sandbox/"
        case let host: pageURL = ControlGuard.isLoopback(host) ? "\(url)/_sandbox/" : nil
        }
    }

    deinit {
        server.stop()
    }

    /// Ends every connection and frees the port; a second call does nothing.
    public func stop() {
        server.stop()
    }

    /// The codes that were sent.
    ///
    /// - Parameter address: The e-mail address or the phone number; nil for all.
    /// - Returns: The messages, newest last.
    public func outbox(to address: String? = nil) -> [SandboxMessage] {
        world.withLock { $0.outbox.messages(to: address) }
    }

    /// The requests that arrived, except those to `/_sandbox/`.
    ///
    /// - Parameters:
    ///   - method: Only those of this method; nil for all.
    ///   - path: Only those of this path, a beginning or a pattern with `*`; nil for all.
    /// - Returns: The requests, newest last.
    public func requests(method: String? = nil, path: String? = nil) -> [SandboxRequestRecord] {
        world.withLock { $0.log.records(method: method, path: path) }
    }

    /// Lets something go wrong.
    ///
    /// - Parameter fault: What, and for which requests.
    public func add(_ fault: SandboxFault) {
        world.withLock { _ = $0.context.faults.add(fault) }
    }

    /// Removes all faults.
    public func clearFaults() {
        world.withLock { _ = $0.context.faults.clear() }
    }

    /// Adds a person; one with the same identifier is replaced.
    ///
    /// - Parameter user: The person.
    /// - Throws: ``SandboxError`` for somebody who contradicts themselves.
    public func add(_ user: SandboxUser) throws(SandboxError) {
        let user: SandboxUser = try JSONValue(of: user).read(path: "user")
        withWorld { $0.add(user) }
    }

    /// Moves the sandbox's clock on, so that locks, codes, tokens and sessions run out without a wait.
    ///
    /// - Parameter duration: How far; at most a thousand years in all, and never back.
    public func advanceClock(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let milliseconds = min(max(seconds, 0), 31_557_600_000) * 1000 + attoseconds / 1_000_000_000_000_000
        world.withLock { $0.advanceClock(byMilliseconds: milliseconds) }
    }

    /// Changes the settings while it runs.
    ///
    /// - Parameter change: What to change.
    public func updateSettings(_ change: @Sendable (inout SandboxSettings) -> Void) {
        world.withLock { change(&$0.settings) }
    }

    /// Begins again: people, faults, settings, clock, log and codes are as at the start.
    public func reset() {
        world.withLock { $0.reset(wallNow: clock()) }
    }

    /// Does something with the world, whose time is the present.
    func withWorld<Result, Failure: Error>(
        _ body: (inout SandboxWorld) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let wallNow = clock()
        return try world.withLock { world throws(Failure) in
            world.context.now = world.now(wallNow: wallNow)
            world.context.origin = url
            return try body(&world)
        }
    }

    /// Does something with one provider.
    func with<World: ProviderWorld, Result>(
        _ type: World.Type,
        _ body: (inout World, inout SandboxContext) throws(SandboxError) -> Result
    ) throws(SandboxError) -> Result {
        try withWorld { world throws(SandboxError) in try world.with(type, body) }
    }

    /// One provider as it is now.
    func world<World: ProviderWorld>(_ type: World.Type) -> World { withWorld { $0[type] } }
}

extension AuthSandbox {
    /// Whether a text is an address to listen on, such as `127.0.0.1:8080`.
    ///
    /// - Parameter text: The text.
    /// - Returns: False for a name, and where the port is missing.
    public static func isAddress(_ text: String) -> Bool {
        SocketAddress(listening: text) != nil
    }
}
