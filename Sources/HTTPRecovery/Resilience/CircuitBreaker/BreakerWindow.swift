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
    /// How long a bucket is, in nanoseconds; 0 without buckets.
    private let width: Int64
    private var entries: [Entry] = []
    /// From when on, and until when, results go into the latest bucket and none of the others is over.
    private var (present, end) = (Duration.zero, Duration.zero)
    /// Where the oldest entry of a full window of so many calls stands.
    private var head = 0
    private var sum = Entry(time: .zero)
    private var consecutive = 0

    /// The most results that an exact window of time keeps; of more, the latest.
    private static let limit = 100_000

    init(_ configuration: Recovery.CircuitBreaker.Configuration) {
        self.configuration = configuration
        var width: Int64 = 0
        if case .time(let length, let buckets?) = configuration.window {
            width = max(1, length.whole(.nanoseconds(1)) / Int64(max(1, buckets)))
        }
        self.width = width
    }

    /// Judges by another configuration from now on, by the results that are known, as far as its window reaches.
    mutating func change(to configuration: Recovery.CircuitBreaker.Configuration) {
        let (known, inRow) = (entries[head...] + entries[..<head], consecutive)
        self = BreakerWindow(configuration)
        consecutive = inRow
        for entry in known {
            switch configuration.window {
            case .consecutive: return
            case .count(let size): append(entry, within: max(1, size))
            case .time(let length, let buckets): append(entry, within: length, buckets: buckets, at: entry.time)
            }
        }
    }

    /// Takes note of a result.
    ///
    /// - Returns: Whether the breaker has to open.
    mutating func add(isFailure: Bool, isSlow: Bool, at now: Duration) -> Bool {
        consecutive = isFailure ? consecutive + 1 : 0
        if now < end, now >= present {
            let last = entries.count - 1
            entries[last].calls += 1
            sum.calls += 1
            if isFailure || isSlow {
                addToLast(Entry(time: now, calls: 0, failures: isFailure ? 1 : 0, slow: isSlow ? 1 : 0))
            }
            return holdsTrouble && isTripped
        }
        return append(isFailure: isFailure, isSlow: isSlow, at: now)
    }

    /// Takes note of a result that has no place yet; apart from the rest, as most have one.
    @inline(never)
    private mutating func append(isFailure: Bool, isSlow: Bool, at now: Duration) -> Bool {
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

    /// Whether any result could open it; asked in the place where it stands, as the rest is asked of a copy.
    private var holdsTrouble: Bool {
        @inline(__always) get { sum.failures | sum.slow != 0 }
    }

    private var isTripped: Bool {
        guard holdsTrouble else { return false }
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
            let bucket = max(0, now.whole(.nanoseconds(1))) / width
            entry.time = .nanoseconds(bucket * width)
            oldest = .nanoseconds((bucket - Int64(max(1, buckets))) * width)
        }
        var expired = 0
        while expired < entries.count, entries[expired].time <= oldest || entries.count - expired >= Self.limit {
            drop(entries[expired])
            expired += 1
        }
        if expired > 0 { entries.removeFirst(expired) }
        if buckets != nil, let last = entries.last, last.time == entry.time {
            addToLast(entry)
        } else {
            count(entry)
            entries.append(entry)
        }
        if buckets != nil, let first = entries.first {
            (present, end) = (entry.time, min(entry.time + .nanoseconds(width), first.time + length))
        }
    }

    private mutating func addToLast(_ entry: Entry) {
        count(entry)
        let last = entries.count - 1
        entries[last].calls += entry.calls
        entries[last].failures += entry.failures
        entries[last].slow += entry.slow
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

    /// The most results that are handed on.
    private static let handedOn = 1000

    /// The results, the latest last, with times from now; nil if there are none.
    func knowledge(at now: Duration) -> JSONValue? {
        if case .consecutive = configuration.window {
            return consecutive == 0 ? nil : .number(JSONValue.Number(consecutive))
        }
        let ordered = entries[head...] + entries[..<head]
        if ordered.isEmpty { return nil }
        return .array(
            ordered.suffix(Self.handedOn).map { entry in
                [
                    .span(entry.time - now), .number(JSONValue.Number(entry.calls)),
                    .number(JSONValue.Number(entry.failures)), .number(JSONValue.Number(entry.slow)),
                ]
            }
        )
    }

    /// Takes results over; false if not all of them can be read.
    mutating func learn(_ known: JSONValue, from moment: Duration) -> Bool {
        self = BreakerWindow(configuration)
        if case .consecutive = configuration.window {
            consecutive = known.count ?? 0
            return known.count != nil
        }
        guard let results = known.array, results.count <= Self.handedOn else { return false }
        var read: [Entry] = []
        for result in results {
            guard let age = result[0]?.span, let calls = result[1]?.count, let failures = result[2]?.count,
                let slow = result[3]?.count, max(failures, slow) <= calls, calls <= 1_000_000
            else { return false }
            let time = moment.saturatingAdding(min(age, .zero))
            read.append(Entry(time: time, calls: calls, failures: failures, slow: slow))
        }
        read.sort { $0.time < $1.time }
        if case .count(let size) = configuration.window { read = read.suffix(max(1, size)) }
        for entry in read {
            count(entry)
            entries.append(entry)
        }
        return true
    }
}
