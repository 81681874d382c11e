import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// Answers that are about the connection and not about what was asked: worth one more try, on a new one.
@Suite struct NewConnectionTests {
    @Test(arguments: [(421, true), (425, false)])
    func anyMethodIsSentOnceMore(status: Int, isOnNewConnection: Bool) async throws {
        let bench = Bench([.status(status)]) { Recovery() }
        #expect(try await bench.sendSkippingWaits(Bench.post).status == .ok)
        #expect(bench.transport.received.map(\.isOnNewConnection) == [false, isOnNewConnection])
    }

    @Test(arguments: [421, 425])
    func aSecondSuchAnswerIsFinal(status: Int) async throws {
        let bench = Bench([.status(status), .status(status)]) { Recovery(maxAttempts: 5) }
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        #expect(bench.transport.received.count == 2)
        #expect(error?.reason == .notRecoverable && error?.outcome.remedies == [] && error?.outcome.status == status)
    }

    @Test func onlyTheAttemptRightAfterGoesOutOnANewConnection() async throws {
        let bench = Bench([.status(408), .status(503), .status(200)]) { Recovery() }
        #expect(try await bench.sendSkippingWaits().status == .ok)
        #expect(bench.transport.received.map(\.isOnNewConnection) == [false, true, false])
    }

    /// A stated time makes nothing repeatable.
    @Test(arguments: [421, 425])
    func aStatedWaitMakesItNoMoreThanOnce(status: Int) async throws {
        let bench = Bench(then: .status(status, ["retry-after": "2"])) { Recovery(maxAttempts: 5) }
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        #expect(bench.transport.received.count == 2 && bench.clock.now.offset >= .seconds(2))
        #expect(error?.reason == .notRecoverable && error?.retryAfter == .seconds(2))
    }
}
