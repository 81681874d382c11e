package import HTTPRecovery

/// What a suspended sign-in can be made of: a value that is written down and taken up again, secrets included.
///
/// It is no public encoding: what it writes is sealed before it leaves the process.
package protocol Remembered {
    /// The value, written down.
    var memory: JSONValue { get }

    /// Takes a value up again; nil for what it has not written.
    init?(memory: JSONValue)
}

/// Something that is remembered field by field, in a value that is there already.
package protocol RecalledFields {
    /// The fields.
    static var fields: [RememberedField<Self>] { get }
}

/// A value that is remembered field by field.
package protocol RememberedFields: Remembered, RecalledFields {
    /// A value to fill in.
    init()
}

/// One field of a value that is remembered.
package struct RememberedField<Root> {
    let name: String
    let read: (Root) -> JSONValue
    let write: (inout Root, JSONValue) -> Bool

    /// Names a field.
    package init<Value: Remembered>(_ name: String, _ path: WritableKeyPath<Root, Value>) {
        self.name = name
        read = { $0[keyPath: path].memory }
        write = { root, json in
            guard let value = Value(memory: json) else { return false }
            root[keyPath: path] = value
            return true
        }
    }
}

extension RecalledFields {
    /// The fields, written down.
    package var recalled: JSONValue {
        .object(
            Self.fields.compactMap { field in
                let value = field.read(self)
                return value.isNull ? nil : JSONValue.Member(field.name, value)
            }
        )
    }

    /// Fills in the fields; false for what ``recalled`` has not written.
    package mutating func recall(_ memory: JSONValue) -> Bool {
        guard memory.members != nil else { return false }
        for field in Self.fields {
            guard field.write(&self, memory[field.name] ?? .null) else { return false }
        }
        return true
    }
}

extension RememberedFields {
    package var memory: JSONValue { recalled }

    package init?(memory: JSONValue) {
        self.init()
        guard recall(memory) else { return nil }
    }
}

extension JSONValue: Remembered {
    package var memory: JSONValue { self }
    package init?(memory: JSONValue) { self = memory }
}

extension Bool: Remembered {
    package var memory: JSONValue { .bool(self) }

    package init?(memory: JSONValue) {
        guard let value = memory.bool else { return nil }
        self = value
    }
}

extension Int: Remembered {
    package var memory: JSONValue { .number(JSONValue.Number(self)) }

    package init?(memory: JSONValue) {
        guard let value = memory.number.flatMap({ Int(exactly: $0.saturatedInt) }) else { return nil }
        self = value
    }
}

extension String: Remembered {
    package var memory: JSONValue { .string(self) }

    package init?(memory: JSONValue) {
        guard let value = memory.string else { return nil }
        self = value
    }
}

extension Optional: Remembered where Wrapped: Remembered {
    package var memory: JSONValue { self?.memory ?? .null }

    package init?(memory: JSONValue) {
        if memory.isNull {
            self = .none
        } else if let value = Wrapped(memory: memory) {
            self = .some(value)
        } else {
            return nil
        }
    }
}

extension Array: Remembered where Element: Remembered {
    package var memory: JSONValue { .array(map(\.memory)) }

    package init?(memory: JSONValue) {
        guard let elements = memory.array else { return nil }
        self = elements.compactMap { Element(memory: $0) }
        if count != elements.count { return nil }
    }
}

extension Set: Remembered where Element: Remembered {
    package var memory: JSONValue { .array(map(\.memory)) }

    package init?(memory: JSONValue) {
        guard let elements = [Element](memory: memory) else { return nil }
        self = Set(elements)
    }
}

/// As pairs, since keys need not be texts.
extension Dictionary: Remembered where Key: Remembered, Value: Remembered {
    package var memory: JSONValue { .array(map { .array([$0.key.memory, $0.value.memory]) }) }

    package init?(memory: JSONValue) {
        guard let pairs = memory.array else { return nil }
        self.init()
        for pair in pairs {
            guard let key = pair[0].flatMap({ Key(memory: $0) }), let value = pair[1].flatMap({ Value(memory: $0) })
            else { return nil }
            self[key] = value
        }
    }
}

extension Remembered where Self: RawRepresentable, RawValue == String {
    package var memory: JSONValue { .string(rawValue) }

    package init?(memory: JSONValue) {
        guard let value = memory.string.flatMap({ Self(rawValue: $0) }) else { return nil }
        self = value
    }
}
