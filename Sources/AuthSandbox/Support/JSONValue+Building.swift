import HTTPRecovery

// What the worlds build their answers with.
extension JSONValue {
    /// A whole number.
    static func int(_ number: some BinaryInteger) -> JSONValue { .number(JSONValue.Number(number)) }

    /// A string, or `null` for an absent one.
    static func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    /// An integer, or `null` for an absent one.
    static func optional(_ number: Int64?) -> JSONValue { number.map { .int($0) } ?? .null }

    /// An object of those members that are there.
    static func present(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(members.compactMap { key, value in value.map { Member(key, $0) } })
    }

    /// A list of strings.
    static func texts(_ texts: some Sequence<String>) -> JSONValue { .array(texts.map(JSONValue.string)) }

    /// Milliseconds as a number of seconds.
    static func seconds(_ milliseconds: Int64) -> JSONValue {
        .number(JSONValue.Number(seconds: .milliseconds(milliseconds)))
    }

    /// The number, if it is a whole one that fits.
    var int: Int64? { number.flatMap { Int64($0.text) } }

    /// The value as one line of JSON.
    var text: String { description }

    /// The same object with one more key at its end; anything else is returned as it is.
    func adding(_ key: String, _ value: JSONValue) -> JSONValue {
        members.map { .object($0 + [Member(key, value)]) } ?? self
    }
}

extension JSONValue {
    /// Parses what somebody has written by hand.
    ///
    /// - Parameters:
    ///   - bytes: The document.
    ///   - what: What it should be, for the error: `not JSON`.
    /// - Throws: ``SandboxError`` with the line and the column at which it is none.
    init(document bytes: [UInt8], what: String = "not JSON") throws(SandboxError) {
        do {
            try self.init(parsing: bytes)
        } catch {
            let before = bytes.prefix(error.offset)
            let line = before.count { $0 == 0x0A } + 1
            let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
            throw SandboxError(.invalidInput, "\(what): line \(line), column \(column): \(error.problem)")
        }
    }
}

extension Timestamp {
    /// Milliseconds since 1970.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = sinceEpoch.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    /// A moment of the sandbox's clock, without what is finer than a second.
    init(milliseconds: Int64) {
        self.init(secondsSinceEpoch: milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0))
    }
}
