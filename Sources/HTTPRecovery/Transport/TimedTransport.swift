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
    /// How long a shutdown may block its thread until it is taken for locked up.
    private static let blocked = Duration.seconds(5)

    private let transport: any HTTPTransport
    private let time: TimeSource
    /// The attempts that were cancelled and have not ended; closed once the transport is being shut down.
    private let leaving = InFlight()
    /// Lands when the transport was shut down.
    private let end = Flight<Void>()
    /// Where the transport's own work is done; nil for the concurrency runtime's threads, as where a test moves the clock:
    /// it counts on the runtime's turns.
    private let threads: WorkerThreads?
    /// Where it is cancelled.
    private let cancelling = WorkerThreads()

    package init(_ transport: any HTTPTransport, time: TimeSource) {
        self.transport = transport
        self.time = time
        threads = time.bootClock == nil ? nil : WorkerThreads(atMost: 8)
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
            var response = try await time.withCutoff(at: end, on: threads, leaving: abandon) { [transport, leaving] in
                // It may have waited for a thread.
                if leaving.isClosed { throw TransportError(.shutDown, .neverSent) }
                try transport.checkSendLimit(of: options)
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
        if let gone = leaving.close() { _ = await lands(gone, within: Self.patience) }
        // What has begun gets to where it is a transfer, which the shutdown ends: Foundation's session crashes if it is
        // asked for one after its end.
        if let idle = threads?.idle() { _ = await lands(idle, within: Self.patience) }
        // On a thread of its own: the others may be what it has to free.
        let own = threads.map { _ in WorkerThreads() }
        let closing = Task(executorPreference: own) { [transport, end] in
            await transport.shutdown()
            end.land(.success(()))
        }
        await withTaskCancellationHandler {
            guard let own else { return await closing.value }
            // While a shutdown waits for transfers its thread is free.
            while await !lands(end, within: Self.patience) {
                if let idle = own.idle(), await !lands(idle, within: Self.blocked) { return }
            }
        } onCancel: {
            cancelling.enqueue { closing.cancel() }
        }
    }

    /// Whether it lands in time, also if whoever waits is cancelled: the transport is to be left in peace all the same.
    private func lands(_ flight: Flight<Void>, within duration: Duration) async -> Bool {
        await Task { [time] in
            let landed: Void? = try? await time.withTimeout(until: time.now.advanced(by: duration)) {
                try await flight.value
            }
            return landed != nil
        }.value
    }
}
