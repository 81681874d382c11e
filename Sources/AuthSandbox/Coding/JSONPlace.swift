import HTTPRecovery

extension JSONValue {
    /// Reads what the value describes.
    ///
    /// - Parameters:
    ///   - type: What it should be.
    ///   - current: What holds for keys that are absent; nil for what the type says.
    ///   - path: What to call it in an error.
    /// - Throws: ``SandboxError`` that says what is wrong, and where.
    func read<Value: Decodable>(
        _ type: Value.Type = Value.self,
        over current: JSONValue? = nil,
        path: String
    ) throws(SandboxError) -> Value {
        do {
            return try JSONPlace(value: self, current: current, path: path).read(type)
        } catch let error as SandboxError {
            throw error
        } catch {
            throw SandboxError(.invalidInput, "\(path): \(error)")
        }
    }
}

/// A value with its place in a document, to be read as whatever is asked for.
struct JSONPlace {
    var value: JSONValue
    /// What holds for keys that are absent.
    var current: JSONValue?
    var path: String
    var key = ""
    /// Whose key it is.
    var owner: (any SandboxInput.Type)?

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        switch type {
        case is String.Type: return try typed(value.string.flatMap(inWords), expected: words ?? "a string")
        case is Bool.Type: return try typed(value.bool, expected: "true or false")
        case is [String].Type: return try typed(strings(), expected: "a list of strings")
        case is Int64.Type where key.hasSuffix("_s"):
            let range = owner?.ranges[key] ?? 0...3_155_760_000
            let bounds = Double(range.lowerBound)...Double(range.upperBound)
            let seconds = value.number.flatMap { bounds.contains($0.double) ? Int64($0.double * 1000) : nil }
            return try typed(
                seconds,
                expected: "a number of seconds, from \(range.lowerBound) to \(range.upperBound)"
            )
        case is Int64.Type, is Int.Type:
            let range = owner?.ranges[key]
            // What has no range is counted with all the same.
            let bounds = range ?? -1_000_000_000_000...1_000_000_000_000
            let number = value.int.flatMap { bounds.contains($0) ? $0 : nil }
            let expected = "a whole number" + (range.map { " from \($0.lowerBound) to \($0.upperBound)" } ?? "")
            if type is Int.Type { return try typed(number.map { Int(clamping: $0) }, expected: expected) }
            return try typed(number, expected: expected)
        default: return try object(type)
        }
    }

    func wrong(_ expected: String) -> SandboxError {
        SandboxError(.invalidInput, "\(path) must be \(expected)")
    }

    private func typed<Found, Value>(_ found: Found?, expected: String) throws -> Value {
        guard let value = found as? Value else { throw wrong(expected) }
        return value
    }

    private func object<Value: Decodable>(_ type: Value.Type) throws -> Value {
        var place = self
        if let type = type as? any Described.Type {
            place.current = current ?? type.blankJSON
        } else {
            place.current = nil
        }
        place.owner = type as? any SandboxInput.Type
        let decoder = JSONDecoding(place)
        let value = try type.init(from: decoder)
        try decoder.finish()
        try (value as? any SandboxInput)?.check(path: path)
        return value
    }

    private var words: String? { owner?.words[key].map { "one of " + $0.joined(separator: ", ") } }

    private func inWords(_ text: String) -> String? {
        owner?.words[key]?.contains(text) ?? true ? text : nil
    }

    private func strings() throws -> [String]? {
        let elements = value.array ?? [value]
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { return nil }
        if let words = owner?.words[key], let stranger = texts.first(where: { !words.contains($0) }) {
            throw SandboxError(
                .invalidInput,
                "\(path): \"\(stranger)\" is none of \(words.joined(separator: ", "))"
            )
        }
        return texts
    }
}
