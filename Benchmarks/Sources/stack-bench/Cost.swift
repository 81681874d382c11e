import CCounters
import HTTPRecovery

/// A way to send one and the same request.
typealias Call = @Sendable () async throws -> Void

/// What one call costs.
struct Cost {
    /// The time of a call that succeeds at once.
    var nanoseconds = Double.infinity
    /// The heap allocations of such a call.
    var allocations = Double.infinity
    /// The instructions of such a call; infinite where they cannot be counted.
    var instructions = Double.infinity
    /// The bytes of the heap that a call holds while it waits for its answer.
    var bytes = Double.infinity

    /// Measures several times and keeps the least of each, which is the least disturbed.
    ///
    /// - Parameters:
    ///   - rounds: How often.
    ///   - calls: How many calls make up a round, one after another.
    ///   - waiting: How many calls wait at the same time.
    ///   - response: What the calls are answered.
    ///   - make: Makes the way to send through a transport.
    init(
        rounds: Int,
        calls: Int,
        waiting: Int,
        response: TransportResponse,
        make: (any HTTPTransport) -> Call
    ) async throws {
        let call = make(Immediate(response: response))
        for _ in 0..<rounds {
            try await measure(calls: calls, call)
            let transport = Hanging(response: response, expected: waiting)
            try await measure(waiting: waiting, at: transport, make(transport))
        }
    }

    private mutating func measure(calls: Int, _ call: Call) async throws {
        let (allocationsBefore, instructionsBefore) = (allocation_count(), instruction_count())
        let time = try await ContinuousClock().measure {
            for _ in 0..<calls { try await call() }
        }
        let (allocationsAfter, instructionsAfter) = (allocation_count(), instruction_count())
        nanoseconds = min(nanoseconds, time / .nanoseconds(1) / Double(calls))
        allocations = min(allocations, Double(allocationsAfter - allocationsBefore) / Double(calls))
        guard instructionsAfter > instructionsBefore else { return }
        instructions = min(instructions, Double(instructionsAfter - instructionsBefore) / Double(calls))
    }

    private mutating func measure(waiting: Int, at transport: Hanging, _ call: @escaping Call) async throws {
        let before = bytes_in_use()
        let after = try await withThrowingTaskGroup { group in
            for _ in 0..<waiting { group.addTask(operation: call) }
            await transport.waitForAll()
            let after = bytes_in_use()
            transport.answerAll()
            try await group.waitForAll()
            return after
        }
        bytes = min(bytes, Double(after - before) / Double(waiting))
    }
}
