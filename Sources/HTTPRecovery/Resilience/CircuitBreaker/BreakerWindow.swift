/// The results by which a closed breaker judges; a value without clock or lock.
struct BreakerWindow: Sendable {
    /// One result, or all of a bucket.
    private struct Entry {
        var time: Duration
        var calls = 0
        var failures = 0
        var slow = 0
    }

    private let configuration: Recovery.CircuitBreaker.Configuration
    private var entries: [Entry] = []
    /// Where the oldest entry of a full window of so many calls stands.
    private var head = 0
    private var sum = Entry(time: .zero)
    private var consecutive = 0

    /// The most results that an exact window of time keeps; of more, the latest.
    private static let limit = 100_000

    init(_ configuration: Recovery.CircuitBreaker.Configuration) {
        self.configuration = configuration
    }

    /// Takes note of a result.
    ///
    /// - Returns: Whether the breaker has to open.
    mutating func add(isFailure: Bool, isSlow: Bool, at now: Duration) -> Bool {
        consecutive = isFailure ? consecutive + 1 : 0
        let entry = Entry(time: now, calls: 1, failures: isFailure ? 1 : 0, slow: isSlow ? 1 : 0)
        switch configuration.window {
        case .consecutive: return consecutive >= max(1, configuration.failures ?? 1)
        case .count(let size): append(entry, within: max(1, size))
        case .time(let length, let buckets): append(entry, within: length, buckets: buckets, at: now)
        }
        return isTripped
    }

    /// The share of failures among the results, and how many these are.
    var rate: (failures: Double, calls: Int) {
        (sum.calls == 0 ? 0 : Double(sum.failures) / Double(sum.calls), sum.calls)
    }

    private var isTripped: Bool {
        var least = max(1, configuration.minimumCalls)
        if case .count(let size) = configuration.window { least = min(least, max(1, size)) }
        guard sum.calls >= least else { return false }
        if let failures = configuration.failures, sum.failures >= max(1, failures) { return true }
        return configuration.isTripped(calls: sum.calls, failures: sum.failures, slow: sum.slow)
    }

    private mutating func append(_ entry: Entry, within size: Int) {
        if entries.count < size {
            entries.append(entry)
        } else {
            drop(entries[head])
            entries[head] = entry
            head = (head + 1) % size
        }
        count(entry)
    }

    private mutating func append(_ entry: Entry, within length: Duration, buckets: Int?, at now: Duration) {
        var entry = entry
        var oldest = now - length
        if let buckets {
            // A bucket stands at its beginning, and is forgotten as a whole.
            let width = max(length.inSeconds / Double(max(1, buckets)), 1e-9)
            let bucket = (now.inSeconds / width + 1e-9).rounded(.down)
            entry.time = .saturating(seconds: bucket * width)
            oldest = .saturating(seconds: (bucket - Double(max(1, buckets)) + 0.5) * width)
        }
        var expired = 0
        while expired < entries.count, entries[expired].time <= oldest || entries.count - expired >= Self.limit {
            drop(entries[expired])
            expired += 1
        }
        entries.removeFirst(expired)
        count(entry)
        guard buckets != nil, let last = entries.last, last.time == entry.time else { return entries.append(entry) }
        entries[entries.count - 1].calls += entry.calls
        entries[entries.count - 1].failures += entry.failures
        entries[entries.count - 1].slow += entry.slow
    }

    private mutating func count(_ entry: Entry) {
        sum.calls += entry.calls
        sum.failures += entry.failures
        sum.slow += entry.slow
    }

    private mutating func drop(_ entry: Entry) {
        sum.calls -= entry.calls
        sum.failures -= entry.failures
        sum.slow -= entry.slow
    }
}
