import HTTPTypes

/// A transport for one attempt to which something is done.
struct ChaosTransport: HTTPTransport {
    private let transport: any HTTPTransport
    /// What is done, the outermost first.
    private let injections: ArraySlice<RecoveringClient.Chaos.Injection>
    /// The request as the layer saw it, without what inner layers attach.
    private let request: HTTPRequest
    private let time: TimeSource

    init(
        _ transport: any HTTPTransport,
        _ injections: ArraySlice<RecoveringClient.Chaos.Injection>,
        asked request: HTTPRequest,
        time: TimeSource
    ) {
        self.transport = transport
        self.injections = injections
        self.request = request
        self.time = time
    }

    var name: String { transport.name }
    var enforcesTimeouts: Bool { transport.enforcesTimeouts }
    var keepsSendLimits: Bool { transport.keepsSendLimits }

    func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse {
        guard let injection = injections.first else {
            return try await transport.send(request, body: body, options: options)
        }
        let rest = ChaosTransport(transport, injections.dropFirst(), asked: self.request, time: time)
        var options = options
        switch injection {
        case .latency(let delay):
            options.timeout = try await wait(delay, within: options.timeout, .neverSent)
            return try await rest.send(request, body: body, options: options)
        case .fault(let error): throw error
        case .outcome(let head, let body): return TransportResponse(head: head, body: body)
        case .behavior(let behave):
            try await behave(self.request)
            return try await rest.send(request, body: body, options: options)
        case .lostAnswer:
            _ = try await rest.send(request, body: body, options: options)
            throw TransportError(.connectionLost, .unknown, message: "the answer was lost on purpose")
        case .lateAnswer(let delay):
            let start = time.now
            let answer = try await rest.send(request, body: body, options: options)
            _ = try await wait(delay, within: options.timeout.map { $0 - start.duration(to: time.now) }, .unknown)
            return answer
        case .changedAnswer(let change):
            var answer = try await rest.send(request, body: body, options: options)
            change(&answer)
            return answer
        }
    }

    /// Lets an attempt be late, within its time.
    ///
    /// - Returns: What is left of its time.
    /// - Throws: `TransportError` if its time is over by then; `CancellationError` as soon as the task is cancelled.
    private func wait(
        _ delay: Duration,
        within timeout: Duration?,
        _ certainty: TransportError.Certainty
    ) async throws -> Duration? {
        let limit = timeout ?? .longest
        try await time.sleep(for: min(delay, limit))
        guard delay < limit else {
            throw TransportError(.timedOut, certainty, message: "what was injected took longer than the attempt may")
        }
        return timeout.map { $0 - max(delay, .zero) }
    }
}
