/// Wake-ups in the order of their time.
struct TimerQueue {
    /// One wake-up.
    struct Entry: Equatable {
        /// When, on the monotonic clock.
        var deadline: Int64
        /// Which connection, by its number.
        var connection: Int
    }

    /// The latest comes first, so that the next one is taken from the end.
    private var entries: [Entry] = []

    /// When the next wake-up is due.
    var nextDeadline: Int64? { entries.last?.deadline }

    mutating func add(_ entry: Entry) {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].deadline > entry.deadline { low = middle + 1 } else { high = middle }
        }
        entries.insert(entry, at: low)
    }

    /// Forgets the wake-ups of a connection.
    mutating func remove(connection: Int) {
        entries.removeAll { $0.connection == connection }
    }

    /// Takes the next wake-up if its time has come.
    mutating func popDue(at now: Int64) -> Entry? {
        guard let last = entries.last, last.deadline <= now else { return nil }
        return entries.popLast()
    }
}
