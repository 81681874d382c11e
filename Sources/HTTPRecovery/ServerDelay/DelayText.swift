/// Reads the texts in which servers state a time to wait.
enum DelayText {
    /// Seconds: digits only, or with a fraction if the field allows one.
    static func seconds(_ text: String, allowsFraction: Bool) -> Duration? {
        DecimalNumber(Array(text.utf8)[...].trimmingOWS, allowsFraction: allowsFraction)?.seconds
    }

    /// Milliseconds.
    static func milliseconds(_ text: String, allowsFraction: Bool) -> Duration? {
        DecimalNumber(Array(text.utf8)[...].trimmingOWS, allowsFraction: allowsFraction)?.milliseconds
    }

    /// The value of `Retry-After`: seconds or a date (RFC 9110 section 10.2.3).
    static func retryAfter(_ text: String, clock: ServerClock) -> Duration? {
        if let delta = seconds(text, allowsFraction: false) { return delta }
        return Timestamp(httpDate: text, now: clock.now).map { clock.time(until: $0) }
    }

    /// The value of one of the many fields that say when a limit is reset, whose unit is nowhere agreed.
    ///
    /// From 10¹² on it is an epoch in milliseconds, from 1.7 · 10⁹ on one in seconds. A smaller number is a delta,
    /// unless it falls within a year of the server's present, as an epoch of a server whose clock is years behind does.
    static func reset(_ text: String, clock: ServerClock) -> Duration? {
        guard let number = DecimalNumber(Array(text.utf8)[...].trimmingOWS, allowsFraction: true) else { return nil }
        if number.whole >= 1_000_000_000_000 {
            return clock.time(until: Timestamp(sinceEpoch: number.milliseconds))
        }
        let epoch = Timestamp(sinceEpoch: number.seconds)
        let distance = epoch.elapsed(since: clock.now)
        let year = Duration.seconds(366 * 86_400)
        let isNear = distance < year && distance > .zero - year
        return number.whole >= 1_700_000_000 || isNear ? clock.time(until: epoch) : number.seconds
    }

    /// A duration as the Go language writes it (`1s`, `6m0s`, `20ms`).
    static func goDuration(_ text: String) -> Duration? {
        var cursor = ByteCursor(trimming: text)
        var total = Duration.zero
        repeat {
            guard let number = DecimalNumber(&cursor, allowsFraction: true),
                let unit = goUnits.first(where: { cursor.take($0.name) })
            else { return nil }
            total = total.saturatingAdding(number.seconds.scaledExactly(unit.numerator, unit.divisor))
        } while !cursor.isAtEnd
        return total
    }

    /// The units; `ms` and the like stand before `m`, whose name they begin with.
    private static let goUnits: [(name: String, numerator: Int, divisor: Int)] = [
        ("ms", 1, 1000), ("us", 1, 1_000_000), ("µs", 1, 1_000_000), ("μs", 1, 1_000_000), ("ns", 1, 1_000_000_000),
        ("h", 3600, 1), ("m", 60, 1), ("s", 1, 1),
    ]
}

extension Duration {
    /// The duration times a small fraction, saturated, without going through floating point.
    fileprivate func scaledExactly(_ numerator: Int, _ divisor: Int) -> Duration {
        if divisor > 1 { return self / divisor }
        return self >= .longest / numerator ? .longest : self * numerator
    }
}
