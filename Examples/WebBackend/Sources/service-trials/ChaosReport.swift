import Foundation

/// What has come of a run, line by line, and whether it is as it should be.
struct ChaosReport {
    private(set) var lines: [String] = []
    private(set) var isGood = true

    /// Tells a number.
    mutating func tell(_ name: String, _ value: String) {
        lines.append("        " + name.padding(toLength: 44, withPad: " ", startingAt: 0) + value)
    }

    /// Tells a number that has to be as it should.
    mutating func check(_ name: String, _ value: String, _ isRight: Bool) {
        isGood = isGood && isRight
        lines.append(
            (isRight ? "ok      " : "FAILED  ") + name.padding(toLength: 44, withPad: " ", startingAt: 0) + value
        )
    }
}
