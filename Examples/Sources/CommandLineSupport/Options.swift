public import HTTPRecovery
public import HTTPTypes

/// Why a value on the command line is not accepted, as a sentence.
public struct InvalidOption: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong and what would be right.
    public let description: String

    /// Creates the error.
    public init(_ description: String) {
        self.description = description
    }
}

/// A number of seconds from the command line.
public struct Seconds: Sendable, Hashable {
    /// The time.
    public var duration: Duration

    /// Creates the value.
    public init(_ duration: Duration) {
        self.duration = duration
    }

    /// The longest time that is accepted: a billion seconds, about 31 years.
    private static let longest: Int64 = 1_000_000_000

    /// Reads a number of seconds with up to nine decimals, such as `30` or `0.25`.
    public static func parse(_ text: String) throws(InvalidOption) -> Seconds {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let whole = parts[0]
        let fraction = parts.count > 1 ? parts[1] : ""
        let isNumber = { (digits: Substring) in digits.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard parts.count <= 2, isNumber(whole), isNumber(fraction), !(whole.isEmpty && fraction.isEmpty) else {
            throw InvalidOption("write seconds as a number without sign or unit, such as 30 or 0.25")
        }
        guard let seconds = whole.isEmpty ? 0 : Int64(whole), seconds <= longest else {
            throw InvalidOption("the most is \(longest) seconds")
        }
        let digits = fraction.prefix(9)
        var nanoseconds: Int64 = 0
        for digit in digits.utf8 { nanoseconds = nanoseconds * 10 + Int64(digit - 0x30) }
        for _ in digits.utf8.count..<9 { nanoseconds *= 10 }
        return Seconds(.seconds(seconds) + .nanoseconds(nanoseconds))
    }

    /// Reads a number of seconds that is more than zero.
    public static func parsePositive(_ text: String) throws(InvalidOption) -> Seconds {
        let seconds = try parse(text)
        guard seconds.duration > .zero else { throw InvalidOption("the time must be more than 0 seconds") }
        return seconds
    }
}

/// `BASE,CAP` from the command line.
public struct BackoffRange: Sendable, Hashable {
    /// The first delay.
    public var base: Duration
    /// The longest delay.
    public var cap: Duration

    /// Creates a range.
    public init(base: Duration, cap: Duration) {
        self.base = base
        self.cap = cap
    }

    /// Reads two numbers of seconds.
    public static func parse(_ text: String) throws(InvalidOption) -> BackoffRange {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            throw InvalidOption("write the first and the longest delay in seconds, such as 0.1,20")
        }
        let base = try Seconds.parse(String(parts[0])).duration
        let cap = try Seconds.parse(String(parts[1])).duration
        guard base <= cap else { throw InvalidOption("the first delay is longer than the longest") }
        return BackoffRange(base: base, cap: cap)
    }
}

/// A circuit breaker from the command line.
public struct BreakerOption: Sendable, Hashable {
    /// The share of failures that opens it.
    public var ratio: Double
    /// How many results it takes to judge.
    public var minimumCalls: Int
    /// How long it stays open.
    public var openTime: Duration

    /// Reads a share, a number and a time in seconds.
    public static func parse(_ text: String) throws(InvalidOption) -> BreakerOption {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3, let ratio = Double(parts[0]), ratio > 0, ratio <= 1, let calls = Int(parts[1]),
            (1...1_000_000).contains(calls)
        else {
            throw InvalidOption("write a share above 0 and up to 1, a number of calls and a time in seconds: 0.5,20,10")
        }
        let time = try Seconds.parsePositive(String(parts[2])).duration
        return BreakerOption(ratio: ratio, minimumCalls: calls, openTime: time)
    }
}

/// A header field from the command line.
public enum HeaderOption {
    /// Reads `Name: value`.
    public static func parse(_ text: String) throws(InvalidOption) -> HTTPField {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            throw InvalidOption("write a header field as 'Name: value'")
        }
        guard let name = HTTPField.Name(String(text[..<colon])) else {
            throw InvalidOption("the header field's name holds a character that names do not have")
        }
        let value = text[text.utf8.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        // The value may be a secret, so it is not repeated in the message.
        guard value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7f) }) else {
            throw InvalidOption("the value of the header field \(name) holds a control character")
        }
        return HTTPField(name: name, value: String(value))
    }
}

/// What `--idempotency-key` asks for.
public enum IdempotencyKeyOption: Sendable, Hashable {
    /// No key.
    case none
    /// A new key for each call.
    case automatic
    /// This key, as it was given.
    case value(String)

    /// Reads `auto`, `none` or a key.
    public static func parse(_ text: String) throws(InvalidOption) -> IdempotencyKeyOption {
        switch text {
        case "none": return .none
        case "auto": return .automatic
        default:
            guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else {
                throw InvalidOption("a key consists of printable ASCII characters")
            }
            return .value(text)
        }
    }

    /// The value of the header field for another call; nil if none is to be sent.
    ///
    /// A key of our own is a structured-field string (RFC 9651), as the draft of the field has it: a quoted UUID.
    public func fieldValue(random: Runtime.RandomSource) -> String? {
        switch self {
        case .none: nil
        case .automatic: "\"\(Self.uuid(random.bits(), random.bits()))\""
        case .value(let value): value
        }
    }

    /// A random UUID (RFC 9562, version 4).
    static func uuid(_ high: UInt64, _ low: UInt64) -> String {
        let versioned = (high & ~0xf000) | 0x4000
        let varied = (low & ~(0b11 << 62)) | (0b10 << 62)
        let digits = hex(versioned) + hex(varied)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return text
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
