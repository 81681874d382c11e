import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// Performs the rounds of a batch: looks at the gates, sends, and judges each answer.
struct FacebookBatchRun {
    /// The most requests of one batch.
    static let maximumCount = 50

    let api: GraphAPI
    let requests: [FacebookBatchRequest]
    let token: FacebookToken
    let maxAttempts: Int
    /// Sends a batch, and tells what was presented with it.
    let send: (GraphAPI.Call, RecoveryOperation) async throws -> (RecoveredResponse, FacebookAuthorization.Presented?)

    /// Runs it to its end.
    func callAsFunction(in operation: RecoveryOperation) async throws -> [FacebookBatchAnswer] {
        let rounds = api.configuration.recoversFromErrors ? maxAttempts : 1
        var result = try await operation.run(FacebookBatchPlan(requests, maxAttempts: rounds)) { step, operation in
            switch step {
            case .check(let indices): .held(try await held(indices))
            case .send(let indices): try await sendOnce(indices, in: operation)
            }
        }
        try await settle(&result, in: operation)
        return result.answers.map { answer in
            answer ?? FacebookBatchAnswer(outcome: Self.missing, head: nil, body: .empty, attempts: 1)
        }
    }

    /// What the gates say that are closed for requests.
    private func held(_ indices: [Int]) async throws -> [Int: Outcome] {
        var held: [Int: Outcome] = [:]
        for index in indices {
            let scopes = try await scopes(of: requests[index])
            let keys = scopes.keys(within: api.pacing.businesses(of: scopes))
            guard let gate = await api.client.runtime.state.closedGate(among: keys) else { continue }
            held[index] = FacebookPacing.outcome(of: gate, at: api.client.runtime.time.wallTime)
        }
        return held
    }

    private func sendOnce(_ indices: [Int], in operation: RecoveryOperation) async throws -> FacebookBatchPlan.Answer {
        let items = try indices.map { try encoded(requests[$0]) }
        // Known before: what the answers state is kept also where the tokens cannot be read any more, or nobody waits.
        var scopes: [FacebookScopes] = []
        for index in indices { scopes.append(try await self.scopes(of: requests[index])) }
        var form = FormFields()
        form.add("batch", secret: Secret(JSONValue.array(items).description))
        form.add("include_headers", "true")
        let isSafe = indices.allSatisfy { requests[$0].mayBeSentTwice }
        let call = GraphAPI.Call(
            method: .post,
            path: "",
            body: .form(form),
            token: token,
            resend: isSafe ? .replayable : .byMethod,
            readsAlone: indices.allSatisfy { requests[$0].isRead }
        )
        let (response, presented) = try await send(call, operation)
        guard let elements = try api.json(in: response).array else { throw RecoveryError(.unreadable, in: response) }
        // Fewer answers than requests: nobody can tell which of them are missing.
        guard elements.count == indices.count else { throw RecoveryError(.unreadable, in: response) }
        var answers: [Int: FacebookBatchAnswer] = [:]
        for ((index, element), scopes) in zip(zip(indices, elements), scopes) {
            answers[index] = await judge(element, index, scopes)
        }
        let open = zip(indices, elements).filter { $1.isNull }.map { $0.0 }
        return .sent(answers, unanswered: open, presented)
    }

    private func judge(_ element: JSONValue, _ index: Int, _ scopes: FacebookScopes) async -> FacebookBatchAnswer {
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
            presented: request.token == nil ? token.presents : .access,
            now: runtime.time.wallTime,
            classifier: api.classifier
        )
        await api.pacing.learn(from: item.response.headerFields, &outcome, scopes: scopes, runtime: runtime)
        if outcome.remedies.contains(.wait), let wait = outcome.retryAfter, wait > .zero,
            let key = scopes.key(for: outcome.scope)
        {
            let opensAt = runtime.time.wallTime.advanced(by: wait)
            await runtime.state.close(
                SharedState.Gate(key: key, reason: outcome.kind, opensAt: opensAt, code: outcome.code)
            )
        }
        return FacebookBatchAnswer(
            outcome: outcome,
            head: item.response,
            body: MessageBody(item.body),
            attempts: 1
        )
    }

    /// A request as Facebook wants it: its token, and the proof for that token, go with it if it has one of its own.
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
            path = path.addingQuery(own.encoded)
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

    // MARK: The token of the batch

    /// Finds out, once, what becomes of the token of the batch if it was refused, and tells those that it concerns.
    private func settle(_ result: inout FacebookBatchPlan.Result, in operation: RecoveryOperation) async throws {
        guard let refusal = result.refusal, let outcome = result.answers[refusal.index]?.outcome,
            outcome.isDefiniteRefusal, let version = refusal.presented.version
        else { return }
        do {
            let error = RecoveryError(outcome: outcome, reason: .notRecoverable)
            if try await api.within(operation).settle(error, version: version) { operation.emit(.clear(.access)) }
        } catch let error where !(error is CancellationError) {
            // If Facebook has said how it stands with the token, that holds for all; else it only stays.
            let told = (error as? RecoveryError).flatMap { $0.cause == nil ? $0.outcome : nil }
            for index in requests.indices where requests[index].token == nil {
                guard result.answers[index]?.outcome.isDefiniteRefusal == true else { continue }
                result.answers[index]?.outcome.tokenAction = .keep
                if let told { result.answers[index]?.outcome.take(told) }
            }
        }
    }

    // MARK: Scopes

    private func scopes(of request: FacebookBatchRequest) async throws -> FacebookScopes {
        let credential = try await api.credentialID(of: request.token.map { .user($0) } ?? token)
        let head = api.server.request(request.method, path: request.path)
        return FacebookScopes(
            origin: api.server.origin,
            endpoint: api.endpointClass(of: head, credential: credential),
            credential: credential,
            app: api.app.id
        )
    }

    private static var missing: Outcome { Outcome(.unreadable, processed: .unknown) }
}

extension FacebookBatchRequest {
    /// Whether doing it twice does no harm.
    var mayBeSentTwice: Bool { isReplayable ?? method.isIdempotent }
}
