package import HTTPTypes

/// A transport that keeps no time itself, raced against the clock.
///
/// What a foreign transport does when it is cancelled may block. Foundation's session on Linux waits for its queue, which
/// waits for the task's lock if an answer comes at that moment, and both wait for ever (Swift 6.3,
/// swift-corelibs-foundation issue 5412). So nobody waits for an attempt that is cut off; it is cancelled only when no
/// answer has come for a while after, by a thread of the transport's own, one after the other; and the transport is shut
/// down when the last that was cancelled has gone. The bodies of its responses are read alike.
package struct TimedTransport: HTTPTransport {
    /// How long an answer may be late that ends an attempt by itself.
    static let grace = Duration.seconds(1)
    /// How long a shutdown waits for attempts that were cancelled.
    private static let patience = Duration.seconds(1)

    private let transport: any HTTPTransport
    private let time: TimeSource
    /// The attempts that were cancelled and have not ended.
    private let leaving = InFlight()
    /// Lands when the transport was shut down.
    private let end = Flight<Void>()
    private let thread = SerialThread()

    package init(_ transport: any HTTPTransport, time: TimeSource) {
        self.transport = transport
        self.time = time
    }

    package var name: String { transport.name }
    package var enforcesTimeouts: Bool { true }
    package var keepsSendLimits: Bool { transport.keepsSendLimits }

    package func send(
        _ request: HTTPRequest,
        body: MessageBody?,
        options: AttemptOptions
    ) async throws -> TransportResponse {
        let end = options.timeout.map { time.now.advanced(by: $0) }
        do {
            var response = try await time.withCutoff(at: end, leaving: abandon) { [transport] in
                try await transport.send(request, body: body, options: options)
            }
            response.body = response.body.limited(until: end, time: time, leaving: abandon)
            return response
        } catch is TimeoutExceeded {
            throw TransportError(.timedOut, .unknown, message: "no answer came in time")
        }
    }

    /// Cancels an attempt that does not end by itself, but not while the transport is shut down, which may end it.
    private func abandon(_ attempt: AbandonedWork) {
        Task {
            if await isGoing(attempt) { return }
            guard leaving.enter() else {
                // Not every transport ends its attempts with that.
                _ = try? await end.value
                if await !isGoing(attempt) { cancel(attempt) }
                return
            }
            cancel(attempt)
            await attempt.task.value
            leaving.leave()
        }
    }

    /// Whether an attempt ends by itself.
    private func isGoing(_ attempt: AbandonedWork) async -> Bool {
        let end: Void? = try? await time.withTimeout(until: time.now.advanced(by: Self.grace)) {
            try await attempt.gone.value
        }
        return end != nil
    }

    private func cancel(_ attempt: AbandonedWork) {
        thread.enqueue { attempt.task.cancel() }
    }

    package func shutdown() async {
        if let gone = leaving.close() {
            // Who shuts down may be cancelled; the transport is to be left in peace all the same.
            await Task { [time] in
                try? await time.withTimeout(until: time.now.advanced(by: Self.patience)) { try await gone.value }
            }.value
        }
        await transport.shutdown()
        end.land(.success(()))
    }
}
