/// The date form of HTTP headers, and RFC 3339 for people.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`; times outside the years 1 to 9999 are moved to the nearest end.
    static func text(milliseconds: Int64) -> String {
        let parts = Parts(milliseconds: milliseconds)
        let weekday = days[Int(((parts.dayNumber % 7) + 7) % 7)]
        return "\(weekday), \(two(parts.day)) \(months[Int(parts.month) - 1]) \(four(parts.year)) "
            + "\(two(parts.hour)):\(two(parts.minute)):\(two(parts.second)) GMT"
    }

    /// `1994-11-06T08:49:37Z`.
    static func rfc3339(milliseconds: Int64) -> String {
        let parts = Parts(milliseconds: milliseconds)
        return "\(four(parts.year))-\(two(parts.month))-\(two(parts.day))T"
            + "\(two(parts.hour)):\(two(parts.minute)):\(two(parts.second))Z"
    }

    private static func two(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private static func four(_ number: Int64) -> String {
        String(repeating: "0", count: max(0, 4 - String(number).count)) + String(number)
    }

    /// A moment taken apart by the proleptic Gregorian calendar.
    private struct Parts {
        let dayNumber: Int64
        let year: Int64
        let month: Int64
        let day: Int64
        let hour: Int64
        let minute: Int64
        let second: Int64

        init(milliseconds: Int64) {
            let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799
            let seconds = min(max(milliseconds.floorDivided(by: 1000), range.lowerBound), range.upperBound)
            dayNumber = seconds.floorDivided(by: 86_400)
            let rest = seconds - dayNumber * 86_400
            hour = rest / 3600
            minute = rest / 60 % 60
            second = rest % 60
            // Counted from 1 March of the year 0, in eras of 400 years.
            let shifted = dayNumber + 719_468
            let era = shifted.floorDivided(by: 146_097)
            let dayOfEra = shifted - era * 146_097
            let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
            let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            let monthFromMarch = (5 * dayOfYear + 2) / 153
            day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
            month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
            year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        }
    }
}

extension Int64 {
    fileprivate func floorDivided(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
