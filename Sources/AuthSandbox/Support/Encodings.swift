import HTTPRecovery

/// Base32 (RFC 4648), as authenticator apps take their secret; spaces, hyphens and padding are ignored.
enum Base32 {
    static func decode(_ text: String) -> [UInt8]? {
        var out: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in text.utf8 {
            let index: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): index = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): index = byte - UInt8(ascii: "a")
            case UInt8(ascii: "2")...UInt8(ascii: "7"): index = byte - UInt8(ascii: "2") + 26
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "="): continue
            default: return nil
            }
            bits = (bits << 5 | UInt32(index)) & 0xFFFF
            count += 5
            if count >= 8 {
                count -= 8
                out.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return out.isEmpty ? nil : out
    }
}

/// Time-based one-time codes: RFC 6238 with SHA-1, six digits and steps of 30 seconds.
enum TOTP {
    static let stepSeconds: Int64 = 30

    /// The number of the step that a moment falls into.
    static func step(atMilliseconds now: Int64) -> Int64 {
        now / 1000 / stepSeconds
    }

    static func code(secret: [UInt8], step: Int64) -> String {
        let counter = stride(from: Int64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: step >> $0) }
        let digest = HMAC.sha1(counter, key: secret)
        let offset = Int(digest[19] & 0x0F)
        var number = UInt32(digest[offset] & 0x7F) << 24
        number |= UInt32(digest[offset + 1]) << 16 | UInt32(digest[offset + 2]) << 8 | UInt32(digest[offset + 3])
        return (number % 1_000_000).padded(to: 6)
    }
}

/// `application/x-www-form-urlencoded` and percent encoding; what is not well formed is taken as it stands.
enum FormEncoding {
    /// One name with its value.
    struct Field: Sendable, Equatable {
        var name: String
        var value: String
    }

    static func fields(_ text: some Collection<UInt8>) -> [Field] {
        text.split(separator: UInt8(ascii: "&")).map { pair in
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return Field(
                name: decode(Array(halves[0]), plusIsSpace: true),
                value: halves.count > 1 ? decode(Array(halves[1]), plusIsSpace: true) : ""
            )
        }
    }

    static func decode(_ bytes: [UInt8], plusIsSpace: Bool) -> String {
        var out: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%"), index + 2 < bytes.count, let high = hexDigit(bytes[index + 1]),
                let low = hexDigit(bytes[index + 2])
            {
                out.append(high << 4 | low)
                index += 3
                continue
            }
            out.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
            index += 1
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// A text percent-encoded, except for the unreserved characters of RFC 3986.
    static func encode(_ text: String) -> String {
        PercentEncoding.encode(text.utf8) { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                true
            default: false
            }
        }
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
