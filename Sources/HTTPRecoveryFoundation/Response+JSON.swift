public import HTTPRecovery
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension RecoveredResponse {
    /// The value that the body holds as JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - decoder: How it is read. Default: as `JSONDecoder` does it.
    ///   - limit: The most bytes to read of a streamed body. Default: 1 MiB.
    /// - Throws: `RecoveryError` of the kind `unreadable` if the body is not such a value, with the `DecodingError` as its
    ///   cause; what reading the body throws.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self,
        by decoder: JSONDecoder = JSONDecoder(),
        upTo limit: Int = 1 << 20
    ) async throws -> Value {
        let data = try await body.data(upTo: limit)
        do {
            return try decoder.decode(type, from: data)
        } catch {
            var outcome = Outcome(.unreadable, processed: .yes, status: status.code)
            outcome.message = "the body is no \(Value.self)"
            throw RecoveryError(
                outcome: outcome,
                reason: .notRecoverable,
                response: self,
                history: history,
                cause: error
            )
        }
    }
}

extension RecoveringClient {
    /// Sends a request with a value as JSON in its body.
    ///
    /// The `Content-Type` is `application/json` if the request names none. The body can be read again, so the request is
    /// repeated as any other.
    ///
    /// - Parameters:
    ///   - request: The request, with scheme, authority and path.
    ///   - value: The value.
    ///   - encoder: How it is written. Default: as `JSONEncoder` does it.
    ///   - options: What this call wants to be treated differently.
    /// - Returns: A response whose outcome is no failure.
    /// - Throws: `EncodingError` if the value cannot be written, before anything is sent; what
    ///   `send(_:body:options:)` throws.
    public func send(
        _ request: HTTPRequest,
        json value: some Encodable,
        encoder: JSONEncoder = JSONEncoder(),
        options: RequestOptions = RequestOptions()
    ) async throws -> RecoveredResponse {
        var request = request
        if !request.headerFields.contains(.contentType) { request.headerFields[.contentType] = "application/json" }
        return try await send(request, body: try MessageBody(json: value, encoder: encoder), options: options)
    }
}
