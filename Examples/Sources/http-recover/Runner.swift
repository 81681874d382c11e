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
    let plan: CallPlan
    private let log: EventLog
    let terminal: Terminal
    private let output: StandardOutput
    let deliveries: Deliveries
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
    /// The calls for which a renewal was made.
    private let renewed = Locked<Set<Int>>([])
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
        let bare = plan.transport.makeTransport()
        let transport: any HTTPTransport = plan.streams ? GatheringTransport(bare) : bare
        let tokens = plan.tokens.map { $0.manager(client: renewalClient(transport, runtime)) }
        if let tokens {
            let ending = RenewalEnding(tokens, terminal: terminal, time: time)
            self.ending.withLock { $0 = ending }
        }
        let client = makeClient(transport, runtime, tokens)
        runtime.events.observe { [log, summary, terminal, progress, renewed] event in
            if let notice = StoreNotice.line(event) { return terminal.tell(notice) }
            // What is done for a call, as a renewal is, appears under its number; its end is not the call's.
            var event = event
            if let call = event.parent {
                if case .done = event.kind { return }
                event.call = call
            }
            if case .refresh = event.kind { renewed.withLock { _ = $0.insert(event.call) } }
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
        tell(recordings?.failure, "the recordings are not complete")
        tell(log.failure, "the events are not complete")
        // The calls have ended, at a deadline too; what the server gives out for the old token is not lost with that.
        await ending.withLock { $0 }?.settle(deadline: deadline.withLock { $0 })
        return results.status
    }

    /// Tells that something was not written, if anybody would have read it.
    private func tell(_ failure: FileError?, _ what: ScreenText) {
        guard let failure, failure.code != EPIPE else { return }
        terminal.write("http-recover: \(what): \("\(failure)", limit: 600)")
        results.add(.badInput)
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
                    while !Task.isCancelled, !self.results.isOver {
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
        let end = plan.settings.deadline.map { time.now.advanced(by: $0) }
        if end != nil { deadline.withLock { $0 = end } }
        var options = RequestOptions(callID: index + 1)
        if plan.recovery.replayable { options.resend = .replayable }
        if plan.streams { options.buffering = .streamed }
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
            place.begin(until: end)
            deliveries.begin(
                index + 1,
                place,
                limit: plan.outputs.maxBody,
                resumes: plan.outputs.resumes,
                holdingFor: place.isShown || place.file != nil ? plan.holdsFor : nil
            )
            result = await self.result(of: request, options, client, place)
            if result.exit != .success { await showRemainder(of: place, &result) }
            deliveries.end(index + 1)
            await place.abandon()
            files.withLock { _ = $0.removeValue(forKey: index) }
            if let attempts { result = told(result, by: attempts, about: request, place, number: index) }
            result.isShown = place.isShown
            if heads != nil || plan.outputs.showsHeadsAlone { result.heads = place.headBytes }
        } catch {
            result = CallResult(exit: .badInput, message: ["\(error)"])
            tellOfEnd(index + 1, of: request, to: client.runtime.events)
            if let attempts { result = told(result, by: attempts, about: request, nil, number: index) }
        }
        await results.finish(index, result)
    }

    /// Tells those who watch of the end of a call for which nothing could be sent, as the client does of others.
    private func tellOfEnd(_ number: Int, of request: HTTPRequest, to events: RecoveryEvent.Hub) {
        let outcome = Outcome(.misconfigured, processed: .no, remedies: [.fixRequest])
        let kinds: [RecoveryEvent.Kind] = [
            .givingUp(outcome, reason: .notRecoverable, retryAfter: nil, until: nil),
            .done(.failed, attempts: 0, waited: .zero, elapsed: .zero),
        ]
        for kind in kinds {
            events.emit(
                RecoveryEvent(
                    call: number,
                    method: request.method.rawValue,
                    url: request.redactedURL,
                    time: time.now,
                    kind: kind
                )
            )
        }
    }

    /// Writes what has come of an answer that broke off.
    private func showRemainder(of place: CallOutput, _ result: inout CallResult) async {
        do {
            try await place.showRemainder(limit: plan.outputs.maxBody ?? .max)
        } catch let error as FileError where error.code == EPIPE {
            result.isUnread = true
        } catch is BlockingWork.TimedOut {
            return
        } catch {
            if result.message.isEmpty { result.message = ["\(error)"] } else { result.loss = "\(error)" }
        }
    }

    /// Says at the start what the retry budget leaves of the attempts that the person has asked for.
    private func tellOfBudget() {
        let (recovery, retries) = (plan.recovery, plan.settings.maxAttempts - 1)
        guard case .ratio(let budget) = plan.settings.budget, !recovery.noRecovery, retries > budget.burst,
            recovery.maxAttempts != nil || recovery.retry != nil || recovery.policy != nil,
            !terminal.isQuiet, !plan.report.silent, plan.telling.verbosity != .quiet
        else { return }
        let advice = retries > CallPlan.largestBurst ? "" : " --budget-burst \(retries) allows them all."
        terminal.tell(
            """
            The retry budget of a server begins with \(budget.burst) retries and gets \(budget.ratio) for each call: it may \
            end a call before \(retries + 1) attempts.\(advice)
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
        let began = time.now
        do {
            let response = try await client.send(request, body: plan.body, options: options)
            try await place.finish()
            if plan.total == 1 { hint(at: response) }
            return CallResult(status: response.status.code, head: response.head, exit: .ofRequest(response.outcome))
        } catch let error as RecoveryError {
            let bound = bound(of: error, after: began.duration(to: time.now))
            if error.reason == .notRecoverable, let failure = error.cause as? Credentials.StoreError {
                return CallResult(exit: .badInput, message: ["\(failure)"])
            }
            let loss = await place.show(error.response, limit: plan.outputs.maxBody ?? .max)
            // Who stops reading, as `head` does, knows it and needs no message.
            let isUnread = error.outcome.transportError?.code == .outputClosed
            let renewal = renewal(behind: error, of: options.callID)
            var lines: [ScreenText] = []
            if !isUnread {
                let subject = renewal ?? name
                lines = FailureText.lines(error, request: subject, now: time.wallTime, bound: bound)
                    .map { ScreenText($0) }
                if renewal != nil, let status = error.history.attempts.last?.status {
                    lines.append(
                        "The token was to be renewed since \(name, limit: 300) was answered with HTTP \(status)."
                    )
                } else if renewal == nil, error.reason == .repairFailed, await plan.tokens?.cannotRenew == true {
                    lines.append("The token file has no refresh_token to renew it with.")
                }
            }
            return CallResult(
                status: Self.status(of: error),
                head: error.response?.head,
                exit: exit(error),
                message: lines,
                loss: loss,
                isUnread: isUnread
            )
        } catch is CancellationError {
            return CallResult(exit: .interrupted)
        } catch is BlockingWork.TimedOut {
            return CallResult(exit: .timedOut, message: ["\(name): nobody takes the output"])
        } catch let error as Credentials.StoreError {
            return CallResult(exit: .badInput, message: ["\(error)"])
        } catch let error as FileError where error.code == EPIPE {
            return CallResult(exit: .transferFailed, isUnread: true)
        } catch let error as FileError where plan.outputs.parts.isHeadOnly {
            return CallResult(exit: .badInput, message: ["\(error)"])
        } catch {
            return CallResult(exit: .transferFailed, message: ["\(name): \(error)"])
        }
    }

    /// The renewal that a call has failed with, as it was sent; nil if it has failed with something else.
    private func renewal(behind error: RecoveryError, of call: Int?) -> String? {
        guard let endpoint = plan.tokens?.endpoint, error.reason == .repairFailed || error.cause is RecoveryError,
            let call, renewed.withLock({ $0.contains(call) })
        else { return nil }
        return "POST \(endpoint.url)"
    }

    /// The limit of time that has ended a call or its last attempt, if one has.
    private func bound(of error: RecoveryError, after taken: Duration) -> TimeBound? {
        let isCutOff = error.kind == .timedOut && error.outcome.transportError?.code != .sendLimitPassed
        if plan.retriesEndFirst, !isCutOff { return TimeBound(.call, setBy: "--retry-max-time") }
        let limits = plan.timeLimits
        if [.deadlineWouldPass, .deadlinePassed].contains(error.reason) { return limits.first?.bound }
        return TimeBound.ending(error, after: taken, among: limits)
    }

    /// What a failure means for the program; as in curl, the end of the time for retries is no failure of its own.
    private func exit(_ error: RecoveryError) -> ExitStatus {
        // Heads by themselves are no body of a transfer.
        if plan.outputs.parts.isHeadOnly, error.outcome.transportError?.code == .outputFailed { return .badInput }
        return plan.retriesEndFirst && [.deadlineWouldPass, .deadlinePassed].contains(error.reason)
            ? .ofRequest(error.outcome) : .ofRequest(error)
    }

    /// The result with what is to be told of its attempts.
    private func told(
        _ result: CallResult,
        by attempts: AttemptLog,
        about request: HTTPRequest,
        _ place: CallOutput?,
        number: Int
    ) -> CallResult {
        var result = result
        if plan.report.timings {
            for (index, timings) in attempts.timings.enumerated() { result.timings += timings.lines(number: index + 1) }
        }
        if let format = plan.writeOut {
            var values = attempts.values(of: request, answer: result.head, followsRedirects: plan.followsRedirects)
            values.headBytes = place?.headBytes.count ?? 0
            values.fileName = plan.outputs.places[number % plan.outputs.places.count].path ?? ""
            values.number = number % plan.requests.count
            values.asked = plan.asked[values.number]
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
}
