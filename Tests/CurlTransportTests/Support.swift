import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

extension HTTPRequest {
    static func to(
        _ authority: String,
        _ method: HTTPRequest.Method = .get,
        _ path: String = "/",
        scheme: String = "http",
        headers: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: scheme, authority: authority, path: path, headerFields: headers)
    }
}

extension CurlTransport {
    /// A transport whose guards no machine reaches, however busy it is.
    static func patient(_ configuration: Configuration = .init()) -> CurlTransport {
        var configuration = configuration
        configuration.connectTimeout = .seconds(86_400)
        configuration.maxIdleTime = .seconds(86_400)
        return CurlTransport(configuration: configuration)
    }

    /// Sends and reads the whole body.
    func fetch(
        _ request: HTTPRequest,
        _ body: MessageBody? = nil,
        timeout: Duration? = .seconds(86_400)
    ) async throws -> (head: HTTPResponse, body: String) {
        let response = try await send(request, body: body, options: AttemptOptions(timeout: timeout))
        return (response.head, String(decoding: try await response.body.collect(upTo: 64 << 20), as: UTF8.self))
    }

    /// The error that the attempt, its body included, ends with.
    func failure(
        _ request: HTTPRequest,
        _ body: MessageBody? = nil,
        timeout: Duration? = .seconds(86_400)
    ) async throws -> TransportError {
        try await #require(throws: TransportError.self) { _ = try await fetch(request, body, timeout: timeout) }
    }
}

extension RecoveringClient {
    /// A client whose times no machine reaches, however busy it is.
    static func patient(_ transport: CurlTransport) -> RecoveringClient {
        RecoveringClient(transport: transport) {
            Recovery()
            AttemptTimeout(.seconds(86_400))
        }
    }
}

/// A body made of chunks that a test hands out one by one.
final class ChunkSource: Sendable {
    let stream: AsyncStream<ArraySlice<UInt8>>
    let continuation: AsyncStream<ArraySlice<UInt8>>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func send(_ text: String) { continuation.yield(ArraySlice(text.utf8)) }
    func finish() { continuation.finish() }
}
