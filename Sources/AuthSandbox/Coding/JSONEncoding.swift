import HTTPRecovery

extension JSONValue {
    /// What a value shows of itself: its keys in their order, as ``SandboxInput`` says how they are written.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - showsNull: Whether what is absent is shown as `null`.
    init(of value: some Encodable, showsNull: Bool = true) {
        let encoder = JSONEncoding(showsNull: showsNull)
        self = (try? encoder.json(of: value, key: "")) ?? .null
    }
}

/// Encodes into a value.
final class JSONEncoding: Encoder {
    let showsNull: Bool
    /// Under which key the value will stand.
    fileprivate let key: String
    private(set) var value: JSONValue = .object([])

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(showsNull: Bool, key: String = "") {
        self.showsNull = showsNull
        self.key = key
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Members(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        value = .array([])
        return Elements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoder: self) }

    func json(of value: some Encodable, key: String) throws -> JSONValue {
        switch value {
        case let text as String: return .string(text)
        case let flag as Bool: return .bool(flag)
        case let number as Int64: return key.hasSuffix("_s") ? .seconds(number) : .int(number)
        case let number as any BinaryInteger: return .int(number)
        case let texts as [String: String]:
            return .object(texts.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })
        default:
            let encoder = JSONEncoding(showsNull: showsNull, key: key)
            try value.encode(to: encoder)
            return encoder.value
        }
    }

    fileprivate func add(_ member: JSONValue, _ key: String) { value = value.adding(key, member) }

    fileprivate func append(_ element: JSONValue) { value = .array((value.array ?? []) + [element]) }

    func set(_ value: JSONValue) { self.value = value }

    fileprivate var count: Int { value.array?.count ?? 0 }
}

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: JSONEncoding

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { encoder.add(.null, key.jsonName) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if value is any Flattened { return try value.encode(to: encoder) }
        encoder.add(try encoder.json(of: value, key: key.jsonName), key.jsonName)
    }

    // Those of one type are asked for by themselves.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encode(optional: value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encode(optional: value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encode(optional: value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encode(optional: value, key) }
    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try encode(optional: value, key) }

    private func encode<Value: Encodable>(optional value: Value?, _ key: Key) throws {
        if let value {
            try encode(value, forKey: key)
        } else if encoder.showsNull, !(Value.self is any NullIsSaid.Type) {
            encodeNil(forKey: key)
        }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        preconditionFailure("an object within is a value of its own")
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        preconditionFailure("a list within is a value of its own")
    }

    func superEncoder() -> any Encoder { encoder }

    func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

private struct Elements: UnkeyedEncodingContainer {
    let encoder: JSONEncoding

    var codingPath: [any CodingKey] { [] }
    var count: Int { encoder.count }

    func encodeNil() { encoder.append(.null) }

    func encode<Value: Encodable>(_ value: Value) throws { encoder.append(try encoder.json(of: value, key: "")) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        preconditionFailure("an object within is a value of its own")
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        preconditionFailure("a list within is a value of its own")
    }

    func superEncoder() -> any Encoder { encoder }
}

private struct Single: SingleValueEncodingContainer {
    let encoder: JSONEncoding

    var codingPath: [any CodingKey] { [] }

    func encodeNil() { encoder.set(.null) }

    func encode<Value: Encodable>(_ value: Value) throws { encoder.set(try encoder.json(of: value, key: encoder.key)) }
}
