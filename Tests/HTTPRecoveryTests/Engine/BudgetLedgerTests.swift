import Testing

@testable import HTTPRecovery

/// The models of a budget, by tables; the clock is a number.
@Suite struct BudgetLedgerTests {
    private static let busy = Outcome(.unavailable, status: 503)
    private static let throttled = Outcome(.rateLimited, status: 429)
    private static let slow = Outcome(.timedOut)
    private static let fine = Outcome(.ok, status: 200)

    private func withdrawals(_ ledger: inout BudgetLedger, at seconds: Double = 0, upTo most: Int = 10_000) -> Int {
        (0..<most).first { _ in ledger.withdraw(after: Self.busy, at: .saturating(seconds: seconds)) == nil } ?? most
    }

    @Test func tokensCostWhatTheyFollowAndASuccessGivesTheLastCostBack() {
        var ledger = BudgetLedger(.tokens(capacity: 30, retryCost: 14, timeoutCost: 20, throttleCost: 5))
        #expect(ledger.withdraw(after: Self.throttled, at: .zero) == 5)
        #expect(ledger.withdraw(after: Self.slow, at: .zero) == 20)
        #expect(ledger.left(at: .zero) == 5)
        #expect(ledger.withdraw(after: Self.busy, at: .zero) == nil)
        ledger.end(Self.busy, cost: 20, isCall: false, at: .zero)
        #expect(ledger.left(at: .zero) == 5)
        ledger.end(Self.fine, cost: 20, isCall: false, at: .zero)
        #expect(ledger.left(at: .zero) == 25)
        for _ in 0..<10 { ledger.end(Self.fine, cost: nil, isCall: true, at: .zero) }
        #expect(ledger.left(at: .zero) == 30)
        #expect(ledger.withdraw(after: Self.busy, at: .zero) == 14)
        ledger.giveBack(14, at: .zero)
        #expect(ledger.left(at: .zero) == 30)
    }

    @Test func noMoreThanAShareOfTheCallsInFlightAreResends() {
        var ledger = BudgetLedger(.inFlight(percent: 20, floor: 3))
        for _ in 0..<20 { ledger.begin() }
        var granted = 0
        // Each first attempt fails; whoever is not granted a resend leaves.
        for _ in 0..<20 {
            ledger.end(Self.busy, cost: nil, isCall: true, at: .zero)
            if ledger.withdraw(after: Self.busy, at: .zero) != nil { granted += 1 }
        }
        #expect(granted == 4)
        var alone = BudgetLedger(.inFlight(percent: 20, floor: 3))
        #expect(withdrawals(&alone) == 3)
        alone.end(Self.busy, cost: 1, isCall: false, at: .zero)
        #expect(withdrawals(&alone) == 1)
        alone.giveBack(1, at: .zero)
        #expect(alone.left(at: .zero) == 1)
    }

    @Test func aThrottleStopsAtHalfOfItsTokens() {
        var ledger = BudgetLedger(.throttle(maxTokens: 4, tokenRatio: 0.5))
        let ends = [Self.busy, Self.fine, Self.busy, Self.busy, Outcome(.notFound, status: 404), Self.fine, Self.fine]
        let left = ends.map { end in
            ledger.end(end, cost: nil, isCall: true, at: .zero)
            return (ledger.left(at: .zero), ledger.withdraw(after: Self.busy, at: .zero) != nil)
        }
        #expect(left.map(\.0) == [3, 3.5, 2.5, 1.5, 1.5, 2, 2.5])
        #expect(left.map(\.1) == [true, true, true, false, false, false, true])
        for _ in 0..<9 { ledger.end(Self.busy, cost: nil, isCall: true, at: .zero) }
        #expect(ledger.left(at: .zero) == 0)
    }

    /// All histories of eight steps: what there is stays within what there can be, and is paid exactly while it suffices.
    @Test(arguments: [
        RetryBudget.Model.tokens(capacity: 20, retryCost: 7, throttleCost: 3), .tokens(capacity: 0),
        .throttle(maxTokens: 3, tokenRatio: 0.7), .inFlight(percent: 50, floor: 1),
        .rate(lifetime: .seconds(2), minPerSecond: 1, percent: 100),
    ])
    func everyShortHistoryKeepsWithinTheModel(model: RetryBudget.Model) {
        let most: Double =
            switch model {
            case .tokens(let capacity, _, _, _): Double(capacity)
            case .throttle(let tokens, _): Double(tokens)
            default: .infinity
            }
        for history in 0..<65_536 {
            var (ledger, rest) = (BudgetLedger(model), history)
            var paid: [Int] = []
            for step in 0..<8 {
                let (draw, now) = (rest % 4, Duration.milliseconds(step * 300))
                rest /= 4
                let before = ledger.left(at: now)
                switch draw {
                case 0:
                    let cost = ledger.withdraw(after: Self.busy, at: now)
                    if let cost { paid.append(cost) }
                    switch model {
                    case .tokens(_, let price, _, _): #expect((cost != nil) == (before >= Double(price)))
                    case .throttle(let tokens, _): #expect((cost != nil) == (before * 2 > Double(tokens)))
                    default: #expect((cost != nil) == (before >= 1))
                    }
                case 1:
                    guard let cost = paid.popLast() else { continue }
                    ledger.giveBack(cost, at: now)
                    #expect(ledger.left(at: now) >= before)
                case 2:
                    ledger.begin()
                    ledger.end(step % 2 == 0 ? Self.fine : Self.busy, cost: nil, isCall: true, at: now)
                default:
                    guard let cost = paid.popLast() else { continue }
                    ledger.end(step % 2 == 0 ? Self.fine : Self.busy, cost: cost, isCall: false, at: now)
                }
                #expect((0...most).contains(ledger.left(at: now)))
            }
        }
    }

    @Test func whatTheServerForbidsToRepeatTakesATokenOfAThrottle() {
        var ledger = BudgetLedger(.throttle(maxTokens: 10, tokenRatio: 0.1))
        var end = Outcome(.notFound, status: 404)
        ledger.end(end, cost: nil, isCall: true, at: .zero)
        #expect(ledger.left(at: .zero) == 10)
        end.apply(.stop)
        ledger.end(end, cost: nil, isCall: true, at: .zero)
        #expect(ledger.left(at: .zero) == 9)
    }

    @Test(arguments: [(0.5466, 7.546), (0.1, 7.1), (1.001, 8.001), (0.29, 7.29)])
    func ofATokenRatioThreeDigitsCount(ratio: Double, left: Double) {
        var ledger = BudgetLedger(.throttle(maxTokens: 10, tokenRatio: ratio))
        for _ in 0..<3 { ledger.end(Self.busy, cost: nil, isCall: true, at: .zero) }
        ledger.end(Self.fine, cost: nil, isCall: true, at: .zero)
        #expect(ledger.left(at: .zero) == left)
    }

    @Test func aRateForgetsCallsBySlices() {
        var ledger = BudgetLedger(.rate(lifetime: .seconds(1), minPerSecond: 0, percent: 50))
        #expect(withdrawals(&ledger) == 0)
        for _ in 0..<2 { ledger.end(Self.busy, cost: nil, isCall: true, at: .zero) }
        #expect(ledger.left(at: .milliseconds(901)) == 1)
        #expect(withdrawals(&ledger, at: 0.901) == 1)
        for time in [2.901, 3.201, 4.001] {
            ledger.end(Self.fine, cost: nil, isCall: true, at: .saturating(seconds: time))
        }
        #expect(withdrawals(&ledger, at: 4.001) == 1)
        #expect(withdrawals(&ledger, at: 9) == 0)
    }

    @Test(arguments: [(60, 20.0), (60, 50), (1, 50), (10, 10)])
    func aRateOfAnotherLengthForgetsInItsOwnTime(lifetime: Int, percent: Double) {
        var ledger = BudgetLedger(.rate(lifetime: .seconds(10), minPerSecond: 0, percent: 20))
        let now = Duration.seconds(100)
        for _ in 0..<50 { ledger.end(Self.fine, cost: nil, isCall: true, at: now) }
        #expect(ledger.left(at: now) == 10)
        let length = Duration.seconds(lifetime)
        ledger.resize(to: .rate(lifetime: length, minPerSecond: 0, percent: percent), at: now)
        #expect(ledger.left(at: now) == 10)
        #expect(ledger.left(at: now + length * 0.8) == 10)
        #expect(ledger.left(at: now + length * 1.1) == 0)
    }

    @Test(arguments: [(0.0, 50), (20, 50), (100, 50), (1000, 50), (50_000, 50)])
    func aRateHasAReserve(percent: Double, expected: Int) {
        var ledger = BudgetLedger(.rate(lifetime: .seconds(10), minPerSecond: 5, percent: percent))
        #expect(withdrawals(&ledger) == expected)
        for _ in 0..<10 { ledger.end(Self.fine, cost: nil, isCall: true, at: .zero) }
        #expect(withdrawals(&ledger) == Int(percent / 10))
    }

    @Test(
        arguments: [
            RetryBudget.Model.tokens(capacity: -1, retryCost: .max, throttleCost: .min),
            .tokens(capacity: .max, retryCost: .max), .inFlight(percent: .nan, floor: .min),
            .inFlight(percent: .infinity, floor: .max), .throttle(maxTokens: .max, tokenRatio: .infinity),
            .throttle(maxTokens: 0, tokenRatio: .nan), .rate(lifetime: .zero, minPerSecond: .max, percent: .infinity),
            .rate(lifetime: .longest, minPerSecond: .min, percent: .nan), .ratio(), .unlimited,
        ]
    )
    func noNumberTraps(model: RetryBudget.Model) {
        var ledger = BudgetLedger(model)
        for time in [Duration.zero, .seconds(1), .longest, .zero - .longest] {
            ledger.begin()
            _ = ledger.withdraw(after: Self.slow, at: time)
            ledger.giveBack(1_000_000_000, at: time)
            for outcome in [Self.fine, Self.busy, nil] { ledger.end(outcome, cost: 1, isCall: true, at: time) }
            #expect(ledger.left(at: time) >= 0)
        }
    }

    @Test func aModelThatCannotWorkSaysWhy() {
        #expect(RetryBudget.Model.throttle(tokenRatio: 0).problem != nil)
        #expect(RetryBudget.Model.throttle(maxTokens: 1001).problem != nil)
        #expect(RetryBudget.Model.rate(lifetime: .milliseconds(999)).problem != nil)
        #expect(RetryBudget.Model.rate(lifetime: .seconds(61)).problem != nil)
        #expect(RetryBudget.Model.tokens(capacity: -1).problem != nil)
        #expect(RetryBudget.Model.inFlight(percent: .nan).problem != nil)
        for model in [RetryBudget.Model.ratio(), .tokens(), .inFlight(), .throttle(), .rate(), .unlimited] {
            #expect(model.problem == nil)
        }
    }
}
