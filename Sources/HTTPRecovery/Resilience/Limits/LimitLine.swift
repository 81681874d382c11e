/// Who is under way within a concurrency limit, and who stands in line; a value without clock or lock.
struct LimitLine: Sendable {
    /// What an attempt is told.
    enum Answer {
        /// It may go; so many are under way with it.
        case go(flights: Int)
        /// It stands in line, under the number.
        case line(UInt64)
        /// The line is full.
        case refuse
    }

    private struct Place: Sendable {
        var number: UInt64
        var priority: Int
        var turn: PlannedAttempt.Turn
    }

    private(set) var learned: LearnedLimit
    private var line: [Place] = []
    /// The places whose turn has come, and how many were under way then.
    private var called: [UInt64: Int] = [:]
    private(set) var flights = 0
    private var last: UInt64 = 0

    init(_ algorithm: Recovery.ConcurrencyLimit.Algorithm) {
        learned = LearnedLimit(algorithm)
    }

    /// How many stand in line.
    var waiting: Int { line.count }

    /// Learns by another rule from now on; who is under way, or waits, does so still.
    mutating func change(_ algorithm: Recovery.ConcurrencyLimit.Algorithm) -> [PlannedAttempt.Turn] {
        learned.change(to: algorithm)
        return callNext()
    }

    /// Begins with a limit that another has learned.
    mutating func begin(at limit: Int) -> [PlannedAttempt.Turn] {
        learned.begin(at: limit)
        return callNext()
    }

    mutating func enter(priority: Int, queue: Int, turn: PlannedAttempt.Turn) -> Answer {
        if flights < learned.limit, line.isEmpty {
            flights += 1
            return .go(flights: flights)
        }
        guard line.count < queue else { return .refuse }
        last += 1
        // Behind all that are at least as urgent.
        let index = line.lastIndex { $0.priority >= priority }.map { $0 + 1 } ?? 0
        line.insert(Place(number: last, priority: priority, turn: turn), at: index)
        return .line(last)
    }

    /// Takes note that an attempt has ended that went out at once.
    ///
    /// - Returns: Whose turn has come by it.
    mutating func leave() -> [PlannedAttempt.Turn] {
        flights = max(0, flights - 1)
        return callNext()
    }

    /// Takes note that an attempt has ended, or left the line, that stood in it.
    ///
    /// - Returns: How many were under way when its turn came, nil if it never did; and whose turn has come by it.
    mutating func leave(_ number: UInt64) -> (flights: Int?, turns: [PlannedAttempt.Turn]) {
        guard let count = called.removeValue(forKey: number) else {
            line.removeAll { $0.number == number }
            return (nil, [])
        }
        return (count, leave())
    }

    mutating func learn(elapsed: Duration, flights: Int, isDropped: Bool) {
        learned.learn(elapsed: elapsed, flights: flights, isDropped: isDropped)
    }

    /// Calls whoever may go by now.
    mutating func callNext() -> [PlannedAttempt.Turn] {
        var turns: [PlannedAttempt.Turn] = []
        while flights < learned.limit, !line.isEmpty {
            let next = line.removeFirst()
            flights += 1
            called[next.number] = flights
            turns.append(next.turn)
        }
        return turns
    }
}
