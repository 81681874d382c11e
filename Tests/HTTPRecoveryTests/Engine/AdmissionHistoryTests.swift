import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// Random calls through the real driver: whatever admissions say and however a call ends, what was taken is given back,
/// once, and every end has its reason.
@Suite(.timeLimit(.minutes(30))) struct AdmissionHistoryTests {
    /// Says anything, and keeps account of what it has given.
    private final class Drawn: Admission {
        private struct State {
            let random: ByteMutator
            var next = 0
            var given: Set<Int> = []
            var faults: [String] = []
        }

        private struct Broken: Error {}

        private let state: Locked<State>

        init(seed: UInt64) {
            state = Locked(State(random: ByteMutator(seed: seed)))
        }

        /// What was given and has not come back.
        var given: Set<Int> { state.withLock { $0.given } }
        var faults: [String] { state.withLock { $0.faults } }
        var count: Int { state.withLock { $0.next } }

        func admit(_ attempt: PlannedAttempt, context: CallContext) async throws -> PlannedAttempt.Answer {
            let answer: PlannedAttempt.Answer? = state.withLock { state in
                let outcome = Outcome(.rateLimited, processed: .no, remedies: [.wait])
                switch state.random.below(24) {
                case 0: return nil
                case 1: return .refuse(.breakerOpen, because: outcome)
                case 2: return .hold(because: outcome)
                case 3...5: return .wait(.seconds(state.random.below(20)), because: outcome)
                case 6...8:
                    return .wait(.seconds(state.random.below(20)), because: outcome, permit: Self.permit(&state))
                case 9...11: return .go()
                case 12: unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                default: break
                }
                return .go(Self.permit(&state))
            }
            guard let answer else { throw Broken() }
            return answer
        }

        private static func permit(_ state: inout State) -> PlannedAttempt.Permit {
            state.next += 1
            state.given.insert(state.next)
            let lifetimes: [PlannedAttempt.Permit.Lifetime] = [.untilTheAttempt, .throughItsWait, .whileDue]
            return PlannedAttempt.Permit(state.next, kept: lifetimes[state.random.below(3)])
        }

        func conclude(
            _ attempt: PlannedAttempt,
            _ end: PlannedAttempt.End,
            permit: PlannedAttempt.Permit,
            context: CallContext
        ) -> Remainder? {
            state.withLock { state in
                if state.random.below(40) == 0 { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
                guard let number = permit.value as? Int else { return state.faults.append("a stranger's permit") }
                if state.given.remove(number) == nil { state.faults.append("\(number) was given back twice") }
            }
            return nil
        }

        func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
            state.withLock { state in
                if state.random.below(40) == 0 { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
                if case .notSent = end { state.faults.append("told of an attempt that was not made") }
            }
            return nil
        }
    }

    private struct Mends: RecoveryPolicy, FailureContext.Remediation {
        var name: String { "mend" }
        func decide(_ situation: FailureContext) -> FailureContext.Decision {
            situation.outcome.kind == .credentialRejected ? .repair(self) : .pass
        }
        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
            .repaired
        }
    }

    private static func step(_ random: ByteMutator) -> ScriptedTransport.Step {
        switch random.below(10) {
        case 0: .status(401)
        case 1: .status(404)
        case 2: .status(429, ["retry-after": "\(random.below(40))"])
        case 3, 4: .status(503)
        case 5: .fail(.cannotConnect, .neverSent)
        case 6: .fail(.connectionLost, .unknown)
        default: .status(200)
        }
    }

    @Test(arguments: 0..<4) func whatIsTakenIsGivenBackOnce(part: UInt64) async throws {
        var permits = 0
        var ends: [String: Int] = [:]
        let rounds = ByteMutator.rounds(10_000)
        for round in 0..<UInt64(rounds) {
            let seed = part << 32 | round
            let random = ByteMutator(seed: seed)
            let admissions = (0..<3).map { Drawn(seed: seed &* 3 &+ $0) }
            let bench = Bench((0..<8).map { _ in Self.step(random) }, then: Self.step(random), seed: seed) {
                Deadline(.seconds(1 + random.below(100)))
                Recovery(
                    maxAttempts: 1 + random.below(4),
                    maxWait: .seconds(1 + random.below(60)),
                    budget: .ratio(.init(ratio: 0.1, burst: random.below(3))),
                    admissions: [admissions[2]]
                ) {
                    RateLimitBackoff()
                    Mends()
                    TransientRetry()
                }
            }
            let request = random.below(2) == 0 ? Bench.get : Bench.post
            let options = RequestOptions(admissions: [admissions[0], admissions[1]])
            let call = Task { try await bench.client.send(request, options: options) }
            let result = try await bench.clock.skippingWaits { await call.result }
            for admission in admissions {
                #expect(admission.given == [], "seed \(seed)")
                #expect(admission.faults == [], "seed \(seed)")
                permits += admission.count
            }
            #expect(bench.events.words.count { $0.hasPrefix("done") } == 1, "seed \(seed)")
            switch result {
            case .success(let response):
                #expect(response.history.end == nil)
                ends["ok", default: 0] += 1
            case .failure(let error as RecoveryError):
                #expect(error.history.end == error.reason && !error.reason.rawValue.isEmpty, "seed \(seed)")
                ends[error.reason.rawValue, default: 0] += 1
            case .failure(let error):
                #expect(error is CancellationError, "seed \(seed)")
                ends["cancelled", default: 0] += 1
            }
        }
        // What was drawn is worth something: all ends were met, and much was taken.
        #expect(permits > rounds && (ends.count > 8 || rounds < 1000), "\(permits) \(ends)")
    }
}
