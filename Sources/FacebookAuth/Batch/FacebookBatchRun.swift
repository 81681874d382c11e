import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// A batch on its way: sends it, judges each answer, and sends again what failed and may be sent again.
struct FacebookBatchRun {
    /// The most requests of one batch.
    static let maximumCount = 50

    /// The longest that is waited for a stated time; a longer one is told, not slept.
    private static let longestWait: Duration = .seconds(30)

    let api: GraphAPI
    let requests: [FacebookBatchRequest]
    let token: FacebookToken
    let maxAttempts: Int
    /// Sends a batch, and tells what was presented with it.
    let send: (GraphAPI.Call) async throws -> (Response, FacebookAuthorization.Presented?)

    private let graph: FacebookBatchGraph
    private(set) var answers: [FacebookBatchAnswer?]
    /// What was presented where the token of the batch was refused, and by which request's answer.
    private var refusal: (presented: FacebookAuthorization.Presented, index: Int)?

    init(
        api: GraphAPI,
        requests: [FacebookBatchRequest],
        token: FacebookToken,
        maxAttempts: Int,
        send: @escaping (GraphAPI.Call) async throws -> (Response, FacebookAuthorization.Presented?)
    ) {
        self.api = api
        self.requests = requests
        self.token = token
        self.maxAttempts = max(1, maxAttempts)
        self.send = send
        graph = FacebookBatchGraph(requests)
        answers = requests.map { _ in nil }
    }

    /// Runs it to its end.
    mutating func callAsFunction() async throws -> [FacebookBatchAnswer] {
        var pending = Array(requests.indices)
        var round = 0
        while !pending.isEmpty {
            round += 1
            let open = try await heldBack(pending)
            do {
                if !open.isEmpty { try await sendOnce(open) }
            } catch let error where round > 1 && !(error is CancellationError) {
                // What came before counts. Of what was sent this time nobody knows more than this failure says.
                for index in open { keep(Self.answer(for: error), for: index) }
                break
            }
            guard api.configuration.recoversFromErrors, round < maxAttempts else { break }
            pending = toRepeat()
            if !pending.isEmpty, try await !pause(before: pending, round: round) { break }
        }
        try await settle()
        return answers.map { answer in
            answer ?? FacebookBatchAnswer(outcome: Self.missing, head: nil, body: .empty, attempts: 1)
        }
    }

    /// What the failure of a whole batch means for each of its requests.
    static func answer(for error: any Error) -> FacebookBatchAnswer {
        let outcome: Outcome
        var wasSent = true
        switch error {
        case let error as RecoveryError:
            outcome = error.outcome
            wasSent = !error.history.attempts.isEmpty || error.response != nil
        case let error as TransportError: outcome = .transport(error)
        default: outcome = Outcome(.unavailable, processed: .unknown)
        }
        return FacebookBatchAnswer(outcome: outcome, head: nil, body: .empty, attempts: wasSent ? 1 : 0)
    }

    // MARK: Sending

    /// Those that no closed gate holds, itself or one that they need; the others get its outcome without being sent.
    private mutating func heldBack(_ indices: [Int]) async throws -> [Int] {
        var held: [Int: Outcome] = [:]
        for index in indices {
            let scopes = try await scopes(of: requests[index])
            guard let gate = await api.client.runtime.state.closedGate(among: scopes.keys) else { continue }
            let left = gate.opensAt?.elapsed(since: api.client.runtime.time.wallTime)
            var outcome = Outcome(gate.reason, scope: gate.key.scope, processed: .no, remedies: [.wait])
            (outcome.retryAfter, outcome.code) = (left.map { max(.zero, $0) }, gate.code)
            held[index] = outcome
        }
        guard !held.isEmpty else { return indices }
        for (index, outcome) in held.sorted(by: { $0.key < $1.key }) {
            for child in graph.descendants(of: index) where held[child] == nil { held[child] = outcome }
        }
        for index in indices {
            guard let outcome = held[index] else { continue }
            keep(FacebookBatchAnswer(outcome: outcome, head: nil, body: .empty, attempts: 0), for: index)
        }
        let open = indices.filter { held[$0] == nil }
        // What is done already goes along only with those that need it again.
        return open.filter { index in
            !isDone(index) || open.contains { !isDone($0) && graph.ancestors(of: $0).contains(index) }
        }
    }

    /// Keeps an answer, with the times that the request was sent before; a success is never lost again.
    private mutating func keep(_ answer: FacebookBatchAnswer, for index: Int) {
        let attempts = (answers[index]?.attempts ?? 0) + answer.attempts
        if !isDone(index) || !answer.outcome.isFailure { answers[index] = answer }
        answers[index]?.attempts = attempts
    }

    private mutating func sendOnce(_ indices: [Int]) async throws {
        let items = try indices.map { try encoded(requests[$0]) }
        var form = FormFields()
        form.add("batch", secret: Secret(JSONValue.array(items).description))
        form.add("include_headers", "true")
        let isSafe = indices.allSatisfy { isReplayable(requests[$0]) }
        let (response, presented) = try await send(
            GraphAPI.Call(
                method: .post,
                path: "",
                form: form,
                token: token,
                resend: isSafe ? .replayable : .byMethod
            )
        )
        guard let elements = try api.json(in: response).array else { throw api.failure(.unreadable, in: response) }
        // Fewer answers than requests: nobody can tell which of them are missing.
        guard elements.count == indices.count else { throw api.failure(.unreadable, in: response) }
        var fresh: [Int: FacebookBatchAnswer] = [:]
        var open: [Int] = []
        for (index, element) in zip(indices, elements) {
            fresh[index] = await judge(element, index)
            if element.isNull { open.append(index) }
        }
        judgeUndone(open, &fresh)
        for index in indices {
            guard let answer = fresh[index] else { continue }
            keep(answer, for: index)
            if let presented { note(answer.outcome, of: index, presented) }
        }
    }

    /// Tells those that were not done, because one that they need has failed, from those that were not finished in time.
    private func judgeUndone(_ indices: [Int], _ answers: inout [Int: FacebookBatchAnswer]) {
        var open = indices
        var failed = Set(answers.keys.filter { answers[$0]?.head != nil && answers[$0]?.outcome.isFailure == true })
        while let index = open.first(where: { !graph.parents(of: $0).isDisjoint(with: failed) }) {
            open.removeAll { $0 == index }
            guard let parent = graph.parents(of: index).filter(failed.contains).min().flatMap({ answers[$0] }) else {
                continue
            }
            // It fares as that one does, and nothing of its own was done.
            var outcome = Outcome(parent.outcome.kind, processed: .no, remedies: parent.outcome.remedies)
            outcome.retryAfter = parent.outcome.retryAfter
            answers[index] = FacebookBatchAnswer(outcome: outcome, head: nil, body: .empty, attempts: 1)
            failed.insert(index)
        }
    }

    private func judge(_ element: JSONValue, _ index: Int) async -> FacebookBatchAnswer {
        let request = requests[index]
        guard let item = FacebookBatchItem(element) else {
            let isOmitted = element.isNull && request.name != nil && request.omitsAnswerOnSuccess
            let outcome =
                isOmitted
                ? Outcome(.ok, processed: .yes)
                : element.isNull
                    ? Outcome(.unavailable, processed: .unknown, remedies: [.retry])
                    : Outcome(.unreadable, processed: .unknown)
            return FacebookBatchAnswer(outcome: outcome, head: nil, body: .empty, attempts: 1)
        }
        let runtime = api.client.runtime
        var outcome = item.outcome(
            method: request.method,
            path: "/" + String(request.path.prefix { $0 != "?" }.drop { $0 == "/" }),
            presented: .access,
            now: runtime.time.wallTime,
            classifier: api.classifier
        )
        if let scopes = try? await scopes(of: request) {
            await api.pacing.learn(from: item.response.headerFields, &outcome, scopes: scopes, runtime: runtime)
            if outcome.remedies.contains(.wait), let wait = outcome.retryAfter, wait > .zero,
                let key = scopes.key(for: outcome.scope)
            {
                let opensAt = runtime.time.wallTime.advanced(by: wait)
                await runtime.state.close(
                    Gate(key: key, reason: outcome.kind, opensAt: opensAt, code: outcome.code)
                )
            }
        }
        return FacebookBatchAnswer(
            outcome: outcome,
            head: item.response,
            body: HTTPBody(item.body),
            attempts: 1
        )
    }

    /// A request as Facebook wants it: its token, and the proof for that token, go with it where it has one of its own.
    private func encoded(_ request: FacebookBatchRequest) throws -> JSONValue {
        var own = FormFields()
        if let token = request.token {
            own.add("access_token", secret: token)
            own.add(try api.proof(of: token))
        }
        var path = String(request.path.drop { $0 == "/" })
        var form = request.form
        if request.method == .post || request.method == .put || form != nil {
            if !own.names.isEmpty {
                form = form ?? FormFields()
                form?.add(own)
            }
        } else if !own.names.isEmpty {
            path += (path.contains("?") ? "&" : "?") + own.encoded
        }
        var members: [JSONValue.Member] = [
            .init("method", .string(request.method.rawValue)), .init("relative_url", .string(path)),
        ]
        if let form { members.append(.init("body", .string(form.encoded))) }
        if let name = request.name {
            members.append(.init("name", .string(name)))
            members.append(.init("omit_response_on_success", .bool(request.omitsAnswerOnSuccess)))
        }
        if let dependsOn = request.dependsOn { members.append(.init("depends_on", .string(dependsOn))) }
        return .object(members)
    }

    // MARK: Again

    private func isReplayable(_ request: FacebookBatchRequest) -> Bool {
        request.isReplayable ?? request.method.isIdempotent
    }

    private func isDone(_ index: Int) -> Bool {
        answers[index].map { !$0.outcome.isFailure } ?? false
    }

    /// Whether a request failed in a way that passes, and may be sent again: it was not done, or doing it twice does no
    /// harm.
    private func mayRepeat(_ index: Int) -> Bool {
        guard let outcome = answers[index]?.outcome, outcome.isFailure else { return false }
        guard outcome.remedies.contains(.retry) || outcome.remedies.contains(.wait) else { return false }
        return outcome.processed == .no || isReplayable(requests[index])
    }

    /// What is sent in the next round: what failed in a way that passes, with all that it needs; nothing where one of
    /// those must not be sent again.
    private func toRepeat() -> [Int] {
        var result: Set<Int> = []
        for index in requests.indices where mayRepeat(index) {
            let needed = graph.ancestors(of: index)
            let isPossible = needed.allSatisfy { mayRepeat($0) || (isDone($0) && isReplayable(requests[$0])) }
            if isPossible { result.formUnion(needed.union([index])) }
        }
        return result.sorted()
    }

    /// Waits before the next round, where nothing states a time; stated ones are kept by the gates.
    ///
    /// - Returns: Whether there is anything to send after it.
    private func pause(before indices: [Int], round: Int) async throws -> Bool {
        let runtime = api.client.runtime
        let failed = indices.filter { !isDone($0) }
        let stated = failed.compactMap { answers[$0]?.outcome.retryAfter }
        let hasUnstated = stated.count < failed.count
        let backoff = Backoff.exponential(base: .milliseconds(500), jitter: .equal)
        let delay = backoff.delay(retry: round - 1, random: runtime.random.unit())
        // A long wait is told, not slept: those that have to wait keep their outcome.
        guard hasUnstated || stated.min().map({ $0 <= Self.longestWait }) ?? false else { return false }
        let wait = hasUnstated ? delay : max(stated.min() ?? delay, delay)
        let end = runtime.time.now.advanced(by: wait)
        let kind = RecoveryEvent.Kind.wait(
            reason: hasUnstated ? .unavailable : .rateLimited,
            duration: wait,
            until: runtime.time.wallTime(at: end)
        )
        runtime.events.emit(RecoveryEvent(call: 0, time: runtime.time.now, kind: kind))
        try await runtime.time.sleep(until: end)
        return true
    }

    // MARK: The token of the batch

    /// Remembers that the token of the batch was refused, by the surest of the answers that say so.
    private mutating func note(
        _ outcome: Outcome,
        of index: Int,
        _ presented: FacebookAuthorization.Presented
    ) {
        guard requests[index].token == nil, outcome.isDefiniteRefusal, presented.version != nil else { return }
        let isSurer = refusal.flatMap { answers[$0.index]?.outcome.isAmbiguousRefusal } ?? true
        if refusal == nil || (isSurer && !outcome.isAmbiguousRefusal) { refusal = (presented, index) }
    }

    /// Finds out, once, what becomes of the token of the batch where it was refused, and tells those that it concerns.
    private mutating func settle() async throws {
        guard let refusal, let outcome = answers[refusal.index]?.outcome, outcome.isDefiniteRefusal else { return }
        do {
            try await api.settle(RecoveryError(outcome: outcome, reason: .notRecoverable), refusal.presented)
        } catch let error where !(error is CancellationError) {
            // Where Facebook has said how it stands with the token, that holds for all; else it only stays.
            let told = (error as? RecoveryError).flatMap { $0.cause == nil ? $0.outcome : nil }
            for index in requests.indices where requests[index].token == nil {
                guard answers[index]?.outcome.isDefiniteRefusal == true else { continue }
                answers[index]?.outcome.tokenAction = .keep
                if let told { answers[index]?.outcome.take(told) }
            }
        }
    }

    // MARK: Scopes

    private func scopes(of request: FacebookBatchRequest) async throws -> FacebookScopes {
        let path = "/" + String(request.path.prefix { $0 != "?" }.drop { $0 == "/" })
        return FacebookScopes(
            origin: api.server.origin,
            endpoint: api.classifier.endpointClass(method: request.method, path: path),
            credential: try await api.credentialID(of: request.token.map { .user($0) } ?? token),
            app: api.app.id
        )
    }

    private static var missing: Outcome { Outcome(.unreadable, processed: .unknown) }
}
