extension Timestamp {
    /// Reads an HTTP date in any of the three forms of RFC 9110 section 5.6.7.
    ///
    /// All forms are case-sensitive and in GMT. A date that does not exist, a wrong day name, hour 24 or minute 60 is
    /// refused; second 60 is the next second.
    ///
    /// - Parameters:
    ///   - text: The date; spaces and tabs around it are ignored.
    ///   - now: The present, for the obsolete form with a two-digit year: a date that seems to be more than 50 years
    ///     ahead means the last year with the same two digits.
    public init?(httpDate text: String, now: Timestamp) {
        var reader = HTTPDateReader(text)
        guard let time = reader.read(now: now) else { return nil }
        self.init(secondsSinceEpoch: time.secondsSinceEpoch)
    }

    /// The date as HTTP headers have it, such as `Sun, 06 Nov 1994 08:49:37 GMT`; held within the years 0 to 9999.
    package var httpDate: String {
        let time = CivilTime(secondsSinceEpoch: secondsSinceEpoch)
        let date = "\(time.day.padded(to: 2)) \(HTTPDateReader.months[time.month - 1]) \(time.year.padded(to: 4))"
        let clock = [time.hour, time.minute, time.second].map { $0.padded(to: 2) }.joined(separator: ":")
        return "\(HTTPDateReader.shortDays[time.weekday]), \(date) \(clock) GMT"
    }
}

/// Reads the forms of an HTTP date by bytes, without a locale.
private struct HTTPDateReader {
    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    static let shortDays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let longDays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]

    private var cursor: ByteCursor

    init(_ text: String) {
        cursor = ByteCursor(trimming: text)
    }

    mutating func read(now: Timestamp) -> CivilTime? {
        let result: (weekday: Int, time: CivilTime)?
        if let weekday = cursor.take(oneOf: Self.longDays) {
            result = readRFC850(now: now).map { (weekday, $0) }
        } else if let weekday = cursor.take(oneOf: Self.shortDays) {
            let time = cursor.take(", ") ? readFixdate() : cursor.take(" ") ? readAsctime() : nil
            result = time.map { (weekday, $0) }
        } else {
            result = nil
        }
        guard let result, cursor.isAtEnd, result.weekday == result.time.weekday else { return nil }
        return result.time
    }

    /// Reads `06 Nov 1994 08:49:37 GMT`.
    private mutating func readFixdate() -> CivilTime? {
        guard let day = cursor.number(digits: 2), cursor.take(" "), let month = readMonth(), cursor.take(" "),
            let year = cursor.number(digits: 4), cursor.take(" "), let clock = readClock(), cursor.take(" GMT")
        else { return nil }
        return clock.time(on: year, month, day)
    }

    /// Reads `, 06-Nov-94 08:49:37 GMT`.
    private mutating func readRFC850(now: Timestamp) -> CivilTime? {
        guard cursor.take(", "), let day = cursor.number(digits: 2), cursor.take("-"), let month = readMonth(),
            cursor.take("-"), let digits = cursor.number(digits: 2), cursor.take(" "), let clock = readClock(),
            cursor.take(" GMT")
        else { return nil }
        let present = CivilTime(secondsSinceEpoch: now.secondsSinceEpoch)
        // The latest year with these digits whose date is at most 50 years ahead.
        let latest = present.year + 50
        var year = latest - (latest - digits) % 100
        if year > latest { year -= 100 }
        let date = (month, day, clock.hour, clock.minute)
        let bound = (present.month, present.day, present.hour, present.minute)
        if year == latest, date > bound || (date == bound && clock.second > present.second) { year -= 100 }
        return clock.time(on: year, month, day)
    }

    /// Reads `Nov  6 08:49:37 1994`.
    private mutating func readAsctime() -> CivilTime? {
        guard let month = readMonth(), cursor.take(" "),
            let day = cursor.take(" ") ? cursor.number(digits: 1) : cursor.number(digits: 2),
            cursor.take(" "), let clock = readClock(), cursor.take(" "), let year = cursor.number(digits: 4)
        else { return nil }
        return clock.time(on: year, month, day)
    }

    private mutating func readMonth() -> Int? {
        cursor.take(oneOf: Self.months).map { $0 + 1 }
    }

    private mutating func readClock() -> TimeOfDay? {
        guard let hour = cursor.number(digits: 2), cursor.take(":"), let minute = cursor.number(digits: 2),
            cursor.take(":"), let second = cursor.number(digits: 2)
        else { return nil }
        return TimeOfDay(hour: hour, minute: minute, second: second)
    }
}

private struct TimeOfDay {
    var hour: Int
    var minute: Int
    var second: Int

    func time(on year: Int, _ month: Int, _ day: Int) -> CivilTime? {
        CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    }
}
