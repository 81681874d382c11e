#if Redis
import HTTPRecovery

/// Numbers as the server reads them.
enum Digits {
    /// The greatest whole number that Lua adds exactly to another such.
    static let most = 1 << 52

    /// A number, bounded.
    static func text(_ number: Int) -> [UInt8] {
        Array(String(max(0, min(number, most))).utf8)
    }

    /// A version or a fence, as it is.
    static func text(_ number: UInt64) -> [UInt8] {
        Array(String(number).utf8)
    }

    /// A span in whole milliseconds, rounded up; 1 at least, some 30,000 years at most.
    static func milliseconds(_ span: Duration) -> Int {
        Int(max(1, min(span, .seconds(1_000_000_000_000)).roundedUp(to: .milliseconds(1))))
    }

    static func text(_ span: Duration) -> [UInt8] {
        text(milliseconds(span))
    }
}
#endif
