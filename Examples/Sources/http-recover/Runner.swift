import AuthRecovery
import CommandLineSupport
import FacebookAuth
import Glibc
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
    private let deliveries: Deliveries
    /// The place of a single answer, which is opened before anything is sent.
    private let single: CallOutput?
    /// The files that are being written.
    private let files = Locked<[Int: any FileSink]>([:])
    private let heads: AtomicFile?
    private let recordings: LineFile?
    private let summary = Summary()
    private let time = TimeSource.system
    private let nextCall = Atomic(0)
    private let results: Results
    private let progress: Progress
    private let store: any RecoveryStore
    /// What is to be ended before the program is, if tokens are renewed.
    private let ending = Locked<RenewalEnding?>(nil)
    /// Until when the call may take that was begun last.
    private let deadline = Locked<TimeSource.Instant?>(nil)

    /// Opens what the plan writes to.
    init(_ plan: CallPlan) throws {
        self.plan = plan
        self.log = try EventLog(plan.report.events)
        self.store = try plan.state.place().open()
        self.recordings = try plan.report.record.map { path throws(FileError) in try LineFile(path) }
        // Whoever reads events from standard error reads nothing else there.
        self.terminal = plan.telling.terminal(
            isQuiet: plan.report.events == "-",
            isSilent: plan.report.silent
        )
        self.output = StandardOutput(terminal: terminal)
        self.progress = Progress(
            terminal: terminal,
            time: time,
            total: plan.total,
            tellsWaits: !plan.telling.isVerbose
        )
        self.deliveries = Deliveries(followsRedirects: plan.followsRedirects)
        self.heads = try plan.outputs.openHeads()
        self.single = try plan.total == 1 ? Self.place(0, plan.outputs, output) : nil
        if let file = single?.file { files.withLock { $0[0] = file } }
        self.results = Results(
            prints: plan.total > 1 && plan.writeOut == nil,
            numbers: plan.total > 1,
            heads: heads ?? (plan.outputs.showsHeadsAlone ? output : nil),
            output: output,
            terminal: terminal
        )
    }

    /// Makes all calls.
    func run() async -> ExitStatus {
        let start = time.now
        tellOfBudget()
        let isVerbose = plan.telling.isVerbose
        let timeline = isVerbose ? Timeline(terminal: terminal, time: time, total: plan.total) : nil
        let runtime = Runtime(time: time, store: store, classifier: plan.recovery.provider.classifier)
        let transport = plan.transport.makeTransport()
        let tokens = plan.tokens.map { $0.manager(client: renewalClient(transport, runtime)) }
        if let tokens {
            let ending = RenewalEnding(tokens, terminal: terminal, time: time)
            self.ending.withLock { $0 = ending }
        }
        let client = makeClient(transport, runtime, tokens)
        runtime.events.observe { [log, summary, terminal, progress] event in
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
            group.addTask { await self.progress.run() }
            await self.work(client)
            group.cancelAll()
        }
        terminal.showStatus(nil)
        log.cancelOpenCalls(upTo: plan.total, at: time.now)
        abandonFiles()
        if Task.isCancelled { results.add(.interrupted) }
        results.commitHeads()
        if !terminal.isQuiet, !plan.report.isSilent { results.tell(on: terminal) }
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
        abandonFiles()
        heads?.abandon()
        log.cancelOpenCalls(upTo: plan.total, at: time.now)
    }

    private func abandonFiles() {
        for file in files.withLock({ $0 }).values { file.abandon() }
    }

    /// The place of an answer, open.
    private static func place(_ index: Int, _ plan: OutputPlan, _ output: StandardOutput) throws -> CallOutput {
        let place = plan.places[index % plan.places.count]
        let open = try plan.open(place)
        return CallOutput(place, file: open?.file, kept: open?.kept ?? 0, parts: plan.parts, output: output)
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
        if let limit = plan.settings.deadline { deadline.withLock { $0 = time.now.advanced(by: limit) } }
        var options = RequestOptions(callID: index + 1)
        if plan.recovery.replayable { options.resend = .replayable }
        if let recordings {
            let policies = plan.policies.json
            options.recorder = { recordings.write(["recording": $0.json, "policies": policies]) }
        }
        if let limit = plan.recovery.retryTime {
            options.sendBy = RequestOptions.SendBy(time.wallTime.advanced(by: limit))
        }
        let attempts = plan.measures ? AttemptLog(time) : nil
        if let attempts { options.attemptLayers.append(attempts) }
        if plan.telling.isVerbose { options.attemptLayers.append(Conversation(terminal: terminal)) }
        if plan.total == 1, terminal.isInteractive {
            options.attemptLayers.append(BodyMeter { [progress] in progress.note($0, of: index + 1) })
        }
        var result: CallResult
        do {
            let place = try single ?? Self.place(index, plan.outputs, output)
            files.withLock { $0[index] = place.file }
            deliveries.begin(index + 1, place, limit: plan.outputs.maxBody, resumes: plan.outputs.resumes)
            result = await self.result(of: request, options, client, place)
            deliveries.end(index + 1)
            files.withLock { $0.removeValue(forKey: index) }?.abandon()
            if let attempts { result = told(result, by: attempts, about: request, place, number: index) }
            result.isShown = place.isShown
            if heads != nil || plan.outputs.showsHeadsAlone { result.heads = place.headBytes }
        } catch {
            result = CallResult(exit: .badInput, message: ["\(error)"])
        }
        results.finish(index, result)
    }

    /// Says at the start what the retry budget leaves of the attempts that the person has asked for.
    private func tellOfBudget() {
        let (recovery, retries) = (plan.recovery, plan.settings.maxAttempts - 1)
        guard case .ratio(let budget) = plan.settings.budget, !recovery.noRecovery, retries > budget.burst,
            recovery.maxAttempts != nil || recovery.retry != nil,
            !terminal.isQuiet, !plan.report.silent, plan.telling.verbosity != .quiet
        else { return }
        terminal.tell(
            """
            The retry budget of a server begins with \(budget.burst) retries and gets \(budget.ratio) for each call: it may \
            end a call before \(retries + 1) attempts. --budget-burst \(retries) allows them all.
            """
        )
    }

    /// Makes the call and shows its body.
    private func result(
        of request: HTTPRequest,
        _ options: RequestOptions,
        _ client: RecoveringClient,
        _ place: CallOutput
    ) async -> CallResult {
        let name = "\(request.method) \(request.redactedURL)"
        do {
            let response = try await client.send(request, body: plan.body, options: options)
            try place.finish()
            if plan.total == 1 { hint(at: response) }
            return CallResult(status: response.status.code, exit: .ofRequest(response.outcome))
        } catch let error as RecoveryError {
            if error.reason == .notRecoverable, let failure = error.cause as? Credentials.StoreError {
                return CallResult(exit: .badInput, message: ["\(failure)"])
            }
            let loss = await place.show(error.response, limit: plan.outputs.maxBody ?? .max)
            // Who stops reading, as `head` does, knows it and needs no message.
            let isUnread = error.outcome.transportError?.code == .outputClosed
            let lines =
                isUnread
                ? []
                : FailureText.lines(error, request: name, now: time.wallTime, bound: bound(of: error))
                    .map { ScreenText($0) }
            return CallResult(
                status: Self.status(of: error),
                exit: exit(error),
                message: lines + (loss.map { [$0] } ?? [])
            )
        } catch is CancellationError {
            return CallResult(exit: .interrupted)
        } catch let error as Credentials.StoreError {
            return CallResult(exit: .badInput, message: ["\(error)"])
        } catch let error as FileError where error.code == EPIPE {
            return CallResult(exit: .transferFailed)
        } catch {
            return CallResult(exit: .transferFailed, message: ["\(name): \(error)"])
        }
    }

    /// The option whose time has run out, if one's has: an attempt that was cut off was so by the call's.
    private func bound(of error: RecoveryError) -> String {
        let isCutOff = error.kind == .timedOut && error.outcome.transportError?.code != .sendLimitPassed
        if plan.retriesEndFirst, !isCutOff { return "--retry-max-time" }
        return plan.recovery.deadline == nil && plan.settings.deadline != nil ? "The policy's deadline_s" : "--deadline"
    }

    /// What a failure means for the program; as in curl, the end of the time for retries is no failure of its own.
    private func exit(_ error: RecoveryError) -> ExitStatus {
        plan.retriesEndFirst && [.deadlineWouldPass, .deadlinePassed].contains(error.reason)
            ? .ofRequest(error.outcome) : .ofRequest(error)
    }

    /// The result with what is to be told of its attempts.
    private func told(
        _ result: CallResult,
        by attempts: AttemptLog,
        about request: HTTPRequest,
        _ place: CallOutput,
        number: Int
    ) -> CallResult {
        var result = result
        if plan.report.timings {
            for (index, timings) in attempts.timings.enumerated() { result.timings += timings.lines(number: index + 1) }
        }
        if let format = plan.writeOut {
            var values = attempts.values(of: request, followsRedirects: plan.followsRedirects)
            values.headBytes = place.headBytes.count
            values.fileName = place.path ?? ""
            values.number = number % plan.requests.count
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
        let timeout = plan.settings.timeout
        return RecoveringClient(transport: transport, runtime: runtime) {
            recovery
            timeout
        }
    }

    /// The layers around the transport, the outermost first.
    private func middlewares(_ tokens: TokenManager?) -> [any ClientLayer] {
        var layers: [any ClientLayer] = []
        if let deadline = plan.settings.deadline { layers.append(Deadline(deadline)) }
        if let redirects = plan.redirects { layers.append(redirects) }
        // Of attempts that run beside each other only the one that counts may write.
        if plan.settings.hedging != nil { layers += deliveries.layers }
        if !plan.recovery.noRecovery {
            let pacing = plan.recovery.provider.pacing
            layers.append(engine(tokens, pacing: pacing))
            if let pacing { layers.append(pacing.learning) }
        }
        if let tokens, let audience = plan.tokens?.audience { layers.append(Authorization(tokens, audience: audience)) }
        layers.append(plan.settings.timeout)
        if let form = plan.settings.attemptNumber {
            layers.append(RecoveringClient.AttemptNumber(form, maxAttempts: plan.settings.maxAttempts))
        }
        if plan.settings.hedging == nil { layers += deliveries.layers }
        return layers
    }

    private func engine(_ tokens: TokenManager?, pacing: FacebookPacing? = nil) -> Recovery {
        let settings = plan.settings
        let policies = plan.policies.policies(tokens)
        return Recovery(
            maxAttempts: settings.maxAttempts,
            maxWait: settings.maxWait,
            budget: settings.budget,
            hedging: settings.hedging,
            resendsTransparently: settings.resendsTransparently,
            admissions: settings.admissions() + (pacing.map { [$0] } ?? [])
        ) { policies }
    }
}
