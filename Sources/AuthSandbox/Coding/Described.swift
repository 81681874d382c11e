import HTTPRecovery

/// What a scenario file or a control request says.
///
/// The keys are those of the type's `CodingKeys`, camel case written as snake case. An `Int64` under a key that ends with
/// `_s` is a number of seconds in JSON and milliseconds here; a list of strings may be one string. A key that is not
/// known, or stands there twice, is refused with its place.
protocol SandboxInput: Decodable, SendableMetatype {
    /// The words that a key may have; for a list of strings, each of them.
    static var words: [String: [String]] { get }
    /// From where to where a number may go; for seconds that of the seconds.
    static var ranges: [String: ClosedRange<Int64>] { get }

    /// Finds what contradicts itself.
    ///
    /// - Parameter path: The place in the document, for the error.
    func check(path: String) throws(SandboxError)
}

extension SandboxInput {
    static var words: [String: [String]] { [:] }
    static var ranges: [String: ClosedRange<Int64>] { [:] }

    func check(path: String) throws(SandboxError) {}
}

/// What can be said in part: an absent key means what holds already, or else what the blank one has.
protocol Described: SandboxInput, Encodable, Sendable, Equatable {
    /// One of whom nothing was said.
    static var blank: Self { get }
}

extension Described {
    static var blankJSON: JSONValue { JSONValue(of: blank) }

    /// Takes over the keys that the object has and leaves the others.
    ///
    /// - Parameters:
    ///   - value: The object.
    ///   - path: What to call it in an error.
    mutating func update(from value: JSONValue, path: String) throws(SandboxError) {
        self = try value.read(over: JSONValue(of: self), path: path)
    }
}

/// Of whose optional values `false` means none, and `true` the usual one.
protocol Switchable: Codable {}

/// For whom `null` is something else than being absent.
protocol NullIsSaid: Codable {}

/// What is coded within the object that holds it.
protocol Flattened: Codable {}

/// A key whose name is known only as the program runs.
struct NamedKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) {
        stringValue = name
    }

    init?(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        return nil
    }
}

extension CodingKey {
    /// The key in JSON: snake case.
    var jsonName: String {
        guard !stringValue.utf8.contains(UInt8(ascii: "_")) else { return stringValue }
        return stringValue.reduce(into: "") { name, letter in
            name += letter.isUppercase ? "_" + letter.lowercased() : String(letter)
        }
    }
}

/// Any value, as it stands.
struct AnyJSON: Codable, Sendable, Equatable {
    var value: JSONValue
    /// A string as it is, anything else as JSON.
    var text: String { value.string ?? value.text }
}

extension AnyJSON {
    init(from decoder: any Decoder) throws {
        value = (decoder as? JSONDecoding)?.place.value ?? .null
    }

    func encode(to encoder: any Encoder) throws {
        (encoder as? JSONEncoding)?.set(value)
    }
}

/// A number of seconds under a key that does not say so.
struct Seconds: Decodable, Sendable, Equatable {
    var milliseconds: Int64

    init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        milliseconds = min(max(seconds, 0), 3_155_760_000) * 1000 + max(0, attoseconds / 1_000_000_000_000_000)
    }

    init(from decoder: any Decoder) throws {
        guard var place = (decoder as? JSONDecoding)?.place else { throw SandboxError(.invalidInput, "no seconds") }
        place.key += "_s"
        milliseconds = try place.read(Int64.self)
    }
}
