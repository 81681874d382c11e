import HTTPRecovery

/// How far a sign-in has come: what was tried how often, and what is not tried again.
///
/// It bounds the flow, whatever a server answers and whatever a responder says.
struct SignInProgress: Sendable {
    /// What tells a factor from others across the answers of a server, which may flag and mask it differently.
    fileprivate struct FactorID: Hashable, RememberedFields {
        var key = Factor.Key.text
        var providerName = ""
        var id: String?

        init() {}

        init(_ factor: Factor) {
            key = factor.key
            providerName = factor.providerName
            id = factor.id
        }

        static var fields: [RememberedField<FactorID>] {
            [.init("key", \.key), .init("name", \.providerName), .init("id", \.id)]
        }
    }

    /// More moves than a patient person makes; beyond it something goes round in circles.
    static let maxMoves = 200
    /// A factor whose answers were accepted this often without an end of the sign-in leads nowhere.
    static let maxAcceptances = 8

    /// How often the flow was begun again, or read again because the server did not know it.
    fileprivate(set) var restarts = 0
    /// How often it was read after a lost answer since the server has last accepted one.
    fileprivate(set) var resyncs = 0
    /// How often one question is asked.
    var maxRounds = 1
    /// How many lockouts were waited out.
    fileprivate var lockouts = 0
    fileprivate var moves = 0
    fileprivate var refusals: [FactorID: Int] = [:]
    fileprivate var acceptances: [FactorID: Int] = [:]
    fileprivate var discarded: Set<FactorID> = []
    /// What was chosen since the last beginning, in order.
    fileprivate var chosen: [FactorID] = []
    /// What was chosen before the last beginning and was not offered since.
    fileprivate var standing: [FactorID] = []

    /// Counts one more move.
    mutating func countMove() throws {
        moves += 1
        if moves > Self.maxMoves { throw Self.circles }
    }

    /// Counts a lockout that was waited out.
    ///
    /// - Returns: Whether the question behind it may be asked again.
    mutating func countLockout() -> Bool {
        lockouts += 1
        return lockouts <= maxRounds
    }

    /// Counts an answer that the server has taken without finishing the sign-in.
    mutating func countAcceptance(of factor: Factor) throws {
        let id = FactorID(factor)
        refusals[id] = nil
        resyncs = 0
        acceptances[id, default: 0] += 1
        if acceptances[id, default: 0] >= Self.maxAcceptances { throw Self.circles }
    }

    /// Counts one more beginning: what was chosen so far stands for the questions that come again.
    mutating func countRestart() {
        restarts += 1
        holdChoices()
    }

    /// Counts one more reading after a lost answer, which may lead back to questions that were answered.
    mutating func countResync() {
        resyncs += 1
        holdChoices()
    }

    private mutating func holdChoices() {
        standing = chosen + standing.filter { !chosen.contains($0) }
        chosen = []
    }

    /// Remembers a choice.
    ///
    /// - Parameters:
    ///   - factor: What was chosen.
    ///   - other: The factor that it was chosen instead of, which is not gone back to.
    mutating func choose(_ factor: Factor, insteadOf other: Factor? = nil) {
        if let other { forget(FactorID(other)) }
        forget(FactorID(factor))
        chosen.append(FactorID(factor))
    }

    private mutating func forget(_ id: FactorID) {
        chosen.removeAll { $0 == id }
        standing.removeAll { $0 == id }
    }

    /// What was chosen among these before the flow began again; each choice stands for one question.
    func standingChoice(among factors: [Factor]) -> Factor? {
        standing.lazy.compactMap { id in factors.first { FactorID($0) == id } }.first
    }

    /// Leaves a factor aside from now on.
    mutating func discard(_ factor: Factor) {
        discarded.insert(FactorID(factor))
    }

    /// The factors that were not left aside.
    func usable(_ factors: [Factor]) -> [Factor] {
        factors.filter { !discarded.contains(FactorID($0)) }
    }

    /// The question with the round that it is in.
    func numbered(_ challenge: Challenge) -> Challenge {
        var challenge = challenge
        challenge.round = refusals[FactorID(challenge.factor), default: 0] + 1
        challenge.attemptsLeft = max(1, maxRounds - challenge.round + 1)
        return challenge
    }

    /// The question after its answer was refused.
    mutating func again(_ challenge: Challenge, after refusal: Outcome) -> Challenge {
        refusals[FactorID(challenge.factor), default: 0] += 1
        var again = numbered(challenge)
        again.previousFailure = refusal
        again.occasion = refusal
        return again
    }

    private static var circles: RecoveryError {
        RecoveryError(outcome: Outcome(.stateConflict, remedies: [.restartFlow]), reason: .attemptsExhausted)
    }
}

extension SignInProgress: RememberedFields {
    static var fields: [RememberedField<SignInProgress>] {
        [
            .init("restarts", \.restarts), .init("resyncs", \.resyncs), .init("lockouts", \.lockouts),
            .init("moves", \.moves), .init("refusals", \.refusals),
            .init("acceptances", \.acceptances), .init("discarded", \.discarded), .init("chosen", \.chosen),
            .init("standing", \.standing),
        ]
    }
}
