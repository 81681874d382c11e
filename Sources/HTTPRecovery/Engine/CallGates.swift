import HTTPTypes

/// The gates that one call stands before, by the scopes that an outcome can have.
struct CallGates: Sendable {
    private let origin: Origin
    private let request: HTTPRequest
    private let context: CallContext

    init(origin: Origin, request: HTTPRequest, context: CallContext) {
        self.origin = origin
        self.request = request
        self.context = context
    }

    /// The gate that is closed for the call, if one is.
    func closed() async -> Gate? {
        let state = context.runtime.state
        guard state.mayHoldGates else { return nil }
        let credential = await context.credential(of: request)
        return await state.closedGate(among: Outcome.Scope.allCases.flatMap { keys(for: $0, credential) })
    }

    /// Closes the gate of the outcome's scope, if the server has stated a time, at the origin that has stated it.
    ///
    /// - Parameters:
    ///   - outcome: What the attempt came to.
    ///   - answering: Who has answered, where that is not the origin that was asked.
    /// - Returns: The gate's key, where one was closed.
    func close(for outcome: Outcome, by answering: Origin? = nil) async -> Gate.Key? {
        let isLockout = outcome.kind == .accountLocked
        var opensAt: Timestamp?
        switch (isLockout, outcome.lockout, outcome.retryAfter) {
        case (true, .remaining(let time), _) where time > .zero,
            (false, _, let time?) where time > .zero && outcome.remedies.contains(.wait):
            opensAt = context.runtime.time.wallTime.advanced(by: time)
        case (true, .indefinite, _): opensAt = nil
        default: return nil
        }
        let credential = await context.credential(of: request)
        guard var key = keys(for: isLockout ? .account : outcome.scope, credential).first else { return nil }
        if let answering { key.origin = answering }
        await context.runtime.state.close(
            Gate(
                key: key,
                reason: outcome.kind,
                opensAt: opensAt,
                code: outcome.code,
                userMessage: outcome.userMessage
            )
        )
        return key
    }

    /// What a closed gate means for a call that comes to it.
    func outcome(of gate: Gate) -> Outcome {
        var outcome = Outcome(gate.reason, scope: gate.key.scope, processed: .no, remedies: [.wait])
        outcome.code = gate.code
        outcome.userMessage = gate.userMessage
        let left = gate.opensAt.map { max(.zero, $0.elapsed(since: context.runtime.time.wallTime)) }
        if gate.reason == .accountLocked {
            outcome.lockout = left.map(Outcome.Lockout.remaining) ?? .indefinite
            if left == nil {
                // Waiting for what has no end helps nobody; but this client will try again.
                outcome.remedies = [.contactAdmin]
                outcome.retryAfter = gate.forgottenAt.map {
                    max(.zero, $0.elapsed(since: context.runtime.time.wallTime))
                }
            }
        } else {
            outcome.retryAfter = left
        }
        return outcome
    }

    /// The keys of a scope's gate, the one by which it is closed first; none where the call is not of the scope.
    private func keys(for scope: Outcome.Scope, _ credential: CredentialIdentity) -> [Gate.Key] {
        let names: [String]
        switch scope {
        case .endpoint:
            names = [context.classifier.endpointClass(method: request.method, path: request.pathWithoutQuery)]
        case .origin, .credential: names = [credential.name] + credential.formerNames
        case .account: names = context.options.account.map { [$0] } ?? []
        case .app: names = [context.options.app ?? ""]
        }
        return names.map { Gate.Key(scope: scope, origin: origin, name: $0) }
    }
}
