import HTTPTypes

/// The admissions of one call, and what they have given for its coming attempt: a value that asks nobody.
struct AdmissionRound {
    private let admissions: [any Admission]
    private var permits: [(index: Int, permit: AdmissionPermit)] = []
    /// The attempt that was asked about last.
    private(set) var attempt: PlannedAttempt?
    private(set) var isSent = false
    /// The gate that holds the call.
    private(set) var queue: Gate.Key?

    init(_ admissions: [any Admission]) {
        self.admissions = admissions
    }

    var count: Int { admissions.count }

    subscript(index: Int) -> any Admission { admissions[index] }

    /// Takes note of an attempt that is planned.
    mutating func plan(_ request: HTTPRequest, _ cause: AttemptCause, isDue: Bool, longestWait: Duration) {
        // A call stays at its origin: what is redirected is a call of its own to the engine.
        let origin = attempt?.origin ?? Origin(of: request)
        attempt = PlannedAttempt(request, origin: origin, cause: cause, isDue: isDue, longestWait: longestWait)
    }

    /// The next of the admissions that could have something to say and have not let the attempt go yet.
    func open(from start: Int, _ cause: AttemptCause, _ context: CallContext) -> Int? {
        (start..<max(start, admissions.count)).first { index in
            admissions[index].mayHold(cause, context: context) && !permits.contains { $0.index == index }
        }
    }

    /// Takes note of an answer.
    ///
    /// - Returns: What the call is told of it; nil where the attempt may go, as far as this admission is concerned.
    @inline(never)
    mutating func take(_ answer: AdmissionAnswer, of index: Int) -> CallState.Event? {
        switch answer {
        case .go(let permit):
            keep(permit, of: index)
            return nil
        case .wait(let delay, let outcome, let permit):
            keep(permit, of: index)
            return delay > .zero ? .delayed(delay, because: outcome) : nil
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

    /// Takes note that the attempt has ended: all permits are given back with that.
    mutating func end() -> [(index: Int, permit: AdmissionPermit)] {
        defer { permits = [] }
        queue = nil
        isSent = false
        return permits
    }

    /// Takes note that the gate of the key was closed.
    mutating func hold(at gate: Gate.Key) {
        queue = gate
    }

    /// Takes out all that is given back because there is no attempt.
    mutating func giveBackAll() -> [(index: Int, permit: AdmissionPermit)] {
        defer { permits = [] }
        return permits
    }

    /// Takes out what is given back while the call waits.
    ///
    /// - Parameter index: The admission that has it wait.
    @inline(never)
    mutating func giveBack(waitingFor index: Int) -> [(index: Int, permit: AdmissionPermit)] {
        func isKept(_ given: (index: Int, permit: AdmissionPermit)) -> Bool {
            switch given.permit.lifetime {
            case .untilTheAttempt: true
            case .throughItsWait: given.index == index
            case .whileDue: false
            }
        }
        defer { permits.removeAll { !isKept($0) } }
        return permits.filter { !isKept($0) }
    }

    private mutating func keep(_ permit: AdmissionPermit?, of index: Int) {
        if let permit { permits.append((index, permit)) }
    }
}
