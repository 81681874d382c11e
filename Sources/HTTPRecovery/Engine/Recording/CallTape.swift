import HTTPTypes

/// Writes down what one call is told and what it decides.
final class CallTape: Sendable {
    private let entries = Locked<[CallRecording.Entry]>([])
    private let method: HTTPRequest.Method
    private let rules: RecoveryRules
    private let context: CallContext
    private let recorder: @Sendable (CallRecording) -> Void

    /// A tape; nil for a call that nobody records, for which nothing is allocated.
    static func make(_ rules: RecoveryRules, _ request: HTTPRequest, _ context: CallContext) -> CallTape? {
        context.options.recorder.map { CallTape(rules, request, context, $0) }
    }

    private init(
        _ rules: RecoveryRules,
        _ request: HTTPRequest,
        _ context: CallContext,
        _ recorder: @escaping @Sendable (CallRecording) -> Void
    ) {
        self.recorder = recorder
        self.rules = rules
        self.method = request.method
        self.context = context
    }

    func write(_ entry: CallRecording.Entry) {
        entries.withLock { $0.append(entry) }
    }

    /// Hands the recording out.
    func finish() {
        recorder(
            CallRecording(
                call: context.record.callID,
                method: method.rawValue,
                maxAttempts: rules.maxAttempts,
                maxWait: rules.maxWait,
                resendsTransparently: rules.resendsTransparently,
                entries: entries.withLock { $0 }
            )
        )
    }
}

extension Runtime.RandomSource {
    /// A number for what follows the event: those who leave a queue are only spread.
    fileprivate func unit(for event: CallState.Event) -> Double {
        if case .queued = event { spread() } else { unit() }
    }
}

extension CallState {
    /// Takes note of an event of the call, and writes it down if there is a tape.
    mutating func next(after event: Event, in context: CallContext, writing tape: CallTape?) -> Action {
        if let tape { return next(after: event, in: context, on: tape) }
        return next(after: event, remaining: context.remainingToSend, random: context.runtime.random.unit(for: event))
    }

    private mutating func next(after event: Event, in context: CallContext, on tape: CallTape) -> Action {
        var remaining: Duration??
        var drawn: [Double] = []
        func left() -> Duration? {
            let left = context.remainingToSend
            remaining = .some(left)
            return left
        }
        func draw() -> Double {
            drawn.append(context.runtime.random.unit(for: event))
            return drawn[drawn.count - 1]
        }
        let action = next(after: event, remaining: left(), random: draw())
        tape.write(CallRecording.Entry(event, action: action, remaining: remaining, random: drawn))
        return action
    }
}
