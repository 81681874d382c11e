public import HTTPRecovery

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension MessageBody {
    /// Creates a body of the value as JSON.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - encoder: How it is written. Default: as `JSONEncoder` does it.
    /// - Throws: `EncodingError` if the value cannot be written.
    public init(json value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws {
        self.init(try encoder.encode(value))
    }

    /// The body's bytes.
    ///
    /// - Parameter limit: The most bytes to accept.
    /// - Throws: `MessageBody.ReadError.tooLarge` beyond the limit, `MessageBody.ReadError.alreadyConsumed`; what the stream throws.
    public func data(upTo limit: Int) async throws -> Data {
        Data(try await collect(upTo: limit))
    }
}
