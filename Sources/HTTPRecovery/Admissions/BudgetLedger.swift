/// What one origin's budget holds, for the models that keep whole numbers; a value without clock or lock.
///
/// Numbers out of range are brought into it: nothing here traps, whatever a configuration says.
struct BudgetLedger: Sendable {
    private var model: RetryBudget.Model
    /// Tokens; in thousandths for ``RetryBudget/Model/throttle(maxTokens:tokenRatio:)``.
    private var balance = 0
    /// The calls in flight but the one that asks, and how many of them are resends.
    private var flights = (all: 0, resends: 0)
    /// What the latest slices of time have brought, by their ordinals.
    private var slices: [Int: Int] = [:]

    private static let thousand = 1000
    private static let sliceCount = 10
    private static let most = 1_000_000_000

    init(_ model: RetryBudget.Model) {
        self.model = model
        switch model {
        case .tokens(let capacity, _, _, _): balance = Self.bounded(capacity)
        case .throttle(let tokens, _): balance = Self.bounded(tokens) * Self.thousand
        case .ratio, .inFlight, .rate, .unlimited: break
        }
    }

    /// Whether every attempt has to be announced, and not resends alone.
    static func countsFlights(_ model: RetryBudget.Model) -> Bool {
        if case .inFlight = model { true } else { false }
    }

    /// Takes note of an attempt that goes out and costs nothing.
    mutating func begin() {
        flights.all += 1
    }

    /// Pays for a resend.
    ///
    /// - Parameters:
    ///   - failure: What it follows.
    ///   - now: The time since any moment that is always the same.
    /// - Returns: What it costs; nil if it cannot be paid for.
    mutating func withdraw(after failure: Outcome?, at now: Duration) -> Int? {
        switch model {
        case .ratio, .unlimited: return 0
        case .tokens(_, let retry, let timeout, let throttle):
            let cost = Self.bounded(
                failure?.kind == .timedOut ? timeout ?? retry : failure?.isThrottle == true ? throttle : retry
            )
            guard balance >= cost else { return nil }
            balance -= cost
            return cost
        case .inFlight:
            guard flights.resends < allowedResends else { return nil }
            flights.resends += 1
            flights.all += 1
            return 1
        case .throttle(let tokens, _): return balance * 2 > Self.bounded(tokens) * Self.thousand ? 0 : nil
        case .rate:
            let cost = rate.withdrawal
            guard sum(at: now) >= cost else { return nil }
            slices[slice(at: now), default: 0] -= cost
            return cost
        }
    }

    /// Gives back what was paid for a resend that is not made.
    mutating func giveBack(_ cost: Int, at now: Duration) {
        switch model {
        case .ratio, .unlimited, .throttle: break
        case .tokens(let capacity, _, _, _): balance = min(balance + cost, Self.bounded(capacity))
        case .inFlight: leave(isResend: true)
        case .rate: slices[slice(at: now), default: 0] += cost
        }
    }

    /// Takes note of how an attempt has ended.
    ///
    /// - Parameters:
    ///   - outcome: What it came to; nil if that says nothing about the server.
    ///   - cost: What was paid for it; nil for what was no resend.
    ///   - isCall: Whether it was a call's first attempt.
    ///   - isHedge: Whether it was a hedge, which is load that was added, whether it was of use or not.
    mutating func end(_ outcome: Outcome?, cost: Int?, isCall: Bool, isHedge: Bool = false, at now: Duration) {
        switch model {
        case .ratio, .unlimited: break
        case .tokens(let capacity, _, _, _):
            guard let outcome, !outcome.isFailure, !isHedge else { return }
            balance = min(balance + (cost ?? 1), Self.bounded(capacity))
        case .inFlight: leave(isResend: cost != nil)
        case .throttle(let tokens, let ratio):
            guard let outcome else { return }
            let share = ratio.isNaN ? 0 : min(max(ratio, 0), 1000)
            // Of a ratio three digits count; a millionth is allowed for what is no binary number.
            let success = Int((share * Double(Self.thousand) + 1e-6).rounded(.down))
            let counts = outcome.isLoadFailure || outcome.kind == .quotaExhausted || outcome.delayForm == .never
            let change = !outcome.isFailure ? success : counts ? -Self.thousand : 0
            balance = min(max(balance + change, 0), Self.bounded(tokens) * Self.thousand)
        case .rate:
            if isCall { slices[slice(at: now), default: 0] += rate.deposit }
            let oldest = slice(at: now) - Self.sliceCount
            slices = slices.filter { $0.key > oldest }
        }
    }

    /// How many resends, tokens or places are left.
    func left(at now: Duration) -> Double {
        switch model {
        case .ratio, .unlimited: .infinity
        case .tokens: Double(balance)
        case .inFlight: Double(max(0, allowedResends - flights.resends))
        case .throttle: Double(balance) / Double(Self.thousand)
        case .rate: Double(max(0, sum(at: now) / rate.withdrawal))
        }
    }

    /// Begins with so many tokens or resends, within what it can hold; how many are under way is not for another to know.
    mutating func begin(with left: Double, at now: Duration) {
        let left = left.isNaN ? 0 : min(max(left, 0), Double(Self.most))
        switch model {
        case .ratio, .unlimited, .inFlight: break
        case .tokens(let capacity, _, _, _): balance = min(Int(left), Self.bounded(capacity))
        case .throttle(let tokens, _):
            balance = min(Int(left * Double(Self.thousand)), Self.bounded(tokens) * Self.thousand)
        case .rate:
            slices = [:]
            slices[slice(at: now)] = Int(left) * rate.withdrawal - sum(at: now)
        }
    }

    /// Keeps to another size from now on; what there is is kept, within that.
    mutating func resize(to model: RetryBudget.Model, at now: Duration) {
        let left = left(at: now)
        guard case .rate = model, case .rate = self.model else {
            self.model = model
            return begin(with: left, at: now)
        }
        // What calls have brought counts for as long as it would have, in the new measure.
        let (old, length, cost) = (slices, sliceLength, Double(rate.withdrawal))
        self.model = model
        slices = [:]
        for (ordinal, amount) in old {
            let moment = slice(at: .saturating(seconds: Double(ordinal) * length))
            let amount = Double(amount) * Double(rate.withdrawal) / cost
            slices[moment, default: 0] += Int(min(max(amount, -1e15), 1e15))
        }
    }

    private mutating func leave(isResend: Bool) {
        flights.all = max(0, flights.all - 1)
        if isResend { flights.resends = max(0, flights.resends - 1) }
    }

    /// How many of the calls in flight may be resends, the one that asks among them.
    private var allowedResends: Int {
        guard case .inFlight(let percent, let floor) = model else { return 0 }
        let share = Double(flights.all + 1) * max(0, percent) / 100
        return max(Self.bounded(floor), share.isFinite ? Int(min(share, Double(Self.most))) : 0)
    }

    /// What a call adds and a resend takes, as whole numbers.
    private var rate: (deposit: Int, withdrawal: Int) {
        guard case .rate(_, _, let percent) = model else { return (0, 1) }
        let share = percent.isNaN ? 0 : min(max(percent, 0), 100_000) / 100
        if share == 0 { return (0, 1) }
        return share <= 1 ? (1, max(1, Int(min(1 / share, 1e6)))) : (Self.thousand, max(1, Int(1000 / share)))
    }

    private func sum(at now: Duration) -> Int {
        guard case .rate(let lifetime, let least, _) = model else { return 0 }
        let oldest = slice(at: now) - Self.sliceCount
        let seconds = Int(min(max(lifetime.inSeconds, 1), 60))
        return slices.reduce(Self.bounded(least) * seconds * rate.withdrawal) { sum, slice in
            slice.key > oldest ? sum + slice.value : sum
        }
    }

    private func slice(at now: Duration) -> Int {
        // A microsecond is allowed for what cannot be divided exactly.
        Int(min(max((now.inSeconds + 1e-6) / sliceLength, 0), 1e15))
    }

    /// How many seconds are counted together.
    private var sliceLength: Double {
        guard case .rate(let lifetime, _, _) = model else { return 1 }
        return min(max(lifetime.inSeconds, 1), 60) / Double(Self.sliceCount)
    }

    private static func bounded(_ number: Int) -> Int { min(max(number, 0), most) }
}
