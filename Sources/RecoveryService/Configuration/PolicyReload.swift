#if Configuration
public import Configuration
public import HTTPRecovery
#if ServiceLifecycle
public import ServiceLifecycle
#endif

/// Has a client go by a configuration that changes, without a loss of what it has learned.
///
/// ```swift
/// let recovery = RecoveringClient.ReloadableRecovery(try RecoveringClient.Settings(config: config))
/// let client = RecoveringClient(transport: transport) { recovery }
/// let reload = PolicyReload(recovery, of: client, from: config)
/// ```
///
/// What is no policy changes nothing: the one before stays in force, and ``Change/refused(_:)`` is told.
public struct PolicyReload: Sendable, CustomStringConvertible {
    /// What has come of a configuration that has changed.
    @nonexhaustive public enum Change: Sendable, Hashable {
        /// Calls that begin from now on go by it.
        case applied(RecoveringClient.Settings)
        /// It is no policy, or one that a running client cannot change to.
        case refused(RecoveringClient.Settings.Invalid)
    }

    private let recovery: RecoveringClient.ReloadableRecovery
    private let runtime: Runtime
    private let config: ConfigReader
    private let read:
        @Sendable (ConfigSnapshotReader) throws(RecoveringClient.Settings.Invalid) -> RecoveringClient.Settings
    private let onChange: @Sendable (Change) -> Void

    /// Its name; a group logs it in each line about the service.
    public var description: String { "PolicyReload" }

    /// Creates the work; ``run()`` does it.
    ///
    /// - Parameters:
    ///   - recovery: What is changed.
    ///   - client: The client that it stands in.
    ///   - config: The configuration, scoped to where the policy stands; it has to come from a provider that reloads.
    ///   - preset: What holds for all that is not configured, unless `preset` is. Default: `standard`.
    ///   - onChange: Told of each change, for logs; it must not block. Default: nobody is.
    public init(
        _ recovery: RecoveringClient.ReloadableRecovery,
        of client: RecoveringClient,
        from config: ConfigReader,
        preset: String = "standard",
        onChange: @escaping @Sendable (Change) -> Void = { _ in }
    ) {
        self.recovery = recovery
        self.runtime = client.runtime
        self.config = config
        self.read = { (snapshot) throws(RecoveringClient.Settings.Invalid) in
            try RecoveringClient.Settings(config: snapshot, preset: preset)
        }
        self.onChange = onChange
    }

    /// The same with what a program holds for good where nothing is configured.
    ///
    /// - Parameters:
    ///   - recovery: What is changed.
    ///   - client: The client that it stands in.
    ///   - config: The configuration, scoped to where the policy stands; it has to come from a provider that reloads.
    ///   - base: What holds for all that is not configured, unless `preset` is.
    ///   - onChange: Told of each change, for logs; it must not block. Default: nobody is.
    public init(
        _ recovery: RecoveringClient.ReloadableRecovery,
        of client: RecoveringClient,
        from config: ConfigReader,
        base: RecoveringClient.Settings,
        onChange: @escaping @Sendable (Change) -> Void = { _ in }
    ) {
        self.recovery = recovery
        self.runtime = client.runtime
        self.config = config
        self.read = { (snapshot) throws(RecoveringClient.Settings.Invalid) in
            try RecoveringClient.Settings(config: snapshot, base: base)
        }
        self.onChange = onChange
    }

    /// Applies the configuration as it is, and each change of it, until the task is cancelled.
    ///
    /// - Throws: What the configuration's provider throws.
    public func watch() async throws {
        try await config.watchSnapshot { updates in
            for await snapshot in updates { apply(snapshot) }
        }
    }

    private func apply(_ snapshot: ConfigSnapshotReader) {
        do throws(RecoveringClient.Settings.Invalid) {
            let settings = try read(snapshot)
            guard settings != recovery.settings else { return }
            try recovery.apply(settings, in: runtime)
            onChange(.applied(settings))
        } catch {
            onChange(.refused(error))
        }
    }
}

#if ServiceLifecycle
extension PolicyReload: Service {
    /// Does what ``watch()`` does until the service is shut down.
    public func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await watch() }
        } catch is CancellationError {}
    }
}
#endif
#endif
