public import HTTPRecovery

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension JSONValue {
    /// The tree of a value, as JSON has it.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - encoder: How it is written. Default: as `JSONEncoder` does it.
    /// - Throws: `EncodingError` if the value cannot be written.
    public init(encoding value: some Encodable, by encoder: JSONEncoder = JSONEncoder()) throws {
        let bytes = [UInt8](try encoder.encode(value))
        self = try JSONValue(parsing: bytes)
    }

    /// The value that the tree stands for.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - decoder: How it is read. Default: as `JSONDecoder` does it.
    /// - Throws: `DecodingError` if it is no such value.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self,
        by decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: Data(description.utf8))
    }
}
