extension Timestamp {
    /// Reads a date and time by RFC 3339, such as `2030-01-01T00:05:00.000Z`.
    ///
    /// Any number of fraction digits is accepted (what is finer than an attosecond is dropped), any offset is taken
    /// into account, and a space may stand for the `T`.
    public init?(rfc3339 text: String) {
        var cursor = ByteCursor(trimming: text)
        guard let year = cursor.number(digits: 4), cursor.take("-"), let month = cursor.number(digits: 2),
            cursor.take("-"), let day = cursor.number(digits: 2),
            cursor.take("T") || cursor.take("t") || cursor.take(" "),
            let hour = cursor.number(digits: 2), cursor.take(":"), let minute = cursor.number(digits: 2),
            cursor.take(":"), let second = cursor.number(digits: 2),
            let time = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        var fraction = Int64(0)
        if cursor.take(".") {
            let digits = cursor.read { $0.isDigit }
            guard !digits.isEmpty else { return nil }
            fraction = DecimalNumber.attoseconds(of: digits)
        }
        guard let offset = Self.readOffset(&cursor), cursor.isAtEnd else { return nil }
        let instant = Duration(secondsComponent: time.secondsSinceEpoch - offset, attosecondsComponent: fraction)
        self.init(sinceEpoch: instant)
    }

    /// Reads `Z` or `+hh:mm` as seconds.
    private static func readOffset(_ cursor: inout ByteCursor) -> Int64? {
        if cursor.take("Z") || cursor.take("z") { return 0 }
        let isNegative = cursor.take("-")
        guard isNegative || cursor.take("+"), let hours = cursor.number(digits: 2), hours < 24, cursor.take(":"),
            let minutes = cursor.number(digits: 2), minutes < 60
        else { return nil }
        let seconds = Int64(hours * 3600 + minutes * 60)
        return isNegative ? -seconds : seconds
    }

    /// The date and time by RFC 3339 in UTC, with milliseconds if it has them; held within the years 0 to 9999.
    public var rfc3339: String {
        let time = CivilTime(secondsSinceEpoch: secondsSinceEpoch)
        let date = "\(time.year.padded(to: 4))-\(time.month.padded(to: 2))-\(time.day.padded(to: 2))"
        let clock = "\(time.hour.padded(to: 2)):\(time.minute.padded(to: 2)):\(time.second.padded(to: 2))"
        let part = sinceEpoch - .seconds(secondsSinceEpoch)
        let milliseconds = Int(part.whole(.milliseconds(1)))
        return date + "T" + clock + (milliseconds > 0 ? "." + milliseconds.padded(to: 3) : "") + "Z"
    }
}
