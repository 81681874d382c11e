import HTTPTypes

/// The admissions of one call, and what they have given for its coming attempt.
struct AdmissionRound {
    private let admissions: [any Admission]
    private let origin: Origin
    private var permits: [(index: Int, permit: AdmissionPermit)] = []
    /// The attempt that was asked about last.
    private var attempt: PlannedAttempt?
    private var isSent = false
    /// The gate that holds the call.
    private var queue: Gate.Key?

    init(_ admissions: [any Admission], for request: HTTPRequest) {
        self.admissions = admissions
        self.origin = Origin(of: request)
    }

    /// Asks those who have not let the attempt go yet, in order; the first that does not has the say.
    mutating func ask(
        _ request: HTTPRequest,
        _ cause: AttemptCause,
        isDue: Bool,
        _ rules: RecoveryRules,
        _ context: CallContext
    ) async throws -> CallState.Event {
        let longestWait = min(rules.maxWait, context.remainingToSend ?? .longest)
        let attempt = PlannedAttempt(request, origin: origin, cause: cause, isDue: isDue, longestWait: longestWait)
        self.attempt = attempt
        for (index, admission) in admissions.enumerated() where !permits.contains(where: { $0.index == index }) {
            switch try await admission.admit(attempt, context: context) {
            case .go(let permit): keep(permit, of: index)
            case .wait(let delay, let outcome, let permit):
                keep(permit, of: index)
                guard delay > .zero else { continue }
                await giveBackOccupied(attempt, context)
                return .delayed(delay, because: outcome)
            case .hold(let outcome, let gate):
                await giveBackOccupied(attempt, context)
                queue = gate
                return .held(because: outcome, hasQueue: gate != nil)
            case .refuse(let reason, let outcome): return .refused(reason, because: outcome)
            }
        }
        return .admitted
    }

    /// Takes note that the attempt goes out.
    mutating func begin() {
        isSent = true
    }

    /// Tells all how the attempt ended.
    ///
    /// - Returns: Whether a gate was closed by it.
    mutating func conclude(_ end: AttemptEnd, context: CallContext) async -> Bool {
        guard let attempt else { return false }
        queue = nil
        let given = permits
        permits = []
        isSent = false
        for (index, admission) in admissions.enumerated() {
            let permit = given.first { $0.index == index }?.permit
            if let gate = await admission.conclude(attempt, end, permit: permit, context: context) { queue = gate }
        }
        return queue != nil
    }

    /// Gives back what is left when the call ends without another attempt, or within one.
    mutating func abandon(context: CallContext) async {
        if isSent {
            _ = await conclude(.abandoned, context: context)
        } else if let attempt {
            await giveBack(attempt, context) { _ in true }
        }
    }

    /// Stands in the queue of the gate that holds the call; how many stand in front.
    func joinQueue(_ state: SharedState) async -> Int {
        guard let queue else { return 0 }
        return await state.joinQueue(at: queue)
    }

    private mutating func keep(_ permit: AdmissionPermit?, of index: Int) {
        if let permit { permits.append((index, permit)) }
    }

    /// Gives back what others could use while this call waits.
    private mutating func giveBackOccupied(_ attempt: PlannedAttempt, _ context: CallContext) async {
        await giveBack(attempt, context) { !$0.isKeptWhileWaiting }
    }

    private mutating func giveBack(
        _ attempt: PlannedAttempt,
        _ context: CallContext,
        where isGivenBack: (AdmissionPermit) -> Bool
    ) async {
        let returned = permits.filter { isGivenBack($0.permit) }
        permits.removeAll { isGivenBack($0.permit) }
        for (index, permit) in returned {
            await admissions[index].conclude(attempt, .notSent, permit: permit, context: context)
        }
    }
}
