import HTTPRecoveryTesting

/// A share of many cases, so that a run ends soon: every so manieth, and all with a `FUZZ_FACTOR` of as much.
package struct Share {
    private let parts: Int
    private var number: Int

    /// - Parameters:
    ///   - parts: Of how many cases one is taken.
    ///   - name: What they are cases of: others have others.
    package init(oneIn parts: Int, for name: String) {
        self.parts = max(1, parts / ByteMutator.rounds(1))
        number = name.utf8.count
    }

    /// Whether the next case is one of them.
    package mutating func takesNext() -> Bool {
        number += 1
        return number.isMultiple(of: parts)
    }
}
