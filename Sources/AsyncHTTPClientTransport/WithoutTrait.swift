// What a protocol wants is documented there.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

#if !AsyncHTTPClient
public import HTTPRecovery
public import HTTPTypes

/// What the compiler says where the trait is missing; a transport, so that it says no more than that.
@available(*, unavailable, message: "it needs the package's trait: .package(…, traits: [\"AsyncHTTPClient\"])")
public struct AsyncHTTPClientTransport: HTTPTransport {
    /// Cannot be called.
    public init() {}

    public var name: String { "" }

    public func send(
        _ request: HTTPRequest,
        body: MessageBody?,
        options: AttemptOptions
    ) async throws -> TransportResponse {
        throw CancellationError()
    }
}
#endif
