import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthRecovery

@Suite struct AttendedCallTests {
    private static func error(_ kind: Outcome.Kind) -> RecoveryError {
        RecoveryError(outcome: Outcome(kind), reason: .notRecoverable)
    }

    /// What the plan wants, in words, for these events.
    private func actions(_ events: RecoveryOperation.Event<AttendedCall<Int, String>.Answer>...) -> [String] {
        var plan = AttendedCall<Int, String>(1) { $0.kind == .stepUpRequired }
        let now = ManualClock().timeSource().now
        return events.map { event in
            switch plan.next(after: event, at: now, random: { 0 }) {
            case .perform(.send(let input), let repeating): "send \(input) \(repeating?.rawValue ?? "-")"
            case .perform(.ask(let error), _): "ask \(error.kind.rawValue)"
            case .pause: "pause"
            case .finish(let value): "finish \(value)"
            case .fail(let error): "fail \(error.kind.rawValue)"
            }
        }
    }

    @Test func whatGoesWellAsksNobody() {
        #expect(actions(.begun, .answered(.value("a"))) == ["send 1 -", "finish a"])
    }

    @Test func whatIsNotForAPersonEndsTheWork() {
        #expect(actions(.begun, .failed(Self.error(.unavailable))) == ["send 1 -", "fail unavailable"])
    }

    @Test func whoHasHelpedOnceIsNotAskedAgain() {
        let all = actions(
            .begun,
            .failed(Self.error(.stepUpRequired)),
            .answered(.helped(2)),
            .failed(Self.error(.stepUpRequired))
        )
        #expect(all == ["send 1 -", "ask step_up_required", "send 2 -", "fail step_up_required"])
    }

    @Test func whatGoesWrongWithThePersonEndsTheWork() {
        let step = Self.error(.stepUpRequired)
        #expect(actions(.begun, .failed(step), .failed(step)).last == "fail step_up_required")
    }
}
