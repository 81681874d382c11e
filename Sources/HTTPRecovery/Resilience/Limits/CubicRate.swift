#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The send rate of the AWS SDKs' adaptive mode: measured always, limited from the first throttle on, and then grown
/// again along a cubic; a value without clock or lock.
///
/// Times are in seconds.
struct CubicRate: Sendable {
    private static let beta = 0.7
    private static let scale = 0.4
    private static let smooth = 0.8
    private static let least = 0.5

    private(set) var isLimited = false
    private var fill = least
    private var capacity = 1.0
    private var tokens = 0.0
    private var filledAt: Double
    private var measured = 0.0
    private var count = 0.0
    private var bucket: Double
    private var largest = 0.0
    private var window = 0.0
    private var throttledAt: Double

    init(at now: Double) {
        filledAt = now
        throttledAt = now
        bucket = (now * 2).rounded(.down) / 2
    }

    /// How many attempts a second may leave; nil before the first throttle.
    var rate: Double? { isLimited ? fill : nil }

    /// Takes a token.
    ///
    /// - Returns: How long to wait before it is asked again, without taking anything; zero if it is taken.
    mutating func take(at now: Double) -> Double {
        guard isLimited else { return 0 }
        refill(at: now)
        // What is less than a nanosecond away is there.
        guard tokens + fill * 1e-9 >= 1 else { return (1 - tokens) / fill }
        tokens = max(0, tokens - 1)
        return 0
    }

    /// Gives back what was taken for an attempt that was not made.
    mutating func giveBack() {
        if isLimited { tokens = min(capacity, tokens + 1) }
    }

    /// Learns from an answer.
    mutating func learn(isThrottled: Bool, at now: Double) {
        measure(at: now)
        let calculated: Double
        if isThrottled {
            let rate = isLimited ? min(measured, fill) : measured
            largest = rate
            findWindow()
            throttledAt = now
            calculated = rate * Self.beta
            if !isLimited {
                isLimited = true
            }
        } else {
            findWindow()
            let time = now - throttledAt - window
            calculated = Self.scale * time * time * time + largest
        }
        refill(at: now)
        fill = max(min(calculated, 2 * measured), Self.least)
        capacity = max(fill, 1)
        tokens = min(tokens, capacity)
    }

    private mutating func measure(at now: Double) {
        let present = (now * 2).rounded(.down) / 2
        count += 1
        guard present > bucket else { return }
        measured = count / (present - bucket) * Self.smooth + measured * (1 - Self.smooth)
        count = 0
        bucket = present
    }

    private mutating func findWindow() {
        window = cbrt(largest * (1 - Self.beta) / Self.scale)
    }

    private mutating func refill(at now: Double) {
        guard now > filledAt else { return }
        tokens = min(capacity, tokens + (now - filledAt) * fill)
        filledAt = now
    }
}

extension CubicRate {
    /// The state of a rate that is limited, with times from now; nil for one that is not.
    func knowledge(at now: Double) -> JSONValue? {
        guard isLimited else { return nil }
        return [
            "fill": .finite(fill), "tokens": .finite(tokens), "filled_at": .finite(filledAt - now),
            "measured": .finite(measured), "largest": .finite(largest), "throttled_at": .finite(throttledAt - now),
        ]
    }

    /// Takes a state over; false for what is none.
    mutating func learn(_ known: JSONValue, from moment: Double) -> Bool {
        let names = ["fill", "tokens", "filled_at", "measured", "largest", "throttled_at"]
        let values = names.compactMap { known[$0]?.moderate }
        guard values.count == names.count else { return false }
        self = CubicRate(at: moment)
        isLimited = true
        fill = max(values[0], Self.least)
        capacity = max(fill, 1)
        tokens = min(max(values[1], 0), capacity)
        filledAt = moment + min(values[2], 0)
        (measured, largest, throttledAt) = (max(values[3], 0), max(values[4], 0), moment + min(values[5], 0))
        findWindow()
        return true
    }
}
