import HTTPTypes

/// The admissions of one call, and what they have given for its coming attempt; nothing here waits.
struct AdmissionRound {
    private typealias Given = (index: Int, permit: PlannedAttempt.Permit)

    private let admissions: [any Admission]
    private var permits: [Given] = []
    /// The attempt that was asked about last.
    private(set) var attempt: PlannedAttempt?
    /// Whether that is the coming one: mostly nobody has anything to say to it.
    var wasAsked = false
    private(set) var isSent = false
    /// The gate that holds the call.
    private(set) var queue: SharedState.Gate.Key?

    /// What the call stands in a line for.
    private(set) var turn: PlannedAttempt.Turn?

    init(_ admissions: [any Admission]) {
        self.admissions = admissions
    }

    /// The same admissions about another attempt.
    func another() -> AdmissionRound { AdmissionRound(admissions) }

    subscript(index: Int) -> any Admission { admissions[index] }

    /// Whether anything was taken that has to be given back.
    var hasPermits: Bool { !permits.isEmpty }

    /// Takes note of an attempt that is planned.
    mutating func plan(_ planned: PlannedAttempt) {
        attempt = planned
        wasAsked = true
    }

    /// The next of the admissions that could have something to say and have not let the attempt go yet.
    func open(from start: Int, _ cause: History.Cause, _ context: CallContext) -> Int? {
        (start..<max(start, admissions.count)).first { index in
            admissions[index].mayHold(cause, context: context) && !permits.contains { $0.index == index }
        }
    }

    /// Takes note of an answer.
    ///
    /// - Returns: What the call is told of it; nil if the attempt may go, as far as this admission is concerned.
    @inline(never)
    mutating func take(_ answer: PlannedAttempt.Answer, of index: Int) -> CallState.Event? {
        switch answer {
        case .go(let permit):
            keep(permit, of: index)
            return nil
        case .wait(let delay, let outcome, let permit):
            keep(permit, of: index)
            return delay > .zero ? .delayed(delay, because: outcome) : nil
        case .line(let turn, let outcome, let permit):
            keep(permit, of: index)
            self.turn = turn
            return .lined(because: outcome)
        case .hold(let outcome, let gate):
            queue = gate
            return .held(because: outcome, hasQueue: gate != nil)
        case .refuse(let reason, let outcome): return .refused(reason, because: outcome)
        }
    }

    /// Takes note that the attempt goes out.
    mutating func begin() {
        isSent = true
    }

    /// Tells all how the attempt has ended: all permits are given back with that.
    ///
    /// - Returns: What is left to be done about it; nil if nothing is.
    mutating func conclude(
        _ attempt: PlannedAttempt,
        _ end: PlannedAttempt.End,
        _ context: CallContext
    ) -> [Admission.Remainder]? {
        defer { permits = [] }
        queue = nil
        isSent = false
        var left: [Admission.Remainder]?
        for index in admissions.indices {
            let remainder =
                if let given = permits.first(where: { $0.index == index }) {
                    admissions[index].conclude(attempt, end, permit: given.permit, context: context)
                } else {
                    admissions[index].observe(attempt, end, context: context)
                }
            if let remainder { left = (left ?? []) + [remainder] }
        }
        return left
    }

    /// Takes note that the gate of the key was closed.
    mutating func hold(at gate: SharedState.Gate.Key) {
        queue = gate
    }

    /// Gives all back, because there is no attempt.
    ///
    /// - Returns: What is left to be done about it; nil if nothing is.
    mutating func giveBackAll(_ context: CallContext) -> [Admission.Remainder]? {
        giveBack(context) { _ in false }
    }

    /// Gives back what is not kept while the call waits.
    ///
    /// - Parameter index: The admission that has it wait.
    /// - Returns: What is left to be done about it; nil if nothing is.
    @inline(never)
    mutating func giveBack(waitingFor index: Int, _ context: CallContext) -> [Admission.Remainder]? {
        giveBack(context) { given in
            switch given.permit.lifetime {
            case .untilTheAttempt: true
            case .throughItsWait: given.index == index
            case .whileDue: false
            }
        }
    }

    private mutating func giveBack(_ context: CallContext, unless isKept: (Given) -> Bool) -> [Admission.Remainder]? {
        guard let attempt, !permits.isEmpty else { return nil }
        let left = permits.filter { !isKept($0) }.compactMap { given in
            admissions[given.index].conclude(attempt, .notSent, permit: given.permit, context: context)
        }
        permits.removeAll { !isKept($0) }
        return left.isEmpty ? nil : left
    }

    private mutating func keep(_ permit: PlannedAttempt.Permit?, of index: Int) {
        if let permit { permits.append((index, permit)) }
    }
}
