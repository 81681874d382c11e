/// Reads a JSON object key by key and remembers which keys it was asked for, so that a misspelt one is told of.
struct ObjectReader {
    let path: String
    private let members: [JSONValue.Member]
    private var known: [String] = []

    init(_ value: JSONValue, path: String) throws(SandboxError) {
        guard case .object(let members) = value else {
            throw SandboxError(.invalidInput, "\(path) must be an object")
        }
        self.path = path
        self.members = members
        var seen: Set<String> = []
        for member in members where !seen.insert(member.key).inserted {
            throw SandboxError(.invalidInput, "\(path) has the key \"\(member.key)\" twice")
        }
    }

    /// The value as it stands; nil when the key is absent.
    mutating func value(_ key: String) -> JSONValue? {
        known.append(key)
        return members.first { $0.key == key }?.value
    }

    mutating func string(_ key: String) throws(SandboxError) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.string else { throw wrong(key, "a string") }
        return text
    }

    mutating func bool(_ key: String) throws(SandboxError) -> Bool? {
        guard let value = value(key) else { return nil }
        guard let flag = value.bool else { throw wrong(key, "true or false") }
        return flag
    }

    mutating func int(_ key: String, _ range: ClosedRange<Int64>) throws(SandboxError) -> Int64? {
        guard let value = value(key) else { return nil }
        guard let number = value.int, range.contains(number) else {
            throw wrong(key, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// A duration in seconds, fractions allowed, as milliseconds.
    mutating func seconds(_ key: String) throws(SandboxError) -> Int64? {
        guard let value = value(key) else { return nil }
        return try Self.milliseconds(value, what: "\(path).\(key)")
    }

    mutating func strings(_ key: String) throws(SandboxError) -> [String]? {
        guard let value = value(key) else { return nil }
        if let text = value.string { return [text] }
        guard let elements = value.array else { throw wrong(key, "a list of strings") }
        var texts: [String] = []
        for element in elements {
            guard let text = element.string else { throw wrong(key, "a list of strings") }
            texts.append(text)
        }
        return texts
    }

    /// One word out of a list.
    mutating func word(_ key: String, of words: [String]) throws(SandboxError) -> String? {
        guard let text = try string(key) else { return nil }
        guard words.contains(text) else { throw wrong(key, "one of " + words.joined(separator: ", ")) }
        return text
    }

    /// Complains about keys that nobody asked for.
    func finish() throws(SandboxError) {
        guard let stranger = members.first(where: { !known.contains($0.key) }) else { return }
        throw SandboxError(
            .invalidInput,
            "unknown key \"\(stranger.key)\" in \(path); known keys: \(known.joined(separator: ", "))"
        )
    }

    func wrong(_ key: String, _ expected: String) -> SandboxError {
        SandboxError(.invalidInput, "\(path).\(key) must be \(expected)")
    }

    /// Seconds as milliseconds, at most a hundred years.
    static func milliseconds(_ value: JSONValue, what: String) throws(SandboxError) -> Int64 {
        guard let number = value.number, number >= 0, number <= 3_155_760_000 else {
            throw SandboxError(.invalidInput, "\(what) must be a number of seconds, from 0 to 3155760000")
        }
        return Int64(number * 1000)
    }
}
