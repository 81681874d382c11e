public import HTTPRecovery

/// How the checks of ``RecoveryStoreConformance`` get their stores, and how time passes for these.
public struct StoreUnderTest: Sendable {
    /// By which time a store tells what has run out.
    public enum Clock: Sendable, Hashable {
        /// By the time that its callers tell: it passes at once, without a sleep.
        case callers
        /// By the clock of its back end: the checks sleep, 30 to 300 ms at a time.
        case own
    }

    /// What only some stores can do.
    public enum Ability: Sendable, Hashable, CaseIterable {
        /// Hours pass without a sleep, because the store goes by its callers' time.
        case skipsTime
        /// Hosts whose clocks differ agree, because the back end has a clock of its own.
        case keepsItsOwnTime
        /// Calls after `shutdown()` throw.
        case closes
        /// What is stored can be replaced by garbage, behind the store's back.
        case isCorruptible
    }

    /// By which time the store goes.
    public let clock: Clock
    /// What the store can do.
    public let abilities: Set<Ability>

    let makeStore: @Sendable (_ namespace: String) async throws -> any RecoveryStore
    let corrupt: (@Sendable (_ namespace: String) async throws -> Void)?

    /// Describes a store.
    ///
    /// - Parameters:
    ///   - clock: By which time the store goes.
    ///   - closes: Whether it has something to close, so that calls after its shutdown throw; default: yes.
    ///   - makeStore: Makes a store in a namespace of one back end; of two with the same namespace, each sees what the
    ///     other writes. The checks use namespaces of their own, and shut down what was made for them.
    ///   - corrupt: Replaces whatever the back end keeps for the namespace by garbage; nil if nobody else could.
    public init(
        clock: Clock,
        closes: Bool = true,
        makeStore: @escaping @Sendable (_ namespace: String) async throws -> any RecoveryStore,
        corrupt: (@Sendable (_ namespace: String) async throws -> Void)? = nil
    ) {
        self.clock = clock
        var abilities: Set<Ability> = [clock == .callers ? .skipsTime : .keepsItsOwnTime]
        if closes { abilities.insert(.closes) }
        if corrupt != nil { abilities.insert(.isCorruptible) }
        self.abilities = abilities
        self.makeStore = makeStore
        self.corrupt = corrupt
    }
}
