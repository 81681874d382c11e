import Glibc
public import HTTPRecovery

/// Times as people read them.
public enum HumanTime {
    /// A duration, such as `0.4 s`, `12 s`, `2 min 5 s`, `1 h 3 min` or `3 days`; a part of the last unit counts as one.
    public static func text(_ duration: Duration) -> String {
        let exact = max(duration, .zero)
        if exact < .milliseconds(9950) {
            let tenths = Int((exact.inSeconds * 10).rounded(.up))
            return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
        }
        let seconds = wholeSeconds(exact)
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3600 { return join(seconds / 60, "min", seconds % 60, "s") }
        let minutes = (seconds + 59) / 60
        if minutes < 48 * 60 { return join(minutes / 60, "h", minutes % 60, "min") }
        return "\((seconds + 86_399) / 86_400) days"
    }

    /// The whole seconds that are left, such as for a countdown.
    public static func wholeSeconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = max(duration, .zero).components
        return seconds + (attoseconds > 0 ? 1 : 0)
    }

    /// The local time of day, with the date if it is not today.
    public static func clock(_ timestamp: Timestamp, now: Timestamp) -> String {
        guard let time = LocalTime(timestamp), let today = LocalTime(now) else { return timestamp.rfc3339 }
        return time.date == today.date ? time.clock : "\(time.date) \(time.clock)"
    }

    private static func join(_ large: Int64, _ largeUnit: String, _ small: Int64, _ smallUnit: String) -> String {
        small == 0 ? "\(large) \(largeUnit)" : "\(large) \(largeUnit) \(small) \(smallUnit)"
    }
}

/// Date and time of day where the person is.
private struct LocalTime {
    let date: String
    let clock: String

    init?(_ timestamp: Timestamp) {
        // Beyond the year 9999 the date is of no use to anybody.
        guard (0..<253_402_300_800).contains(timestamp.secondsSinceEpoch) else { return nil }
        var seconds = time_t(timestamp.secondsSinceEpoch)
        var time = unsafe tm()
        // Both pointers are to local values; the structure's pointer to the zone's name is not used.
        guard unsafe localtime_r(&seconds, &time) != nil else { return nil }
        let (year, month, day) = unsafe (time.tm_year + 1900, time.tm_mon + 1, time.tm_mday)
        let (hour, minute, second) = unsafe (time.tm_hour, time.tm_min, time.tm_sec)
        self.date = "\(year)-\(Self.padded(month))-\(Self.padded(day))"
        self.clock = "\(Self.padded(hour)):\(Self.padded(minute)):\(Self.padded(second))"
    }

    private static func padded(_ number: Int32) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
