public import HTTPRecovery
public import HTTPTypes

/// A transport that hands on what is judged by its body with that body: errors, and successes that say more than their
/// status does; of all others the body is on its way.
///
/// It lets a client take the bodies of successes as they come (`Buffering.streamed`) and lose nothing of the others.
public struct GatheringTransport: HTTPTransport {
    /// How much is kept of such a body: 1 MiB.
    private static let limit = 1 << 20

    private let transport: any HTTPTransport

    /// Creates the transport in front of another.
    public init(_ transport: any HTTPTransport) {
        self.transport = transport
    }

    /// The name of the other one.
    public var name: String { transport.name }
    /// As the other one has it.
    public var enforcesTimeouts: Bool { transport.enforcesTimeouts }
    /// As the other one has it.
    public var keepsSendLimits: Bool { transport.keepsSendLimits }

    /// Sends the request.
    public func send(
        _ request: HTTPRequest,
        body: MessageBody?,
        options: AttemptOptions
    ) async throws -> TransportResponse {
        var response = try await transport.send(request, body: body, options: options)
        guard Self.isJudgedByBody(response.head), response.body.bytesInMemory == nil else { return response }
        var bytes: [UInt8] = []
        do {
            for try await chunk in response.body {
                bytes += chunk
                if bytes.count > Self.limit { break }
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch  where response.head.status.code >= 400 {
            // What a refusal states in its head holds, even if its body breaks off.
        }
        response.body = MessageBody(bytes.prefix(Self.limit))
        return response
    }

    /// Ends all transfers.
    public func shutdown() async {
        await transport.shutdown()
    }

    private static func isJudgedByBody(_ head: HTTPResponse) -> Bool {
        let code = head.status.code
        let type = head.headerFields[.contentType]?.lowercased() ?? ""
        return code >= 400 || type.hasPrefix("application/problem+")
    }
}
