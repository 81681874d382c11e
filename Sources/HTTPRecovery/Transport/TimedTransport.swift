import HTTPTypes

/// A transport that keeps no time itself, raced against the clock.
///
/// What a foreign transport does when it is cancelled may block. Foundation's session on Linux waits for its queue, which
/// waits for the task's lock where an answer comes at that moment, and both wait for ever (Swift 6.3,
/// swift-corelibs-foundation issue 5412). So nobody waits for an attempt that is cut off; it is cancelled only when no
/// answer has come for a while after, by a thread that nobody else needs, one after the other; and the transport is shut
/// down when the last that was cancelled has gone.
struct TimedTransport: HTTPTransport {
    /// How long an answer may be late that ends an attempt by itself.
    static let grace = Duration.seconds(1)
    /// How long a shutdown waits for attempts that were cancelled.
    private static let patience = Duration.seconds(1)

    private let transport: any HTTPTransport
    private let time: TimeSource
    /// The attempts that were cancelled and have not ended.
    private let leaving = InFlight()

    init(_ transport: any HTTPTransport, time: TimeSource) {
        self.transport = transport
        self.time = time
    }

    var name: String { transport.name }
    var enforcesTimeouts: Bool { true }
    var keepsSendLimits: Bool { transport.keepsSendLimits }

    func send(_ request: HTTPRequest, body: HTTPBody?, options: AttemptOptions) async throws -> TransportResponse {
        let end = options.timeout.map { time.now.advanced(by: $0) }
        do {
            var response = try await time.withCutoff(at: end, leaving: abandon) { [transport] in
                try await transport.send(request, body: body, options: options)
            }
            if let end { response.body = response.body.limited(until: end, time: time) }
            return response
        } catch is TimeoutExceeded {
            throw TransportError(.timedOut, .unknown, message: "no answer came in time")
        }
    }

    /// Cancels an attempt that does not end by itself, unless the transport is being shut down, which ends it.
    private func abandon(_ attempt: AbandonedWork) {
        Task { [leaving, time] in
            let isOver: Void? = try? await time.withTimeout(until: time.now.advanced(by: Self.grace)) {
                try await attempt.gone.value
            }
            guard isOver == nil, leaving.enter() else { return }
            SerialThread.cancellations.enqueue { attempt.task.cancel() }
            await attempt.task.value
            leaving.leave()
        }
    }

    func shutdown() async {
        if let gone = leaving.close() {
            // Who shuts down may be cancelled; the transport is to be left in peace all the same.
            await Task { [time] in
                try? await time.withTimeout(until: time.now.advanced(by: Self.patience)) { try await gone.value }
            }.value
        }
        await transport.shutdown()
    }
}
