extension FixedWidthInteger where Self: SignedInteger {
    /// The sum, or the nearest number that there is.
    package func saturatingAdding(_ other: Self) -> Self {
        let (sum, isBeyond) = addingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number that there is.
    package func saturatingSubtracting(_ other: Self) -> Self {
        let (difference, isBeyond) = subtractingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .max : .min) : difference
    }
}

extension Duration {
    /// How many of the unit the duration has, rounded towards zero, saturated.
    package func whole(_ unit: Duration) -> Int64 {
        Int64(clamping: attoseconds / unit.attoseconds)
    }

    /// How many of the unit the duration has, rounded up, saturated.
    package func roundedUp(to unit: Duration) -> Int64 {
        let (quotient, rest) = attoseconds.quotientAndRemainder(dividingBy: unit.attoseconds)
        return Int64(clamping: rest > 0 ? quotient + 1 : quotient)
    }
}
