import HTTPTypes

/// A transport that keeps no time itself, raced against the clock.
struct TimedTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let time: TimeSource

    init(_ transport: any HTTPTransport, time: TimeSource) {
        self.transport = transport
        self.time = time
    }

    var name: String { transport.name }
    var enforcesTimeouts: Bool { true }
    var keepsSendLimits: Bool { transport.keepsSendLimits }

    func send(_ request: HTTPRequest, body: HTTPBody?, options: AttemptOptions) async throws -> TransportResponse {
        guard let timeout = options.timeout else {
            return try await transport.send(request, body: body, options: options)
        }
        let end = time.now.advanced(by: timeout)
        do {
            var response = try await time.withCutoff(at: end) { [transport] in
                try await transport.send(request, body: body, options: options)
            }
            response.body = response.body.limited(until: end, time: time)
            return response
        } catch is TimeoutExceeded {
            throw TransportError(.timedOut, .unknown, message: "no answer came in time")
        }
    }

    func shutdown() async {
        await transport.shutdown()
    }
}
