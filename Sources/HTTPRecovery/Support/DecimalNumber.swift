/// A number without a sign in plain decimal digits; as large as it may be written, reading it never overflows.
struct DecimalNumber: Hashable {
    /// The part before the point, saturated.
    var whole: Int64
    /// The part after the point in units of 10⁻¹⁸.
    var fraction: Int64

    /// Reads `1*DIGIT [ "." 1*DIGIT ]` and nothing else: no sign, exponent, unit or list.
    init?(_ text: ArraySlice<UInt8>, allowsFraction: Bool) {
        var cursor = ByteCursor(text)
        self.init(&cursor, allowsFraction: allowsFraction)
        guard cursor.isAtEnd else { return nil }
    }

    /// Reads the number that comes next.
    init?(_ cursor: inout ByteCursor, allowsFraction: Bool) {
        let digits = cursor.read { $0.isDigit }
        guard !digits.isEmpty else { return nil }
        whole = Self.saturatedInteger(of: digits)
        fraction = 0
        if allowsFraction, cursor.take(".") {
            let digits = cursor.read { $0.isDigit }
            guard !digits.isEmpty else { return nil }
            fraction = Self.attoseconds(of: digits)
        }
    }

    /// The number as seconds.
    var seconds: Duration {
        whole >= Int64.max / 1000
            ? .longest : Duration(secondsComponent: whole, attosecondsComponent: fraction)
    }

    /// The number as milliseconds.
    var milliseconds: Duration {
        let exact = Duration(
            secondsComponent: whole / 1000,
            attosecondsComponent: whole % 1000 * 1_000_000_000_000_000 + fraction / 1000
        )
        return min(exact, .longest)
    }

    private static func saturatedInteger(of digits: ArraySlice<UInt8>) -> Int64 {
        var value = Int64(0)
        for byte in digits {
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, carries) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            if overflows || carries { return .max }
            value = sum
        }
        return value
    }

    /// The digits after a point in units of 10⁻¹⁸; further digits are dropped.
    static func attoseconds(of digits: ArraySlice<UInt8>) -> Int64 {
        var value = Int64(0)
        var unit = Int64(100_000_000_000_000_000)
        for byte in digits.prefix(18) {
            value += Int64(byte - UInt8(ascii: "0")) * unit
            unit /= 10
        }
        return value
    }
}

extension BinaryInteger {
    /// The decimal digits, with zeros in front up to so many.
    package func padded(to width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
