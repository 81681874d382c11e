package import HTTPRecovery

/// A call that only a person may be able to help: made once, and if it ends in what is for them, once more behind
/// their answer.
///
/// A person takes longer than a call may. So the call ends with its error, they are asked outside its bounds, and what is
/// sent then is another call of the same operation, with bounds of its own.
package struct AttendedCall<Input: Sendable, Value: Sendable>: RecoveryOperation.Plan {
    /// What can be done.
    package enum Step: Sendable {
        /// Make the call.
        case send(Input)
        /// Ask the person.
        case ask(about: RecoveryError)
    }

    /// What a step brings.
    package enum Answer: Sendable {
        /// The call's answer.
        case value(Value)
        /// What the call is made with after the person has helped.
        case helped(Input)
    }

    private let input: Input
    private let isForPerson: @Sendable (RecoveryError) -> Bool
    private var hasAsked = false

    package init(_ input: Input, where isForPerson: @escaping @Sendable (RecoveryError) -> Bool) {
        self.input = input
        self.isForPerson = isForPerson
    }

    package mutating func next(
        after event: RecoveryOperation.Event<Answer>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> RecoveryOperation.Action<Step, Value> {
        switch event {
        case .begun, .paused: return .perform(.send(input))
        case .answered(.value(let value)): return .finish(value)
        case .answered(.helped(let input)): return .perform(.send(input))
        case .failed(let error), .notPaused(let error):
            guard !hasAsked, isForPerson(error) else { return .fail(error) }
            hasAsked = true
            return .perform(.ask(about: error))
        }
    }
}

extension RecoveringClient {
    /// Makes a call that only a person may be able to help, as one operation.
    ///
    /// - Parameters:
    ///   - input: What the call is made with at first.
    ///   - isForPerson: Which errors are for the person.
    ///   - send: Makes the call within the operation.
    ///   - ask: Asks the person, within the operation and outside the call's bounds, and returns what the call is made with
    ///     then.
    package func attended<Input: Sendable, Value: Sendable>(
        _ input: Input,
        where isForPerson: @escaping @Sendable (RecoveryError) -> Bool,
        send: (Input, RecoveryOperation) async throws -> Value,
        asking ask: (RecoveryError, RecoveryOperation) async throws -> Input
    ) async throws -> Value {
        try await operation { operation in
            try await operation.run(AttendedCall(input, where: isForPerson)) { step, operation in
                switch step {
                case .send(let input): .value(try await send(input, operation))
                case .ask(let error): .helped(try await ask(error, operation))
                }
            }
        }
    }
}
