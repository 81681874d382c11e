extension TransportConformance {
    /// Some of a transport's checks, to be done one after the other.
    ///
    /// All checks at once are several hundred servers, and many need a program beside them: on a small machine whatever has
    /// a time limit meets it. Some lanes side by side are as fast and gentler:
    ///
    /// ```swift
    /// @Test(arguments: TransportConformance.lanes(4, for: mine))
    /// func conforms(_ lane: TransportConformance.Lane) async {
    ///     await lane.run { check, error in Issue.record(error, "\(check)") }
    /// }
    /// ```
    public struct Lane: Sendable, CustomStringConvertible {
        /// What is checked.
        public let subject: TransportUnderTest
        /// Its number, counted from 0.
        public let number: Int
        /// The checks, in the order in which they are done.
        public let checks: [Check]

        /// The transport's name and the lane's number.
        public var description: String { "\(subject), lane \(number)" }

        /// Does the checks, and tells each that fails; when the task is cancelled those that are left fail at once.
        ///
        /// - Parameter report: Called with a check and what it threw.
        public func run(_ report: (_ check: Check, _ error: any Error) -> Void) async {
            for check in checks {
                do { try await check(subject) } catch { report(check, error) }
            }
        }
    }

    /// The checks that apply to a transport, without those that it excludes, dealt out into lanes.
    ///
    /// - Parameters:
    ///   - count: How many lanes; at least 1.
    ///   - subject: The transport.
    ///   - isIncluded: Which of them. Default: all.
    /// - Returns: The lanes. Neighbours in ``checks`` wait for the same faults' ends, so each lane gets some of them.
    public static func lanes(
        _ count: Int,
        for subject: TransportUnderTest,
        where isIncluded: (Check) -> Bool = { _ in true }
    ) -> [Lane] {
        let checks = checks(for: subject).filter(isIncluded)
        let count = max(1, count)
        return (0..<count).map { number in
            let own = stride(from: number, to: checks.count, by: count).map { checks[$0] }
            return Lane(subject: subject, number: number, checks: own)
        }
    }
}
