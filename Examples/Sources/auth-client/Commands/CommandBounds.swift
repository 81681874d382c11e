import HTTPRecovery

/// Until when a command may take, the person's part included.
struct CommandBounds: Sendable {
    let time: TimeSource
    /// The moment that `--deadline` sets; nil if there is none.
    let end: TimeSource.Instant?

    /// Carries out the command.
    ///
    /// Its requests keep the deadline by themselves, and know better than anybody what it has cut off. What outlives it by
    /// a moment, as who waits for a token renewal may, is ended here.
    func holdAll<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let late = CommandBounds(time: time, end: end?.advanced(by: .milliseconds(200)))
        return try await late.hold(work)
    }

    /// Waits for something that is no request, such as an answer at the keyboard.
    ///
    /// - Throws: `RecoveryError` with the reason `deadline_passed` as soon as the time is over; what the work throws.
    func hold<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let end else { return try await work() }
        return try await withThrowingTaskGroup(of: Value.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await work() }
            group.addTask { [time] in
                try await time.sleep(for: max(time.now.duration(to: end), .zero))
                var outcome = Outcome(.timedOut, processed: .no)
                outcome.userMessage = "The time for this command is over."
                throw RecoveryError(outcome: outcome, reason: .deadlinePassed)
            }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
