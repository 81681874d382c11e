extension Recovery {
    /// Bounds how many attempts are under way at an origin at the same time: a bulkhead, whose size can be learned.
    ///
    /// Those beyond the limit stand in a line, the most urgent first (``RequestOptions/priority``), then by their coming; they
    /// leave it as soon as they are cancelled, and fail if their deadline or the engine's longest wait comes first.
    /// Nobody stands in a line that is full: such a call ends at once (``History/StopReason/limitReached``).
    public final class ConcurrencyLimit: Admission {
        private enum Place: Sendable {
            case direct(flights: Int)
            case line(UInt64)
        }

        private struct Settings {
            var algorithm: Algorithm
            var queue: Int
        }

        private let settings: Locked<Settings>
        private let lines: OriginTable<Locked<LimitLine>>

        /// Creates a limit.
        ///
        /// - Parameters:
        ///   - algorithm: How many attempts may be under way, and how that is learned; a client refuses one with a
        ///     ``Algorithm/problem``.
        ///   - queue: How many may stand in line; at least 0, which is nobody. Default: 100.
        public init(_ algorithm: Algorithm, queue: Int = 100) {
            let settings = Locked(Settings(algorithm: algorithm, queue: max(0, queue)))
            self.settings = settings
            lines = OriginTable { _ in Locked(LimitLine(settings.withLock { $0.algorithm })) }
        }

        /// Why it cannot work by its algorithm.
        public var problem: String? { algorithm.problem }

        /// How many attempts may be under way; a change goes on from what was learned, within its bounds, and
        /// with those who wait.
        public var algorithm: Algorithm {
            get { settings.withLock { $0.algorithm } }
            set {
                settings.withLock { $0.algorithm = newValue }
                for line in lines.all.values {
                    for turn in line.withLock({ $0.change(newValue) }) { turn.come() }
                }
            }
        }

        /// How many may stand in line.
        public var queue: Int {
            get { settings.withLock { $0.queue } }
            set { settings.withLock { $0.queue = max(0, newValue) } }
        }

        /// How an origin stands: its limit now, how many are under way, how many wait.
        public func load(of attempt: PlannedAttempt) -> (limit: Int, underWay: Int, waiting: Int) {
            lines[attempt].withLock { ($0.learned.limit, $0.flights, $0.waiting) }
        }

        /// Lets an attempt go, or has it stand in line.
        public func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
            guard attempt.isDue else { return .go() }
            let (turn, queue) = (PlannedAttempt.Turn(), queue)
            let priority = context.options.priority
            switch lines[attempt].withLock({ $0.enter(priority: priority, queue: queue, turn: turn) }) {
            case .go(let flights): return .go(PlannedAttempt.Permit(Place.direct(flights: flights), kept: .whileDue))
            case .line(let number):
                let permit = PlannedAttempt.Permit(Place.line(number), kept: .throughItsWait)
                return .line(turn, because: Self.full, permit: permit)
            case .refuse: return .refuse(.limitReached, because: attempt.failure ?? Self.full)
            }
        }

        /// Gives the place to whoever is next, and learns from what came of the attempt.
        public func conclude(
            _ attempt: PlannedAttempt,
            _ end: PlannedAttempt.End,
            permit: PlannedAttempt.Permit,
            context: CallContext
        ) -> Remainder? {
            guard let place = permit.value as? Place else { return nil }
            var sample: (elapsed: Duration, isDropped: Bool)?
            if case .ended(let outcome, _) = end,
                !outcome.isFailure || outcome.isLoadFailure || outcome.kind == .quotaExhausted
            {
                sample = (attempt.times(in: context).elapsed, outcome.isFailure)
            }
            let turns = lines[attempt].withLock { line in
                var turns: [PlannedAttempt.Turn]
                let flights: Int?
                switch place {
                case .direct(let count): (flights, turns) = (count, line.leave())
                case .line(let number): (flights, turns) = line.leave(number)
                }
                if let sample, let flights {
                    line.learn(elapsed: sample.elapsed, flights: flights, isDropped: sample.isDropped)
                    turns += line.callNext()
                }
                return turns
            }
            for turn in turns { turn.come() }
            return nil
        }

        /// What was learned of each origin.
        public func knowledge(at now: TimeSource.Instant) -> JSONValue? {
            lines.knowledge { .number(JSONValue.Number($0.withLock { $0.learned.limit })) }
        }

        /// Goes on with the limits that were learned, within the bounds of the algorithm.
        public func learn(_ knowledge: JSONValue, from moment: TimeSource.Instant) -> Bool {
            lines.learn(knowledge) { line, known in
                guard let limit = known.count else { return false }
                for turn in line.withLock({ $0.begin(at: limit) }) { turn.come() }
                return true
            }
        }

        /// What a call comes to that cannot wait for its turn.
        private static var full: Outcome {
            Outcome(.unavailable, scope: .origin, processed: .no, remedies: [.retry])
        }
    }
}
