import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// A batch on its way: sends it, judges each answer, and sends again what failed and may be sent again.
struct FacebookBatchRun {
    /// The most requests of one batch.
    static let maximumCount = 50

    let api: GraphAPI
    let requests: [FacebookBatchRequest]
    let token: FacebookToken
    let maxAttempts: Int
    let send: (GraphAPI.Call) async throws -> Response

    private(set) var answers: [FacebookBatchAnswer?]

    init(
        api: GraphAPI,
        requests: [FacebookBatchRequest],
        token: FacebookToken,
        maxAttempts: Int,
        send: @escaping (GraphAPI.Call) async throws -> Response
    ) {
        self.api = api
        self.requests = requests
        self.token = token
        self.maxAttempts = max(1, maxAttempts)
        self.send = send
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
            } catch let error as RecoveryError where round > 1 {
                // What came before counts; the others keep the failure that they had, or get this one.
                for index in open where answers[index] == nil {
                    answers[index] = FacebookBatchAnswer(outcome: error.outcome, head: nil, body: .empty, attempts: 0)
                }
                break
            }
            guard api.configuration.recoversFromErrors, round < maxAttempts else { break }
            pending = requests.indices.filter { mayRepeat($0) }
            if !pending.isEmpty, try await !pause(before: pending, round: round) { break }
        }
        return answers.map { answer in
            answer ?? FacebookBatchAnswer(outcome: Self.missing, head: nil, body: .empty, attempts: 1)
        }
    }

    // MARK: Sending

    /// Those that no closed gate holds; the others get its outcome without being sent.
    private mutating func heldBack(_ indices: [Int]) async throws -> [Int] {
        var open: [Int] = []
        for index in indices {
            let scopes = try await scopes(of: requests[index])
            if let gate = await api.client.runtime.state.closedGate(among: scopes.keys) {
                let left = gate.opensAt?.elapsed(since: api.client.runtime.time.wallTime)
                var outcome = Outcome(gate.reason, scope: gate.key.scope, processed: .no, remedies: [.wait])
                (outcome.retryAfter, outcome.code) = (left.map { max(.zero, $0) }, gate.code)
                let attempts = answers[index]?.attempts ?? 0
                answers[index] = FacebookBatchAnswer(outcome: outcome, head: nil, body: .empty, attempts: attempts)
            } else {
                open.append(index)
            }
        }
        return open
    }

    private mutating func sendOnce(_ indices: [Int]) async throws {
        let items = try indices.map { try encoded(requests[$0]) }
        var form = FormFields()
        form.add("batch", secret: Secret(JSONValue.array(items).description))
        form.add("include_headers", "true")
        let isSafe = indices.allSatisfy { isReplayable(requests[$0]) }
        let response = try await send(
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
        for (index, element) in zip(indices, elements) {
            answers[index] = await judge(element, index)
        }
    }

    private func judge(_ element: JSONValue, _ index: Int) async -> FacebookBatchAnswer {
        let request = requests[index]
        let attempts = (answers[index]?.attempts ?? 0) + 1
        guard let item = FacebookBatchItem(element) else {
            let isOmitted = element.isNull && request.name != nil && request.omitsAnswerOnSuccess
            let outcome =
                isOmitted
                ? Outcome(.ok, processed: .yes)
                : element.isNull
                    ? Outcome(.unavailable, processed: .unknown, remedies: [.retry])
                    : Outcome(.unreadable, processed: .unknown)
            return FacebookBatchAnswer(outcome: outcome, head: nil, body: .empty, attempts: attempts)
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
            attempts: attempts
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

    /// Whether a request failed in a way that passes, and may be sent again.
    ///
    /// It may where it was not done, or doing it twice does no harm. One that needs another's answer is not sent without it.
    private func mayRepeat(_ index: Int) -> Bool {
        guard let answer = answers[index], answer.attempts > 0, requests[index].dependsOn == nil else { return false }
        let outcome = answer.outcome
        guard outcome.remedies.contains(.retry) || outcome.remedies.contains(.wait) else { return false }
        return outcome.processed == .no || isReplayable(requests[index])
    }

    /// Waits before the next round, where nothing states a time; stated ones are kept by the gates.
    ///
    /// - Returns: Whether there is anything to send after it.
    private func pause(before indices: [Int], round: Int) async throws -> Bool {
        let runtime = api.client.runtime
        let stated = indices.compactMap { answers[$0]?.outcome.retryAfter }
        let hasUnstated = stated.count < indices.count
        let backoff = Backoff.exponential(base: .milliseconds(500), jitter: .equal)
        let delay = backoff.delay(retry: round - 1, random: runtime.random.unit())
        // A long wait is told, not slept: those that have to wait keep their outcome.
        guard hasUnstated || stated.min().map({ $0 <= .seconds(30) }) ?? false else { return false }
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

    // MARK: Scopes

    private func scopes(of request: FacebookBatchRequest) async throws -> FacebookScopes {
        let path = "/" + String(request.path.prefix { $0 != "?" }.drop { $0 == "/" })
        return FacebookScopes(
            origin: api.server.origin,
            endpoint: api.classifier.endpointClass(method: request.method, path: path),
            credential: try await api.credentialID(of: request.token.map { .user($0) } ?? token)
        )
    }

    private static var missing: Outcome { Outcome(.unreadable, processed: .unknown) }
}
