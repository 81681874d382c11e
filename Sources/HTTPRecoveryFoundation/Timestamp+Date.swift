public import HTTPRecovery

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Date {
    /// The date of a timestamp, as exactly as a `Date` can tell it: a microsecond in our time.
    public init(_ timestamp: Timestamp) {
        self.init(timeIntervalSince1970: timestamp.sinceEpoch.inSeconds)
    }
}

extension Timestamp {
    /// The timestamp of a date, saturated at `Duration.longest` before and after 1970.
    public init(_ date: Date) {
        self.init(sinceEpoch: .saturating(seconds: date.timeIntervalSince1970))
    }
}
