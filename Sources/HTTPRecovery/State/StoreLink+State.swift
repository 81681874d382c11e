extension StoreLink {
    /// Whether the store answers, and when it is asked again: a value, which tests lead through every order of what may
    /// happen.
    struct State {
        /// When the store may be asked again; nil while it answers.
        private(set) var asksAgainAt: TimeSource.Instant?
        /// When it stopped to answer.
        private(set) var downAt: TimeSource.Instant?
        private(set) var isHealing = false
        var isShutDown = false
        /// Grows whenever the store goes or comes back, so that a late failure is told from a new one.
        private(set) var epoch: UInt64 = 0
        var outage: StoreOutage

        /// How long the store is left alone after it did not answer.
        private static let pause: Duration = .seconds(1)

        init(store: String) {
            outage = StoreOutage(store: store)
        }

        /// Whether the store is not asked: what it has to learn is noted.
        var isDown: Bool { asksAgainAt != nil || isShutDown }
    }

    /// Whether a question is put to the store.
    enum Admission: Hashable {
        /// The present epoch.
        case asks(UInt64)
        case doesNot
        /// It is tried whether the store is back, and what it has to learn is written.
        case heals
    }
}

extension StoreLink.State {
    /// Whether the store may be asked; of those who come while it is away, one a second tries it.
    mutating func admit(at now: TimeSource.Instant) -> StoreLink.Admission {
        if isShutDown { return .doesNot }
        guard let again = asksAgainAt else { return .asks(epoch) }
        guard !isHealing, again <= now else { return .doesNot }
        isHealing = true
        return .heals
    }

    /// Takes note that the store does not answer.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - reason: Why.
    ///   - asked: The epoch in which it was asked; what it failed before it came back says nothing. Nil: it counts anyway.
    /// - Returns: Whether that is new.
    mutating func goDown(at now: TimeSource.Instant, because reason: String, epoch asked: UInt64? = nil) -> Bool {
        guard !isShutDown, asksAgainAt == nil, asked ?? epoch == epoch else { return false }
        epoch += 1
        asksAgainAt = now.advanced(by: Self.pause)
        downAt = now
        outage.reason = reason
        return true
    }

    /// Begins to heal whatever the time is, for the last time; false if there is nothing to heal.
    mutating func beginLastHealing() -> Bool {
        guard asksAgainAt != nil, !isHealing, !isShutDown else { return false }
        isHealing = true
        return true
    }

    /// Takes note that the store still does not answer.
    mutating func stayDown(at now: TimeSource.Instant, because reason: String) {
        isHealing = false
        outage.reason = reason
        asksAgainAt = now.advanced(by: Self.pause)
    }

    /// Goes by the store again, if no gate is left to be written.
    ///
    /// - Returns: The new epoch; nil if one is left.
    mutating func comeBack() -> UInt64? {
        guard outage.isEmpty else { return nil }
        isHealing = false
        asksAgainAt = nil
        downAt = nil
        epoch += 1
        return epoch
    }
}
