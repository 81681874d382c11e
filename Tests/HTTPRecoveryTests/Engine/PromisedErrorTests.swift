import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("A call throws a RecoveryError or a CancellationError")
struct PromisedErrorTests {
    private struct Odd: Error {}

    private struct Throwing: ClientLayer {
        let error: any Error

        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            throw error
        }
    }

    @Test func aLayersOwnErrorIsTheCause() async throws {
        let bench = Bench {
            Recovery()
            Throwing(error: Odd())
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(error?.cause is Odd)
        #expect(error?.kind == .misconfigured)
        #expect(error?.outcome.processed == .no)
        #expect(bench.events.words.suffix(2) == ["giving_up misconfigured not_recoverable", "done failed 0"])
    }

    @Test func aStoreThatDoesNotAnswerIsAnOutage() async throws {
        let bench = Bench {
            Recovery()
            Throwing(error: SharedState.StoreError("the store does not answer"))
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(error?.cause is SharedState.StoreError)
        #expect(error?.kind == .unavailable)
        #expect(error?.remedies == [.retry])
    }

    @Test func theCallersBodyIsTheCallersToFix() async throws {
        let bench = Bench()
        let broken = MessageBody {
            AsyncThrowingStream<ArraySlice<UInt8>, any Error> { continuation in
                continuation.yield([1])
                continuation.finish(throwing: Odd())
            }
        }
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.send(Bench.post, body: broken)
        }
        #expect(error?.cause is Odd)
        #expect(error?.kind == .invalidRequest)
        #expect(error?.remedies == [.fixRequest])
    }

    @Test func aFileThatIsGoneIsTheCallersToFix() async throws {
        let bench = Bench()
        let missing = MessageBody.ReadError.unreadableFile(path: "/missing", errno: 2)
        let body = MessageBody {
            AsyncThrowingStream<ArraySlice<UInt8>, any Error> { $0.finish(throwing: missing) }
        }
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.send(Bench.post, body: body)
        }
        #expect(error?.cause as? MessageBody.ReadError == missing)
        #expect(error?.kind == .invalidRequest)
    }

    @Test func aResponseThatBreaksOffIsALostAnswer() async throws {
        let step = ScriptedTransport.Step.run { _ in
            let broken = AsyncThrowingStream<ArraySlice<UInt8>, any Error> { continuation in
                continuation.yield([1])
                continuation.finish(throwing: Odd())
            }
            var response = TransportResponse.scripted(200)
            response.body = MessageBody(once: broken)
            return response
        }
        let bench = Bench([step])
        #expect(try await bench.sendSkippingWaits().status == .ok, "a GET is sent again")
        bench.transport.append([step])
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.post) }
        #expect(error?.kind == .transport)
        #expect(error?.outcome.transportError?.certainty == .answered)
    }

    @Test func whatIsCancelledStaysCancelled() async throws {
        let bench = Bench {
            Recovery()
            Throwing(error: CancellationError())
        }
        await #expect(throws: CancellationError.self) { try await bench.client.send(Bench.get) }
    }
}
