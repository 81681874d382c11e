import HTTPRecovery

/// Decodes from a value, and remembers which keys it was asked for.
final class JSONDecoding: Decoder {
    let place: JSONPlace
    fileprivate private(set) var asked: [String] = []
    private var isObject = false

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ place: JSONPlace) {
        self.place = place
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let members = place.value.members else { throw place.wrong("an object") }
        var seen: Set<String> = []
        for member in members where !seen.insert(member.key).inserted {
            throw SandboxError(.invalidInput, "\(place.path) has the key \"\(member.key)\" twice")
        }
        isObject = true
        return KeyedDecodingContainer(Members(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = place.value.array else { throw place.wrong("a list") }
        return Elements(place: place, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { Single(place: place) }

    /// Complains about keys that nobody asked for.
    func finish() throws(SandboxError) {
        guard isObject, let stranger = place.value.members?.first(where: { !asked.contains($0.key) }) else { return }
        throw SandboxError(
            .invalidInput,
            "unknown key \"\(stranger.key)\" in \(place.path); known keys: \(asked.joined(separator: ", "))"
        )
    }

    /// The key as the object has it, noted as known.
    fileprivate func name(of key: some CodingKey) -> String {
        let name = place.value[key.stringValue] == nil ? key.jsonName : key.stringValue
        if !asked.contains(name) { asked.append(name) }
        return name
    }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: JSONDecoding

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { decoder.place.value.members?.compactMap { Key(stringValue: $0.key) } ?? [] }

    private var place: JSONPlace { decoder.place }

    func contains(_ key: Key) -> Bool {
        let name = decoder.name(of: key)
        return place.value[name] != nil || place.current?[name] != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key).value.isNull }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if type is any Flattened.Type { return try type.init(from: decoder) }
        return try member(key).read(type)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard contains(key) else { return nil }
        var member = try member(key)
        if member.value.isNull, !(type is any NullIsSaid.Type) { return nil }
        if type is any Switchable.Type, let isOn = member.value.bool {
            guard isOn, let usual = (place.owner as? any Described.Type)?.blankJSON[member.key] else { return nil }
            member.value = usual
        }
        // What may be absent is said as a whole.
        member.current = nil
        return try member.read(type)
    }

    private func member(_ key: Key) throws -> JSONPlace {
        let name = decoder.name(of: key)
        let current = place.current?[name]
        guard let value = place.value[name] ?? current else {
            throw SandboxError(.invalidInput, "\(place.path) needs \(name)")
        }
        return JSONPlace(value: value, current: current, path: "\(place.path).\(name)", key: name, owner: place.owner)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try JSONDecoding(member(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try JSONDecoding(member(key)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoder }

    func superDecoder(forKey key: Key) throws -> any Decoder { JSONDecoding(try member(key)) }
}

private struct Elements: UnkeyedDecodingContainer {
    let place: JSONPlace
    let elements: [JSONValue]
    private(set) var currentIndex = 0

    var codingPath: [any CodingKey] { [] }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    init(place: JSONPlace, elements: [JSONValue]) {
        self.place = place
        self.elements = elements
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().read(type) }

    private mutating func next() throws -> JSONPlace {
        guard !isAtEnd else { throw place.wrong("a longer list") }
        defer { currentIndex += 1 }
        return JSONPlace(value: elements[currentIndex], path: "\(place.path)[\(currentIndex)]")
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try JSONDecoding(next()).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try JSONDecoding(next()).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { JSONDecoding(try next()) }
}

private struct Single: SingleValueDecodingContainer {
    let place: JSONPlace

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { place.value.isNull }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try place.read(type) }
}
