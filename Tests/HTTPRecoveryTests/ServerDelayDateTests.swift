import HTTPRecovery
import Testing

@Suite("HTTP dates and RFC 3339")
struct ServerDelayDateTests {
    @Test(arguments: [
        // The three forms of RFC 9110 section 5.6.7 for one moment.
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Sun Nov 06 08:49:37 1994", 784_111_777),
        (" \tSun, 06 Nov 1994 08:49:37 GMT\t ", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Saturday, 31-Dec-16 23:59:60 GMT", 1_483_228_800),
        // Second 60 is the next second, whichever minute it stands in.
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ("Sun, 06 Nov 1994 08:49:60 GMT", 784_111_800),
    ])
    func httpDatesThatExist(text: String, seconds: Int64) {
        #expect(Timestamp(httpDate: text, now: present)?.secondsSinceEpoch == seconds)
    }

    @Test(arguments: [
        "", " ", "0", "Sun", "Sun,", "Sunday", "nan", "Sun, 06 Nov 1994 08:49:37",
        "Mon, 06 Nov 1994 08:49:37 GMT", "Monday, 06-Nov-94 08:49:37 GMT", "Mon Nov  6 08:49:37 1994",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 006 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT", "SUN, 06 NOV 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 gmt", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37 GMT+1", "Sun, 06 Nov 1994 08:49:37 GMT x",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Thu, 29 Feb 2023 12:00:00 GMT", "Wed, 29 Feb 1900 12:00:00 GMT", "Thu, 31 Apr 2025 12:00:00 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun,  6 Nov 1994 08:49:37 GMT",
        "Sun,06 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT",
        "Sun Nov  6 08:49:37 94", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06 Nov 94 08:49:37 GMT",
        "1994-11-06T08:49:37Z", "\u{FF13}\u{FF10}", "Sun, 0\u{0666} Nov 1994 08:49:37 GMT",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(Timestamp(httpDate: text, now: present) == nil)
    }

    @Test(arguments: [
        // From 2026-01-01: up to fifty years ahead is the future, beyond that the past.
        ("Wednesday, 01-Jan-76 00:00:00 GMT", 3_345_062_400),
        ("Thursday, 01-Jan-76 00:00:01 GMT", 189_302_401),
        ("Friday, 01-Jan-27 00:00:00 GMT", 1_798_761_600),
        ("Friday, 31-Dec-99 23:59:59 GMT", 946_684_799),
        ("Saturday, 01-Jan-00 00:00:00 GMT", 946_684_800),
        ("Wednesday, 31-Dec-75 23:59:59 GMT", nil),
        ("Tuesday, 31-Dec-75 23:59:59 GMT", 3_345_062_399),
    ])
    func twoDigitYearsAreAtMostFiftyYearsAhead(text: String, seconds: Int64?) {
        #expect(Timestamp(httpDate: text, now: present)?.secondsSinceEpoch == seconds)
    }

    @Test func twoDigitYearsFollowThePresentIntoTheNextCentury() {
        let late = Timestamp(secondsSinceEpoch: 4_070_908_800)  // 2099-01-01
        #expect(Timestamp(httpDate: "Friday, 01-Jan-05 00:00:00 GMT", now: late)?.rfc3339 == nil)
        #expect(Timestamp(httpDate: "Thursday, 01-Jan-05 00:00:00 GMT", now: late)?.rfc3339 == "2105-01-01T00:00:00Z")
    }

    @Test(arguments: [Timestamp(sinceEpoch: .longest), Timestamp(sinceEpoch: .zero - .longest)])
    func anExtremePresentIsNoProblem(now: Timestamp) {
        _ = Timestamp(httpDate: "Sunday, 06-Nov-94 08:49:37 GMT", now: now)
        #expect(Timestamp(httpDate: "Sun, 06 Nov 1994 08:49:37 GMT", now: now)?.secondsSinceEpoch == 784_111_777)
    }

    @Test(arguments: [
        ("2030-01-01T00:05:00Z", 1_893_456_300.0),
        ("2030-01-01T00:05:00.000Z", 1_893_456_300.0),
        ("2030-01-01t00:05:00.250z", 1_893_456_300.25),
        ("2030-01-01 00:05:00Z", 1_893_456_300.0),
        ("2030-01-01T02:05:00+02:00", 1_893_456_300.0),
        ("2029-12-31T19:05:00.5-05:00", 1_893_456_300.5),
        ("1969-12-31T23:59:59.5Z", -0.5),
        ("0000-01-01T00:00:00Z", -62_167_219_200.0),
    ])
    func rfc3339(text: String, seconds: Double) {
        #expect(Timestamp(rfc3339: text)?.sinceEpoch.inSeconds == seconds)
    }

    @Test(arguments: [
        "", "2030-01-01", "2030-01-01T00:05Z", "2030-01-01T00:05:00", "2030-01-01T00:05:00.Z", "2030-13-01T00:05:00Z",
        "2030-02-30T00:05:00Z", "2030-01-01T24:00:00Z", "2030-01-01T00:05:00+0200", "2030-01-01T00:05:00+24:00",
        "+2030-01-01T00:05:00Z", "12030-01-01T00:05:00Z", "2030-01-01T00:05:00Z!",
    ])
    func rfc3339RefusesTheRest(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func rfc3339WritesWhatItReads() {
        for text in ["2030-01-01T00:05:00Z", "1969-12-31T23:59:59.500Z", "2000-02-29T12:00:00.001Z"] {
            #expect(Timestamp(rfc3339: text)?.rfc3339 == text)
        }
        #expect(Timestamp(sinceEpoch: .longest).rfc3339 == "9999-12-31T23:59:59Z")
        #expect(Timestamp(sinceEpoch: .zero - .longest).rfc3339 == "0000-01-01T00:00:00Z")
    }

    @Test func everyDayOfFourCenturiesComesBack() {
        var random = SystemRandomNumberGenerator()
        for day in stride(from: Int64(-200_000), to: 200_000, by: 7) {
            let moment = Timestamp(secondsSinceEpoch: day * 86_400 + Int64.random(in: 0..<86_400, using: &random))
            #expect(Timestamp(rfc3339: moment.rfc3339) == moment)
        }
    }
}
