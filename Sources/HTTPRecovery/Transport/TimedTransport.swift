package import HTTPTypes

/// A transport that keeps no time itself, raced against the clock.
///
/// What a foreign transport does may block, above all when it is cancelled. Foundation's session on Linux waits for its
/// queue, which waits for the task's lock if an answer comes at that moment, and both wait for ever, as does whoever asks
/// the session for anything after that (Swift 6.3, swift-corelibs-foundation issue 5412). So nobody waits for an attempt
/// that is cut off; it is cancelled only when no answer has come for a while after, by a thread of the transport's own,
/// one after the other; and the transport is shut down when the last that was cancelled has gone. Should it block all the
/// same, it blocks the threads that its own work has, and no other's. The bodies of its responses are read alike.
package struct TimedTransport: HTTPTransport {
    /// How long an answer may be late that ends an attempt by itself.
    static let grace = Duration.seconds(1)
    /// How long a shutdown waits for attempts that were cancelled.
    private static let patience = Duration.seconds(1)

    private let transport: any HTTPTransport
    private let time: TimeSource
    /// How many attempts are left to themselves and have not ended.
    private let left = Locked(0)
    /// Those of them that were cancelled.
    private let leaving = InFlight()
    /// Whether the transport is being shut down, or was.
    private let isClosed = Locked(false)
    /// Lands when the transport was shut down.
    private let end = Flight<Void>()
    /// Where the transport's own work is done.
    private let threads = WorkerThreads(atMost: 8)
    /// Where it is cancelled.
    private let cancelling = WorkerThreads()

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
            var response = try await time.withCutoff(at: end, on: threads, leaving: abandon) { [transport, isClosed] in
                if isClosed.withLock({ $0 }) { throw TransportError(.shutDown, .neverSent) }
                return try await transport.send(request, body: body, options: options)
            }
            response.body = response.body.limited(until: end, time: time, on: threads, leaving: abandon)
            return response
        } catch is TimeoutExceeded {
            throw TransportError(.timedOut, .unknown, message: "no answer came in time")
        }
    }

    /// Cancels an attempt that does not end by itself, but not while the transport is shut down, which may end it.
    private func abandon(_ attempt: AbandonedWork) {
        left.withLock { $0 += 1 }
        Task {
            await attempt.task.value
            left.withLock { $0 -= 1 }
        }
        Task {
            if await lands(attempt.gone, within: Self.grace) { return }
            guard leaving.enter() else {
                // Not every transport ends its attempts with that.
                _ = try? await end.value
                if await !lands(attempt.gone, within: Self.grace) { cancel(attempt) }
                return
            }
            cancel(attempt)
            await attempt.task.value
            leaving.leave()
        }
    }

    private func cancel(_ attempt: AbandonedWork) {
        cancelling.enqueue { attempt.task.cancel() }
    }

    package func shutdown() async {
        // Who shuts down may be cancelled; the transport is to be left in peace all the same.
        await Task { await shutDown() }.value
    }

    private func shutDown() async {
        isClosed.withLock { $0 = true }
        if let gone = leaving.close() { _ = await lands(gone, within: Self.patience) }
        // What has begun gets to where it is a transfer, which the shutdown ends: Foundation's session crashes if it is
        // asked for one after its end.
        if let idle = threads.idle() { _ = await lands(idle, within: Self.patience) }
        // On a thread of its own: the others may be what it has to free.
        let closed = Flight<Void>()
        Task(executorPreference: WorkerThreads()) { [transport] in
            await transport.shutdown()
            closed.land(.success(()))
        }
        // What holds up an attempt that is left to itself may hold up this for ever too.
        while await !lands(closed, within: Self.patience), left.withLock({ $0 == 0 }) {}
        end.land(.success(()))
    }

    private func lands(_ flight: Flight<Void>, within duration: Duration) async -> Bool {
        let landed: Void? = try? await time.withTimeout(until: time.now.advanced(by: duration)) {
            try await flight.value
        }
        return landed != nil
    }
}
