import AuthRecovery
import CommandLineSupport
import FacebookAuth
import HTTPRecovery
import HTTPTypes
import Locking
import Synchronization

/// Carries out a plan.
final class Runner: Sendable {
    private let plan: CallPlan
    private let log: EventLog
    private let terminal: Terminal
    private let output: StandardOutput
    private let file: (any FileSink)?
    /// How many bytes an earlier download has left.
    private let kept: Int64
    private let recordings: LineFile?
    private let summary = Summary()
    private let time = TimeSource.system
    private let nextCall = Atomic(0)
    private let results: Results
    private let store: any RecoveryStore
    /// What is to be ended before the program is, if tokens are renewed.
    private let ending = Locked<RenewalEnding?>(nil)
    /// Until when the call may take that was begun last.
    private let deadline = Locked<TimeSource.Instant?>(nil)

    /// Opens what the plan writes to.
    init(_ plan: CallPlan) throws {
        self.plan = plan
        self.log = try EventLog(plan.report.events)
        self.store = try plan.recovery.state.place().open()
        self.recordings = try plan.report.record.map { path throws(FileError) in try LineFile(path) }
        let resumable = try plan.resumes ? plan.output.map { path throws(FileError) in try ResumableFile(path) } : nil
        self.kept = resumable?.length ?? 0
        self.file = try resumable ?? plan.output.map { path throws(FileError) in try AtomicFile(path) }
        // Whoever reads events from standard error reads nothing else there.
        self.terminal = plan.report.telling.terminal(isQuiet: plan.report.events == "-")
        self.output = StandardOutput(terminal: terminal)
        self.results = Results(
            prints: plan.total > 1 && plan.writeOut == nil,
            numbers: plan.total > 1,
            output: output,
            terminal: terminal
        )
    }

    /// Makes all calls.
    func run() async -> ExitStatus {
        let start = time.now
        let isVerbose = plan.report.telling.verbosity == .verbose
        let progress = Progress(terminal: terminal, time: time, total: plan.total, tellsWaits: !isVerbose)
        let timeline = isVerbose ? Timeline(terminal: terminal, time: time, total: plan.total) : nil
        let runtime = Runtime(time: time, store: store, classifier: plan.recovery.provider.classifier)
        let transport = plan.transport.makeTransport()
        let tokens = plan.tokens.map { $0.manager(client: renewalClient(transport, runtime)) }
        if let tokens {
            let ending = RenewalEnding(tokens, terminal: terminal, time: time)
            self.ending.withLock { $0 = ending }
        }
        let client = makeClient(transport, runtime, tokens)
        runtime.events.observe { [log, summary, terminal] event in
            if let notice = StoreNotice.line(event) { return terminal.tell(notice) }
            // What is done for a call, as a renewal is, appears under its number; its end is not the call's.
            var event = event
            if let call = event.parent {
                if case .done = event.kind { return }
                event.call = call
            }
            log.write(event)
            timeline?.note(event)
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
        if let failure = recordings?.failure {
            terminal.write("http-recover: the recordings are not complete: \(failure)")
        }
        if let failure = log.failure { terminal.write("http-recover: the events are not complete: \(failure)") }
        // The calls have ended, at a deadline too; what the server gives out for the old token is not lost with that.
        await ending.withLock { $0 }?.settle(deadline: deadline.withLock { $0 })
        return results.status
    }

    /// Whether a renewal has to be ended before the program is.
    var isFinishing: Bool { ending.withLock { $0 }?.isNeeded ?? false }

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
        if let limit = plan.recovery.deadline { deadline.withLock { $0 = time.now.advanced(by: limit.duration) } }
        var options = RequestOptions(callID: index + 1)
        if plan.recovery.replayable { options.resend = .replayable }
        if let recordings {
            let policies = PolicyChoice(plan.recovery, renews: plan.tokens != nil).json
            options.recorder = { recordings.write(["recording": $0.json, "policies": policies]) }
        }
        let attempts = plan.measures ? AttemptLog(time) : nil
        if let attempts { options.attemptLayers.append(attempts) }
        let result = await result(of: request, options, client)
        results.finish(index, attempts.map { told(result, by: $0, about: request) } ?? result)
    }

    /// Makes the call and shows its body.
    private func result(
        of request: HTTPRequest,
        _ options: RequestOptions,
        _ client: RecoveringClient
    ) async -> CallResult {
        let name = "\(request.method) \(request.redactedURL)"
        do {
            let response = try await client.send(request, body: plan.body, options: options)
            try file?.commit()
            if plan.total == 1 { hint(at: response) }
            return CallResult(status: response.status.code, exit: .ofRequest(response.outcome))
        } catch let error as RecoveryError {
            if error.reason == .notRecoverable, let failure = error.cause as? Credentials.StoreError {
                return CallResult(exit: .badInput, message: ["\(failure)"])
            }
            if plan.total == 1 { await show(error.response) }
            // Who stops reading, as `head` does, knows it and needs no message.
            let isUnread = error.outcome.transportError?.code == .outputClosed
            let lines =
                isUnread ? [] : FailureText.lines(error, request: name, now: time.wallTime).map { ScreenText($0) }
            return CallResult(status: Self.status(of: error), exit: .ofRequest(error), message: lines)
        } catch is CancellationError {
            return CallResult(exit: .interrupted)
        } catch let error as Credentials.StoreError {
            return CallResult(exit: .badInput, message: ["\(error)"])
        } catch {
            return CallResult(exit: .transferFailed, message: ["\(name): \(error)"])
        }
    }

    /// The result with what is to be told of its attempts.
    private func told(_ result: CallResult, by attempts: AttemptLog, about request: HTTPRequest) -> CallResult {
        var result = result
        if plan.report.timings {
            for (index, timings) in attempts.timings.enumerated() { result.timings += timings.lines(number: index + 1) }
        }
        if let format = plan.writeOut {
            var values = attempts.values(of: request)
            values.exitCode = result.exit.rawValue
            values.errorMessage = result.message.first?.description ?? ""
            result.written = format.parts(values)
        }
        return result
    }

    /// The status of the answer that a failed call is left with; nil if it is left without one.
    ///
    /// A call whose token could not be renewed is left with the refusal.
    private static func status(of error: RecoveryError) -> Int? {
        error.response?.status.code ?? error.history.attempts.last?.status
    }

    /// Prints the body of an error, as far as it was read.
    private func show(_ response: RecoveredResponse?) async {
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
    private func hint(at response: RecoveredResponse) {
        guard terminal.tellsProgress, !plan.followsRedirects, Redirects.isRedirect(response) else { return }
        output.endLine()
        terminal.tell("HTTP \(response.status.code): a redirect; --location follows it.")
    }

    /// The client of the calls.
    private func makeClient(
        _ transport: any HTTPTransport,
        _ runtime: Runtime,
        _ tokens: TokenManager?
    ) -> RecoveringClient {
        let middlewares = middlewares(tokens)
        return RecoveringClient(transport: transport, runtime: runtime) { middlewares }
    }

    /// The client of the renewals, which renews nothing by itself; its calls are none of those that are counted.
    private func renewalClient(_ transport: any HTTPTransport, _ runtime: Runtime) -> RecoveringClient {
        var runtime = runtime
        runtime.events = RecoveryEvent.Hub()
        runtime.events.observe { [terminal] event in
            guard case .wait(_, let duration, _) = event.kind, terminal.tellsProgress else { return }
            terminal.tell("renewing the token: waiting \(HumanTime.text(duration))")
        }
        let recovery = plan.recovery.noRecovery ? [] : [engine(nil) as any ClientLayer]
        let timeout = plan.recovery.timeout
        return RecoveringClient(transport: transport, runtime: runtime) {
            recovery
            timeout
        }
    }

    /// The layers around the transport, the outermost first.
    private func middlewares(_ tokens: TokenManager?) -> [any ClientLayer] {
        var layers: [any ClientLayer] = []
        if let deadline = plan.recovery.deadline { layers.append(Deadline(deadline.duration)) }
        let followsRedirects = plan.followsRedirects
        if followsRedirects { layers.append(Redirects()) }
        let delivery = RecoveringClient.Download(
            to: SinkTarget(sink),
            limit: plan.maxBody,
            resumes: plan.resumes,
            continuingAt: kept
        ) { followsRedirects && Redirects.isRedirect($0) }
        // Of attempts that run beside each other only the one that counts may write.
        if plan.recovery.hedge != nil { layers.append(delivery) }
        if !plan.recovery.noRecovery {
            let pacing = plan.recovery.provider.pacing
            layers.append(engine(tokens, pacing: pacing))
            if let pacing { layers.append(pacing.learning) }
        }
        if let tokens, let audience = plan.tokens?.audience { layers.append(Authorization(tokens, audience: audience)) }
        layers.append(plan.recovery.timeout)
        if plan.recovery.hedge == nil { layers.append(delivery) }
        return layers
    }

    private var sink: any ByteSink {
        if plan.total > 1 { return DiscardingSink() }
        if let file { return file }
        return output
    }

    private func engine(_ tokens: TokenManager?, pacing: FacebookPacing? = nil) -> Recovery {
        let options = plan.recovery
        let policies = PolicyChoice(options, renews: tokens != nil).policies(tokens)
        return Recovery(
            maxAttempts: options.maxAttempts,
            maxWait: options.maxWait.duration,
            budget: .ratio(.init(ratio: options.budgetRatio, burst: options.budgetBurst)),
            hedging: options.hedge.map { Recovery.Hedging(after: $0.duration) },
            admissions: (options.circuitBreaker.map { [$0] } ?? []) + (pacing.map { [$0] } ?? [])
        ) { policies }
    }
}

extension RecoveryOptions {
    /// The bounds of an attempt.
    var timeout: AttemptTimeout { AttemptTimeout(attemptTimeout.duration, idle: idleTimeout?.duration) }

    /// The breaker; nil for none.
    fileprivate var circuitBreaker: (any Admission)? {
        breaker.map { breaker in
            Recovery.CircuitBreaker(
                Recovery.CircuitBreaker.Configuration(
                    window: .time(max(.seconds(60), attemptTimeout.duration * 2)),
                    failureRatio: breaker.ratio,
                    minimumCalls: breaker.minimumCalls,
                    breakDuration: breaker.openTime
                ),
                isShared: true
            )
        }
    }
}
