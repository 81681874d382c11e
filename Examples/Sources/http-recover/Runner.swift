import CommandLineSupport
import HTTPRecovery
import HTTPTypes
import Synchronization

/// Carries out a plan.
final class Runner: Sendable {
    private let plan: CallPlan
    private let log: EventLog
    private let terminal: Terminal
    private let output: StandardOutput
    private let file: AtomicFile?
    private let summary = Summary()
    private let time = TimeSource.system
    private let nextCall = Atomic(0)
    private let results: Results

    /// Opens what the plan writes to.
    init(_ plan: CallPlan) throws {
        self.plan = plan
        self.log = try EventLog(plan.report.events)
        self.file = try plan.output.map { path throws(FileError) in try AtomicFile(path) }
        // Whoever reads events from standard error reads nothing else there.
        self.terminal = Terminal(isQuiet: plan.report.events == "-")
        self.output = StandardOutput(terminal: terminal)
        self.results = Results(prints: plan.total > 1, output: output)
    }

    /// Makes all calls.
    func run() async -> ExitStatus {
        let start = time.now
        let progress = Progress(terminal: terminal, time: time, total: plan.total)
        let client = makeClient()
        client.runtime.events.observe { [log, summary] event in
            log.write(event)
            progress.note(event)
            summary.note(event)
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await progress.run() }
            await self.work(client)
            group.cancelAll()
        }
        terminal.showStatus(nil)
        log.cancelOpenCalls(upTo: plan.total, at: time.now)
        file?.abandon()
        if Task.isCancelled { results.add(.interrupted) }
        if !terminal.isQuiet { results.tell(on: terminal) }
        if plan.report.summary {
            output.endLine()
            for line in summary.lines(took: start.duration(to: time.now)) { terminal.write(line) }
        }
        if let failure = log.failure { terminal.write("http-recover: the events are not complete: \(failure)") }
        return results.status
    }

    /// Writes and removes what must not be left as it is when the program is stopped at once.
    func abandon() {
        file?.abandon()
        log.cancelOpenCalls(upTo: plan.total, at: time.now)
    }

    private func work(_ client: RecoveringClient) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<min(plan.concurrency, plan.total) {
                group.addTask {
                    while !Task.isCancelled {
                        let index = self.nextCall.wrappingAdd(1, ordering: .relaxed).oldValue
                        guard index < self.plan.total else { return }
                        await self.call(index, client)
                    }
                }
            }
        }
    }

    private func call(_ index: Int, _ client: RecoveringClient) async {
        var request = plan.requests[index % plan.requests.count]
        if let key = plan.recovery.idempotencyKey.fieldValue(random: client.runtime.random) {
            request.headerFields[.idempotencyKey] = key
        }
        var options = RequestOptions(callID: index + 1)
        if plan.recovery.replayable { options.resend = .replayable }
        let name = "\(request.method) \(request.redactedURL)"
        do {
            let response = try await client.send(request, body: plan.body, options: options)
            try file?.commit()
            results.finish(index, CallResult(status: response.status.code, exit: .ofRequest(response.outcome)))
            if plan.total == 1 { hint(at: response) }
        } catch let error as RecoveryError {
            if plan.total == 1 { await show(error.response) }
            // Who stops reading, as `head` does, knows it and needs no message.
            let isUnread = error.outcome.transportError?.code == .outputClosed
            let lines = isUnread ? [] : FailureText.lines(error, request: name, now: time.wallTime)
            results.finish(index, CallResult(status: Self.status(of: error), exit: .ofRequest(error), message: lines))
        } catch is CancellationError {
            results.finish(index, CallResult(exit: .interrupted))
        } catch {
            results.finish(index, CallResult(exit: .transferFailed, message: ["\(name): \(error)"]))
        }
    }

    /// The status of the answer that a failed call is left with; nil where it is left without one.
    private static func status(of error: RecoveryError) -> Int? {
        switch error.kind {
        case .transport, .timedOut: nil
        default: error.response?.status.code ?? error.history.attempts.last?.status
        }
    }

    /// Prints the body of an error, as far as it was read.
    private func show(_ response: Response?) async {
        guard let response, output.restart(), plan.maxBody != 0 else { return }
        var room = plan.maxBody ?? .max
        do {
            for try await chunk in response.body where room > 0 {
                try output.write(chunk.prefix(room))
                room -= min(room, chunk.count)
            }
        } catch {
            // The error itself is told; its body is a courtesy.
        }
    }

    /// Says where a redirect leads that was not followed.
    private func hint(at response: Response) {
        guard terminal.isInteractive, !plan.followsRedirects, Redirects.isRedirect(response) else { return }
        output.endLine()
        terminal.write(terminal.styled("HTTP \(response.status.code): a redirect; --location follows it.", .notice))
    }

    private func makeClient() -> RecoveringClient {
        let recovery = plan.recovery
        let runtime = Runtime(
            time: time,
            store: recovery.state.makeStore(),
            classifier: recovery.provider.classifier
        )
        let middlewares = middlewares
        return RecoveringClient(transport: plan.transport.makeTransport(plan), runtime: runtime) { middlewares }
    }

    /// The layers around the transport, the outermost first.
    private var middlewares: [any Middleware] {
        var layers: [any Middleware] = []
        if let deadline = plan.recovery.deadline { layers.append(Deadline(deadline.duration)) }
        let followsRedirects = plan.followsRedirects
        if followsRedirects { layers.append(Redirects()) }
        if !plan.recovery.noRecovery { layers.append(engine) }
        layers.append(AttemptTimeout(plan.recovery.attemptTimeout.duration))
        layers.append(
            BodyDelivery(to: sink, limit: plan.maxBody) { followsRedirects && Redirects.isRedirect($0) }
        )
        return layers
    }

    private var sink: any ByteSink {
        if plan.total > 1 { return DiscardingSink() }
        if let file { return file }
        return output
    }

    private var engine: Recovery {
        let options = plan.recovery
        var rateLimits = RateLimitBackoff()
        var transient = TransientRetry()
        if let range = options.backoff {
            rateLimits.backoff = .exponential(base: range.base, cap: range.cap, jitter: .equal)
            transient.backoff = .exponential(base: range.base, cap: range.cap)
        }
        let policies: [any RecoveryPolicy] = [
            rateLimits, LockoutWait(atMost: options.maxWait.duration), transient,
        ]
        return Recovery(
            maxAttempts: options.maxAttempts,
            maxWait: options.maxWait.duration,
            budget: RetryBudget.Configuration(ratio: options.budgetRatio, burst: options.budgetBurst)
        ) { policies }
    }
}
