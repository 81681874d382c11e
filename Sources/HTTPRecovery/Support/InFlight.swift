import Synchronization

/// What is under way, by number alone, and whether more may begin.
final class InFlight: Sendable {
    // How many are under way, times two; and one if no more may begin. Each call changes it twice.
    private let word = Atomic(0)
    private static let closed = 1
    private static let one = 2

    /// Lands when the last one has ended; nil while more may begin.
    private let idle = Locked<Flight<Void>?>(nil)

    /// Takes note of one that begins; false if it may not.
    ///
    /// - Parameter isLetIn: Whether it may begin though no more are taken, by how many are under way.
    func enter(orElse isLetIn: (_ count: Int) -> Bool = { _ in false }) -> Bool {
        var present = word.load(ordering: .relaxed)
        while true {
            if present & Self.closed != 0, !isLetIn(present / Self.one) { return false }
            let change = word.weakCompareExchange(
                expected: present,
                desired: present + Self.one,
                ordering: .acquiringAndReleasing
            )
            if change.exchanged { return true }
            present = change.original
        }
    }

    /// Whether no more may begin.
    var isClosed: Bool { word.load(ordering: .acquiring) & Self.closed != 0 }

    /// Takes note of one that has ended.
    func leave() {
        if word.subtract(Self.one, ordering: .acquiringAndReleasing).newValue == Self.closed { land() }
    }

    /// The place of one that is under way, which is left once: when that is said, or nobody has the place any more.
    final class Place: Sendable {
        private let inFlight: InFlight
        private let isLeft = Atomic(false)

        /// Takes over the place of one that has entered.
        init(in inFlight: InFlight) {
            self.inFlight = inFlight
        }

        deinit { leave() }

        func leave() {
            if !isLeft.exchange(true, ordering: .acquiringAndReleasing) { inFlight.leave() }
        }
    }

    /// Lets no more begin.
    ///
    /// - Returns: Lands when the last one has ended; nil if none is under way.
    func close() -> Flight<Void>? {
        let flight = idle.withLock { idle in
            let flight = idle ?? Flight()
            idle = flight
            return flight
        }
        let present = word.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing).newValue
        guard present == Self.closed else { return flight }
        land()
        return nil
    }

    private func land() {
        idle.withLock { $0.take() }?.land(.success(()))
    }
}
