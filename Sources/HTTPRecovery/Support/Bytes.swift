// What a byte of a text is, and what stands where in one. A text is looked at in its `utf8` view: a character may join
// to a byte whatever the other side has put beside it.

extension UInt8 {
    @inlinable package var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    @inlinable package var isUppercase: Bool { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") }

    @inlinable package var isLowercase: Bool { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") }

    /// A letter or digit of ASCII.
    @inlinable package var isAlphanumeric: Bool { isLowercase || isUppercase || isDigit }

    /// Space or tab: the optional whitespace of HTTP fields.
    @inlinable package var isOWS: Bool { self == 0x20 || self == 0x09 }

    /// Space, tab, or what ends a line or a page.
    @inlinable package var isWhitespace: Bool { self == 0x20 || self >= 0x09 && self <= 0x0D }

    /// A character of a token (RFC 9110 section 5.6.2).
    @inlinable package var isToken: Bool {
        switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: isAlphanumeric
        }
    }

    /// What the byte is worth as a hexadecimal digit, in either case; nil if it is none.
    package var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension Collection where Element == UInt8 {
    /// Where the part stands first; nil if it does not.
    package func range(of part: some Collection<UInt8>) -> Range<Index>? {
        guard let first = part.first else { return startIndex..<startIndex }
        var start = startIndex
        while let candidate = self[start...].firstIndex(of: first) {
            if self[candidate...].starts(with: part) {
                return candidate..<index(candidate, offsetBy: part.count)
            }
            start = index(after: candidate)
        }
        return nil
    }
}

extension StringProtocol {
    /// Whether the part stands in the text, byte by byte.
    package func holds(_ part: String) -> Bool {
        utf8.range(of: part.utf8) != nil
    }
}

extension String {
    /// The text in lower case; most names arrive so, and are kept as they are.
    package var inLowercase: String {
        // Without a closure for each byte: each request asks for this.
        for byte in utf8 where byte.isUppercase { return lowercased() }
        return self
    }
}

extension BidirectionalCollection {
    /// Without the elements at both ends that fulfil the condition.
    package func trimming(_ isDropped: (Element) -> Bool) -> SubSequence {
        let start = drop(while: isDropped)
        return start.lastIndex { !isDropped($0) }.map { start[...$0] } ?? start
    }
}
