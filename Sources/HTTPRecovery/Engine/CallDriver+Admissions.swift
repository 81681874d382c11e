extension CallDriver {
    /// Plans an attempt.
    ///
    /// - Returns: Whether anybody has to be asked about it.
    /// - Throws: `CancellationError` in a cancelled task.
    @inline(never)
    mutating func plan(_ cause: AttemptCause, isDue: Bool) throws -> Bool {
        try Task.checkCancellation()
        let isAsked = round.open(from: 0, cause, context) != nil
        // The clock is read for those who ask.
        let left = isAsked ? context.remainingToSend : nil
        let longestWait = min(state.rules.maxWait, left ?? .longest)
        round.plan(request, cause, isDue: isDue, longestWait: longestWait)
        event = .admitted
        return isAsked
    }

    /// Asks those who have not let the attempt go yet, in order; the first that does not has the say.
    mutating func ask() async throws {
        guard let attempt = round.attempt else { return }
        var next = 0
        while let index = round.open(from: next, attempt.cause, context) {
            next = index + 1
            guard let said = round.take(try await round[index].admit(attempt, context: context), of: index) else {
                continue
            }
            switch said {
            case .delayed, .held: await giveBack(round.giveBack(waitingFor: index))
            default: break
            }
            return event = said
        }
        try Task.checkCancellation()
        event = .admitted
    }

    /// Tells all how the attempt ended.
    ///
    /// - Returns: Whether a gate was closed by it.
    mutating func conclude(_ end: AttemptEnd) async -> Bool {
        guard let attempt = round.attempt else { return false }
        let permits = round.end()
        for index in 0..<round.count {
            let permit = permits.first { $0.index == index }?.permit
            guard permit != nil || round[index].isConcerned(by: end) else { continue }
            let gate = await round[index].conclude(attempt, end, permit: permit, context: context)
            if let gate { round.hold(at: gate) }
        }
        return round.queue != nil
    }

    /// Gives back what is left when the call ends without another attempt, or within one.
    mutating func abandon() async {
        if round.isSent {
            _ = await conclude(.abandoned)
        } else {
            await giveBack(round.giveBackAll())
        }
    }

    private mutating func giveBack(_ permits: [(index: Int, permit: AdmissionPermit)]) async {
        guard let attempt = round.attempt else { return }
        for (index, permit) in permits {
            await round[index].conclude(attempt, .notSent, permit: permit, context: context)
        }
    }

    /// Stands in the queue of the gate that holds the call; how many stand in front.
    mutating func joinQueue() async -> Int {
        guard let queue = round.queue else { return 0 }
        return await context.runtime.state.joinQueue(at: queue)
    }
}
