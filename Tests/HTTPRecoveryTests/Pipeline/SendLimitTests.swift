import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What has an end is never sent after it, whatever holds it up.
struct SendLimitTests {
    /// A client whose first requests are held up for 5 s each before they leave.
    private struct LateBench {
        let clock = ManualClock()
        let transport: ScriptedTransport
        let client: RecoveringClient

        init(
            _ steps: [ScriptedTransport.Step] = [],
            late: Int = .max,
            keepsSendLimits: Bool = true,
            enforcesTimeouts: Bool = true
        ) {
            transport = ScriptedTransport(
                steps,
                enforcesTimeouts: enforcesTimeouts,
                keepsSendLimits: keepsSendLimits,
                holdUp: { [clock] number in if number <= late { clock.advance(by: .seconds(5)) } }
            )
            client = RecoveringClient(
                transport: transport,
                runtime: .manual(clock)
            ) {
                Recovery()
            }
        }

        func moment(_ offset: Duration) -> Timestamp { client.runtime.time.wallTime.advanced(by: offset) }

        @discardableResult
        func send(_ options: RequestOptions) async throws -> RecoveredResponse {
            try await clock.skippingWaits {
                try await client.send(Bench.post, body: MessageBody("x"), options: options)
            }
        }

        func failure(_ options: RequestOptions) async throws -> RecoveryError {
            try await #require(throws: RecoveryError.self) { try await send(options) }
        }
    }

    /// Attaches what is good for 3 s.
    private struct ShortLivedProof: ClientLayer {
        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            var context = context
            context.limitSending(to: context.runtime.time.wallTime.advanced(by: .seconds(3)))
            return try await next(request, body: body, context: context)
        }
    }

    private static let expired = Outcome(.challengeExpired, processed: .no, remedies: [.newChallenge])

    @Test(arguments: [true, false])
    func whatIsHeldUpPastTheCallsLimitIsNeverSentAndNotTriedAgain(enforcesTimeouts: Bool) async throws {
        let bench = LateBench(enforcesTimeouts: enforcesTimeouts)
        let limit = RequestOptions.SendBy(bench.moment(.seconds(4)), orElse: Self.expired)
        let options = RequestOptions(resend: .replayable, sendBy: limit)
        let error = try await bench.failure(options)
        #expect(bench.transport.received.isEmpty)
        #expect(error.kind == .challengeExpired && error.remedies == [.newChallenge])
        #expect(error.reason == .notRecoverable && error.outcome.processed == .no)
        #expect(error.outcome.transportError?.code == .sendLimitPassed)
        #expect(error.outcome.transportError?.certainty == .neverSent)
        #expect(error.history.attempts.map(\.kind) == [.challengeExpired])
    }

    @Test
    func withoutAWordOfTheCallersItIsATimeout() async throws {
        let bench = LateBench()
        let error = try await bench.failure(RequestOptions(sendBy: RequestOptions.SendBy(bench.moment(.seconds(4)))))
        #expect(error.kind == .timedOut && error.remedies.isEmpty)
    }

    @Test
    func atTheLimitItIsTooLateAndBeforeItIsNot() async throws {
        let late = LateBench()
        _ = try await late.failure(RequestOptions(sendBy: RequestOptions.SendBy(late.moment(.seconds(5)))))
        #expect(late.transport.received.isEmpty)
        let inTime = LateBench()
        try await inTime.send(RequestOptions(sendBy: RequestOptions.SendBy(inTime.moment(.nanoseconds(5_000_000_001)))))
        #expect(inTime.transport.received.count == 1)
    }

    /// Never sent, so it may be sent again, whatever it spends; the fresh proof is in time.
    @Test
    func anAttemptsLimitIsFollowedByAFreshAttempt() async throws {
        let bench = LateBench(late: 1)
        let response = try await bench.send(RequestOptions(resend: .spending, attemptLayers: [ShortLivedProof()]))
        #expect(response.history.attempts.map(\.kind) == [.timedOut, .ok])
        #expect(bench.transport.received.count == 1)
    }

    @Test
    func theCallsLimitEndsWhatALayerHasBoundedToo() async throws {
        let bench = LateBench(late: 1)
        let options = RequestOptions(
            sendBy: RequestOptions.SendBy(bench.moment(.seconds(4)), orElse: Self.expired),
            attemptLayers: [ShortLivedProof()]
        )
        let error = try await bench.failure(options)
        #expect(error.kind == .challengeExpired && error.history.attempts.count == 1)
    }

    @Test
    func theEarlierOfBothLimitsReachesTheTransport() async throws {
        let bench = LateBench(late: 0)
        let proof = [ShortLivedProof()]
        let calls: [(Int64, [ShortLivedProof])] = [(1, proof), (9, proof), (9, [])]
        for (call, layers) in calls {
            try await bench.send(
                RequestOptions(sendBy: RequestOptions.SendBy(bench.moment(.seconds(call))), attemptLayers: layers)
            )
        }
        try await bench.send(RequestOptions())
        let limits = bench.transport.received.map(\.sendLimit?.instant.sinceStart)
        #expect(limits == [.seconds(1), .seconds(3), .seconds(9), nil])
    }

    @Test
    func aWaitThatWouldEndPastTheLimitIsNotBegun() async throws {
        let bench = LateBench([.status(429, ["retry-after": "10"])], late: 0)
        let error = try await bench.failure(RequestOptions(sendBy: RequestOptions.SendBy(bench.moment(.seconds(10)))))
        #expect(error.kind == .rateLimited && error.reason == .deadlineWouldPass)
        #expect(error.retryAfter == .seconds(10) && bench.clock.now.offset == .zero)
        #expect(bench.transport.received.count == 1)
    }

    @Test(arguments: [(10, 60), (60, 10)])
    func ofDeadlineAndLimitTheEarlierBoundsAWait(limit: Int64, deadline: Int64) async throws {
        let bench = LateBench([.status(429, ["retry-after": "10"])], late: 0)
        let error = try await bench.failure(
            RequestOptions(
                deadline: .seconds(deadline),
                sendBy: RequestOptions.SendBy(bench.moment(.seconds(limit)))
            )
        )
        #expect(error.kind == .rateLimited && error.reason == .deadlineWouldPass)
        #expect(bench.clock.now.offset == .zero && bench.transport.received.count == 1)
    }

    /// It may take the margin to make a connection, and nothing looks at the limit after that.
    @Test
    func aTransportThatCannotKeepLimitsGetsNothingWithinTheMargin() async throws {
        let bench = LateBench(late: 0, keepsSendLimits: false)
        let late = RequestOptions(
            sendBy: RequestOptions.SendBy(bench.moment(AttemptOptions.SendLimit.margin), orElse: Self.expired)
        )
        let error = try await bench.failure(late)
        #expect(error.kind == .challengeExpired && bench.transport.received.isEmpty)
        let inTime = RequestOptions(
            sendBy: RequestOptions.SendBy(bench.moment(AttemptOptions.SendLimit.margin + .nanoseconds(1)))
        )
        try await bench.send(inTime)
        #expect(bench.transport.received.count == 1)
    }

    @Test
    func wallTimesAndInstantsBelongTogether() {
        let time = ManualClock().timeSource()
        let moment = time.wallTime.advanced(by: .seconds(7))
        #expect(time.instant(at: moment) == time.now.advanced(by: .seconds(7)))
        #expect(time.wallTime(at: time.instant(at: moment)) == moment)
        #expect(time.instant(at: Timestamp(sinceEpoch: .longest)) > time.now)
    }
}
