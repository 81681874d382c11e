import HTTPRecovery

/// Recorded exchanges with a server, to be played in tests in the server's place.
///
/// ``CassetteTransport`` records and plays them. Secrets are not in it: what a recording takes from requests and answers is
/// what its ``Redaction`` names, and all else is there as `redacted`. It is kept as JSON whose keys are sorted, indented for
/// people and for diffs:
///
/// ```json
/// {
///   "exchanges": [
///     {
///       "headers": {"retry-after": "2"},
///       "request": {"method": "GET", "origin": "https://api.example.com", "path": "/items?page=2"},
///       "status": 429
///     }
///   ],
///   "version": 1
/// }
/// ```
///
/// Each exchange is one as ``RecordedExchange`` reads it: a `body` that is JSON stands in it as such, `error` tells how far a
/// request without a whole answer may have come.
public struct Cassette: Sendable, Hashable {
    /// The version of the form that is written: 1.
    public static let version = 1

    /// The exchanges, in the order in which their requests were sent.
    public let exchanges: [Exchange]

    /// By what the exchanges were redacted, and requests are before they are compared with them.
    public let redaction: Redaction

    init(_ exchanges: [Exchange], _ redaction: Redaction) {
        self.exchanges = exchanges
        self.redaction = redaction
    }

    /// Reads a cassette.
    ///
    /// - Parameter bytes: The text of a file, as ``text`` writes it.
    /// - Throws: ``Malformed`` for what is none, with the place.
    public init(parsing bytes: some Collection<UInt8>) throws(Malformed) {
        let json: JSONValue
        do throws(JSONValue.ParseError) {
            json = try JSONValue(parsing: bytes)
        } catch {
            let before = bytes.prefix(error.offset)
            let line = before.count { $0 == UInt8(ascii: "\n") } + 1
            let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
            throw Malformed(place: "line \(line), column \(column)", problem: error.problem)
        }
        guard let version = json["version"]?.number?.saturatedInt, version >= 1 else {
            throw Malformed(place: "version", problem: "is missing, or no version")
        }
        guard version <= Self.version else {
            throw Malformed(place: "version", problem: "is \(version); \(Self.version) is the newest that can be read")
        }
        guard let elements = json["exchanges"]?.array else {
            throw Malformed(place: "exchanges", problem: "is missing, or no array")
        }
        var exchanges: [Exchange] = []
        for (index, element) in elements.enumerated() {
            exchanges.append(try Exchange(element, at: "exchanges[\(index)]"))
        }
        self.init(exchanges, try Redaction(json))
    }

    /// The cassette as JSON text; two recordings of the same exchanges have the same.
    public var text: String {
        let exchanges = JSONValue.Member("exchanges", .array(exchanges.map(\.json)))
        let version = JSONValue.Member("version", .number(JSONValue.Number(Self.version)))
        return JSONValue.object(redaction.members + [exchanges, version]).withSortedKeys.prettyText + "\n"
    }
}

extension Cassette {
    /// Why a text is no cassette.
    public struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
        /// Where: a line and a column, or a path of keys such as `exchanges[2].status`.
        public let place: String
        /// What is wrong there.
        public let problem: String

        /// Where it is wrong, and what.
        public var description: String { "\(place): \(problem)" }
    }
}

extension JSONValue {
    /// The value with the members of each object by their keys; of a key that repeats, the last.
    var withSortedKeys: JSONValue {
        switch self {
        case .object(let members):
            let values = Dictionary(members.map { ($0.key, $0.value) }) { $1 }
            return .object(values.sorted { $0.key < $1.key }.map { Member($0.key, $0.value.withSortedKeys) })
        case .array(let elements): return .array(elements.map(\.withSortedKeys))
        default: return self
        }
    }
}
