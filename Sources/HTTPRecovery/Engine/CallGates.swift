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
        return await state.closedGate(among: Outcome.Scope.allCases.compactMap { key(for: $0) })
    }

    /// Closes the gate of the outcome's scope, if the server has stated a time.
    ///
    /// - Returns: The gate's key, where one was closed.
    func close(for outcome: Outcome) async -> Gate.Key? {
        let isLockout = outcome.kind == .accountLocked
        guard let key = key(for: isLockout ? .account : outcome.scope) else { return nil }
        var opensAt: Timestamp?
        switch (isLockout, outcome.lockout, outcome.retryAfter) {
        case (true, .remaining(let time), _) where time > .zero,
            (false, _, let time?) where time > .zero && outcome.remedies.contains(.wait):
            opensAt = context.runtime.time.wallTime.advanced(by: time)
        case (true, .indefinite, _): opensAt = nil
        default: return nil
        }
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

    private func key(for scope: Outcome.Scope) -> Gate.Key? {
        switch scope {
        case .endpoint:
            let name = context.classifier.endpointClass(method: request.method, path: request.pathWithoutQuery)
            return Gate.Key(scope: scope, origin: origin, name: name)
        case .origin, .credential: return Gate.Key(scope: scope, origin: origin, name: credential)
        case .account: return context.options.account.map { Gate.Key(scope: scope, origin: origin, name: $0) }
        case .app: return Gate.Key(scope: scope, origin: origin, name: context.options.app ?? "")
        }
    }

    /// What tells the request's credential from others: a fingerprint, since the key may be stored or printed; the same
    /// in every process, since they may share the store.
    private var credential: String {
        if let id = context.options.credentialID { return id }
        guard let field = request.headerFields[.authorization] else { return "" }
        return Fingerprint.text(of: field)
    }
}
