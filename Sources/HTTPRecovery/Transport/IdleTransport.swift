import HTTPTypes

/// A transport for one attempt, which is ended if no byte of it comes or goes for a time.
struct IdleTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let limit: Duration
    private let time: TimeSource
    /// When the last byte was handed over.
    private let last: Locked<TimeSource.Instant>

    init(_ transport: any HTTPTransport, limit: Duration, time: TimeSource) {
        self.transport = transport
        self.limit = limit
        self.time = time
        self.last = Locked(time.now)
    }

    var name: String { transport.name }
    var keepsSendLimits: Bool { transport.keepsSendLimits }

    /// The body of the response is watched as long as somebody waits for its bytes.
    func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse {
        let body = body.map(watched)
        var response = try await guarding(.unknown) { [transport] in
            try await transport.send(request, body: body, options: options)
        }
        if response.body.isInMemory { return response }
        let reader = BodyReader(response.body)
        response.body = MessageBody(.once, length: response.body.length) {
            MessageBody.AsyncIterator {
                note()
                return try await guarding(.answered) { try await reader.next() }
            }
        }
        return response
    }

    /// A request's body that tells of each piece that is taken from it.
    private func watched(_ body: MessageBody) -> MessageBody {
        if let bytes = body.bytesInMemory, bytes.count <= MessageBody.pieceSize { return body }
        return body.inPieces.noting { _ in note() }
    }

    private func note() {
        last.withLock { $0 = time.now }
    }

    private func guarding<Result: Sendable>(
        _ certainty: TransportError.Certainty,
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        do {
            return try await time.withTimeout(moving: { last.withLock { $0 }.advanced(by: limit) }, work)
        } catch is TimeoutExceeded {
            throw TransportError(.timedOut, certainty, message: "no byte came or went for \(limit)")
        }
    }
}
