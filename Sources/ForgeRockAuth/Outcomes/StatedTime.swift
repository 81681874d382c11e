import HTTPRecovery

/// A time that stands in a sentence, such as "Try again in 15 minutes".
enum StatedTime {
    /// The first number that is followed by a unit of time.
    static func find(in text: String) -> Duration? {
        let words = text.prefix(1024).lowercased().split { !$0.isLetter && !$0.isNumber }
        for (number, unit) in zip(words, words.dropFirst()) {
            guard number.utf8.allSatisfy(\.isDigit), let count = Double(number),
                let seconds = seconds(unit)
            else { continue }
            return .saturating(seconds: count * seconds)
        }
        return nil
    }

    private static func seconds(_ unit: Substring) -> Double? {
        switch unit {
        case "s", "sec", "secs", "second", "seconds": 1
        case "m", "min", "mins", "minute", "minutes": 60
        case "h", "hour", "hours": 3600
        case "d", "day", "days": 86_400
        default: nil
        }
    }
}
