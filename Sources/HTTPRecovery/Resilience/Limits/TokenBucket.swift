/// A bucket that fills with time, and from which places are taken before they are there; a value without clock or lock.
struct TokenBucket: Sendable {
    private var rate: Double
    private var capacity: Double
    private var tokens: Double
    private var time: Duration
    /// The times of the places that were given back while others stood behind them, in order.
    private var free: [Duration] = []

    /// - Parameters:
    ///   - rate: The tokens that a second brings.
    ///   - capacity: The most that there are, at first too.
    init(rate: Double, capacity: Double, at now: Duration) {
        (self.rate, self.capacity) = Self.bounded(rate, capacity)
        tokens = self.capacity
        time = now
    }

    /// Fills and holds otherwise from now on; what was taken stays taken.
    mutating func change(rate: Double, capacity: Double, at now: Duration) {
        refill(at: now)
        (self.rate, self.capacity) = Self.bounded(rate, capacity)
        tokens = min(tokens, self.capacity)
    }

    /// Takes a token, which may be there only later.
    ///
    /// - Parameter limit: The longest that it is worth waiting for; nothing is taken beyond it.
    /// - Returns: How long it takes until it is there.
    mutating func take(at now: Duration, within limit: Duration) -> (wait: Duration, isTaken: Bool) {
        refill(at: now)
        free.removeAll { $0 < now }
        let isThere = tokens >= 1 - 1e-9
        let own = isThere ? .zero : Duration.saturating(seconds: (1 - tokens) / rate)
        let wait = isThere ? own : free.first.map { $0 - now } ?? own
        guard wait <= limit else { return (wait, false) }
        if isThere || free.isEmpty { tokens -= 1 } else { free.removeFirst() }
        return (wait, true)
    }

    /// Gives a place back that was not used; those behind it stay where they are, and the next to come takes this one.
    ///
    /// - Parameter place: When its token is there.
    mutating func giveBack(_ place: Duration, at now: Duration) {
        refill(at: now)
        free.insert(place, at: free.firstIndex { $0 > place } ?? free.endIndex)
        // Behind which nobody stands is no place, but a token that was never taken.
        while let last = free.last, (last - now).inSeconds * rate >= -tokens - 1e-3 {
            free.removeLast()
            tokens = min(tokens + 1, capacity)
        }
    }

    /// How far ahead places are taken for promised that another process has known of.
    static var longestPromise: Duration { .seconds(900) }

    /// Says how many tokens there are; below zero are those that are promised.
    mutating func set(_ balance: Double) {
        tokens = min(max(balance, -rate * Self.longestPromise.inSeconds), capacity)
    }

    /// The tokens that are there; below zero if some are promised.
    mutating func balance(at now: Duration) -> Double {
        refill(at: now)
        return tokens
    }

    private mutating func refill(at now: Duration) {
        guard now > time else { return }
        tokens = min(capacity, tokens + (now - time).inSeconds * rate)
        time = now
    }

    private static func bounded(_ rate: Double, _ capacity: Double) -> (Double, Double) {
        (rate.isNaN ? 1 : min(max(rate, 1e-9), 1e9), capacity.isNaN ? 1 : min(max(capacity, 1), 1e9))
    }
}
