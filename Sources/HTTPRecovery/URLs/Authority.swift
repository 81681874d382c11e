/// Where a request may go: a host, and perhaps a port (RFC 9110, section 4.2).
package enum Authority {
    /// Why a request cannot go to an authority; nil if it can.
    ///
    /// A host is a name of letters, digits, `.`, `-` and `_`, or an address. What is percent-encoded could be the end of a line
    /// to whoever decodes it and tells a proxy, and what is beyond ASCII is another name by each way to map it.
    package static func defect(of authority: String) -> String? {
        var authority = authority
        // The bytes are looked at within the closure.
        return authority.withUTF8 { unsafe defect(in: $0[...]) }
    }

    private static func defect<Bytes: Collection<UInt8>>(in bytes: Bytes) -> String? where Bytes.SubSequence == Bytes {
        var rest = bytes
        if rest.first == UInt8(ascii: "[") {
            let address = rest.dropFirst().prefix { $0 != UInt8(ascii: "]") }
            guard address.endIndex < rest.endIndex, isAddress(address) else {
                return "the authority's host begins with a bracket and is no IPv6 address"
            }
            rest = rest[address.endIndex...].dropFirst()
        } else {
            let name = rest.prefix(while: isOfName)
            if name.count > longestName { return "the authority's host is too long" }
            rest = rest[name.endIndex...]
            if name.isEmpty, rest.first ?? UInt8(ascii: ":") == UInt8(ascii: ":") {
                return "the request has no authority"
            }
        }
        guard let next = rest.first else { return nil }
        let port = rest.dropFirst()
        // An empty one is the scheme's own.
        if next == UInt8(ascii: ":"), port.isEmpty || isPort(port) { return nil }
        if rest.contains(UInt8(ascii: "@")) {
            return "the authority holds user information; it belongs into an Authorization field"
        }
        if rest.contains(where: { $0 >= 0x80 }) {
            return
                "the authority's host is beyond ASCII; write the name's other form, which begins with xn-- (RFC 5891)"
        }
        return next == UInt8(ascii: ":") ? "the authority's port is none" : "the authority holds an illegal character"
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || byte == 0x2d || byte == 0x2e || byte == 0x5f
    }

    /// What SOCKS can name; names in DNS are shorter.
    private static let longestName = 255

    /// Whether it can be an IPv6 address, with a zone perhaps (RFC 6874).
    private static func isAddress<Bytes: Collection<UInt8>>(_ text: Bytes) -> Bool where Bytes.SubSequence == Bytes {
        let digits = text.prefix { $0.hexDigitValue != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
        let rest = text[digits.endIndex...]
        if digits.count(where: { $0 == UInt8(ascii: ":") }) < 2 { return false }
        if rest.isEmpty { return true }
        let zone = rest.dropFirst(3)
        return rest.starts(with: "%25".utf8) && !zone.isEmpty
            && zone.allSatisfy { $0.isAlphanumeric || "-._~".utf8.contains($0) }
    }

    private static func isPort(_ digits: some Collection<UInt8>) -> Bool {
        guard digits.allSatisfy(\.isDigit) else { return false }
        let number = digits.reduce(0) { min($0 * 10 + Int($1 - UInt8(ascii: "0")), 65_536) }
        return 1...65_535 ~= number
    }
}
