import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct P1NothingIsSpentTwice {
    @Test func aPostWhoseAnswerWasLostIsNotSentAgain() async throws {
        let bench = Bench([.fail(.connectionLost, .unknown)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.post) }
        #expect(error?.reason == .methodNotIdempotent)
        #expect(error?.kind == .transport)
        #expect(bench.transport.received.count == 1)
    }

    @Test(arguments: [TransportError.Certainty.neverSent, .notProcessed])
    func aPostThatTheServerCertainlyHasNotProcessedIsSentAgain(certainty: TransportError.Certainty) async throws {
        let bench = Bench([.fail(.connectionLost, certainty)])
        #expect(try await bench.sendSkippingWaits(Bench.post, body: MessageBody("x")).status == .ok)
        #expect(bench.transport.received.map(\.text) == ["x", "x"])
    }

    @Test(arguments: [
        ScriptedTransport.Step.status(429, ["retry-after": "1"]), .status(503, ["retry-after": "1"]),
    ])
    func aPostThatTheServerTurnedAwayIsSentAgain(step: ScriptedTransport.Step) async throws {
        let bench = Bench([step])
        #expect(try await bench.sendSkippingWaits(Bench.post).status == .ok)
        #expect(bench.transport.received.count == 2)
    }

    @Test func aPostThatFailedInsideTheServerIsNotSentAgain() async throws {
        let bench = Bench([.status(500)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits(Bench.post) }
        #expect(error?.reason == .methodNotIdempotent)
        #expect(bench.transport.received.count == 1)
    }

    @Test func anIdempotencyKeyMakesAPostRepeatableAndStaysTheSame() async throws {
        let bench = Bench([.status(500), .fail(.connectionLost, .unknown)])
        var request = Bench.post
        request.headerFields[.idempotencyKey] = "\"7f0c\""
        #expect(try await bench.sendSkippingWaits(request).status == .ok)
        #expect(
            bench.transport.received.map { $0.request.headerFields[.idempotencyKey] } == [
                "\"7f0c\"", "\"7f0c\"", "\"7f0c\"",
            ]
        )
    }

    @Test func spendingIsNeverRepeatedOnDoubtWhateverTheMethod() async throws {
        for method in [HTTPRequest.Method.get, .put, .delete, .post] {
            let bench = Bench([.fail(.connectionLost, .unknown)])
            var request = Bench.get
            request.method = method
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.client.send(request, options: RequestOptions(resend: .spending))
            }
            #expect(error?.reason == .processedUnknown)
            #expect(bench.transport.received.count == 1)
        }
    }

    @Test func aServerThatWaitedInVainHasProvedNothingAboutWhatIsSpent() async throws {
        // Whoever answers 408 may stand in front of the server that got the request.
        for method in [HTTPRequest.Method.post, .put] {
            let bench = Bench([.status(408), .status(408)])
            var request = Bench.get
            request.method = method
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.sendSkippingWaits(request, options: RequestOptions(resend: .spending))
            }
            #expect(error?.kind == .unavailable && error?.reason == .processedUnknown)
            #expect(bench.transport.received.count == 1)
        }
        // Who spends nothing may repeat it (RFC 9110 section 15.5.9).
        let bench = Bench([.status(408)])
        #expect(try await bench.sendSkippingWaits(Bench.post).status == .ok)
        // A limit is proof, and so is a refusal to take the risk (RFC 8470 section 5.2).
        for step in [ScriptedTransport.Step.status(429, ["retry-after": "1"]), .status(425)] {
            let bench = Bench([step])
            let options = RequestOptions(resend: .spending)
            #expect(try await bench.sendSkippingWaits(Bench.post, options: options).status == .ok)
        }
    }

    @Test func aStreamThatWasReadIsNotSentAgain() async throws {
        let bench = Bench([.status(500)])
        var request = Bench.get
        request.method = .put
        let body = MessageBody(
            once: AsyncStream {
                $0.yield([1, 2][...])
                $0.finish()
            }
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.sendSkippingWaits(request, body: body)
        }
        #expect(error?.reason == .bodyNotReplayable)
        #expect(bench.transport.received.map(\.body) == [[1, 2]])
    }

    @Test func everyCombinationOfDoubtMethodAndPermissionIsDecidedByTheRule() {
        let permissions: [RequestOptions.ResendPermission] = [.byMethod, .replayable, .spending]
        for processed in Outcome.Processed.allCases {
            for method in [HTTPRequest.Method.get, .head, .options, .trace, .put, .delete, .post, .patch, .connect] {
                for permission in permissions {
                    var request = Bench.get
                    request.method = method
                    let obstacle = ResendRule.obstacle(
                        outcome: Outcome(.unavailable, processed: processed),
                        request: request,
                        body: nil,
                        permission: permission
                    )
                    let isIdempotent = ![.post, .patch, .connect].contains(method)
                    let isAllowed =
                        processed == .no || permission == .replayable || (permission == .byMethod && isIdempotent)
                    #expect((obstacle == nil) == isAllowed, "\(processed) \(method) \(permission)")
                }
            }
        }
    }
}
