/// A date and a time of day in the proleptic Gregorian calendar, in UTC.
struct CivilTime {
    var year: Int
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    /// 0 through 60; the sixtieth second, which the formats allow for leap seconds, is the next minute's first.
    var second: Int

    /// Creates a time; nil when there is no such date or time of day.
    init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= Self.daysInMonth(month, year: year),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// Creates the time so many seconds after the Unix epoch, held within the years 0 through 9999.
    init(secondsSinceEpoch seconds: Int64) {
        let bounded = min(max(seconds, -62_167_219_200), 253_402_300_799)
        let ofDay = Int((bounded % 86_400 + 86_400) % 86_400)
        let days = (Int(bounded) - ofDay) / 86_400
        // From days to a civil date: the inverse of `daysSinceEpoch`, by eras of 400 years that begin in March.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        self.month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        self.year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        self.hour = ofDay / 3600
        self.minute = ofDay / 60 % 60
        self.second = ofDay % 60
    }

    /// The seconds since the Unix epoch.
    var secondsSinceEpoch: Int64 {
        Int64(daysSinceEpoch * 86_400 + hour * 3600 + minute * 60 + second)
    }

    /// The day of the week: 0 is Sunday.
    var weekday: Int {
        let day = (daysSinceEpoch + 4) % 7
        return day < 0 ? day + 7 : day
    }

    private var daysSinceEpoch: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func daysInMonth(_ month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
