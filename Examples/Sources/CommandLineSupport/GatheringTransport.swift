public import HTTPRecovery
public import HTTPTypes

/// A transport that hands on what is judged by its body with that body: errors, and successes that say more than their
/// status does; of all others the body is on its way.
///
/// It lets a client take the bodies of successes as they come (`Buffering.streamed`) and lose nothing of the others.
public struct GatheringTransport: HTTPTransport {
    /// How much is read of such a body: 1 MiB.
    ///
    /// What an error has more is left out; a success that is larger is handed on as it comes, and not judged by it.
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
        let isError = response.head.status.code >= 400
        let reading = Reading(response.body)
        var bytes: [UInt8] = []
        do {
            while let chunk = try await reading.next() {
                bytes += chunk
                if bytes.count <= Self.limit { continue }
                if isError { break }
                let rest = Rest(beginning: bytes[...], reading: reading)
                response.body = MessageBody(once: rest, length: response.body.length)
                return response
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch  where isError {
            // What a refusal states in its head holds, even if its body breaks off.
        }
        response.body = MessageBody(bytes.prefix(Self.limit))
        return response
    }

    /// A body that is read by one task after the other; its iterator cannot leave the one that made it.
    private actor Reading {
        private let body: MessageBody
        private var iterator: MessageBody.AsyncIterator?

        init(_ body: MessageBody) {
            self.body = body
        }

        func next() async throws -> ArraySlice<UInt8>? {
            var present = iterator ?? body.makeAsyncIterator()
            let chunk = try await present.next()
            iterator = present
            return chunk
        }
    }

    /// What was read of a body, and what comes behind it.
    private struct Rest: AsyncSequence, AsyncIteratorProtocol, Sendable {
        var beginning: ArraySlice<UInt8>?
        let reading: Reading

        mutating func next() async throws -> ArraySlice<UInt8>? {
            if let beginning = beginning.take() { return beginning }
            return try await reading.next()
        }

        func makeAsyncIterator() -> Rest { self }
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
