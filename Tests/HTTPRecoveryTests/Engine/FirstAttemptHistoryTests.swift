import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// Random calls, each lived twice: nobody can tell whether the first attempt had a driver.
///
/// A call that is recorded has one from the beginning.
@Suite(.timeLimit(.minutes(30))) struct FirstAttemptHistoryTests {
    /// Has nothing to say to first attempts, and writes down what it is asked and told.
    private final class Listener: Admission {
        let notes = Locked<[String]>([])

        func mayHold(_ cause: History.Cause, context: CallContext) -> Bool { cause != .call }

        func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
            note("asked \(attempt.cause) \(attempt.isDue) \(attempt.origin)")
            return .go()
        }

        func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
            note("told \(attempt.cause) \(end) \(attempt.longestWait)")
            return { [self] in
                await Task.yield()
                note("stored")
                return nil
            }
        }

        func note(_ word: String) { notes.withLock { $0.append(word) } }
    }

    private struct Broken: Error {}

    /// Does what a layer may do behind the engine.
    private struct Odd: ClientLayer {
        let seed: UInt64
        let count = Locked(UInt64(0))

        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            let number = count.withLock { count in
                count += 1
                return count
            }
            switch ByteMutator(seed: seed &+ number).below(12) {
            case 0: throw Broken()
            case 1:
                _ = try await next(request, body: body, context: context)
                throw CancellationError()
            case 2: return RecoveredResponse(head: HTTPResponse(status: .ok), body: .empty)
            case 3:
                let outcome = Outcome(.unavailable, processed: .no, remedies: [.retry])
                return RecoveredResponse(
                    head: HTTPResponse(status: .serviceUnavailable),
                    body: .empty,
                    outcome: outcome
                )
            case 4:
                _ = try await next(request, body: body, context: context)
                throw Broken()
            case 5:
                var response = try await next(request, body: body, context: context)
                response.origin = Origin(scheme: "https", authority: "elsewhere.example")
                return response
            case 6:
                try await context.wait(.milliseconds(500), reason: .unavailable)
                return try await next(request, body: body, context: context)
            case 7: throw TransportError(.connectionLost, .neverSent)
            default: return try await next(request, body: body, context: context)
            }
        }
    }

    private func steps(_ random: ByteMutator) -> [ScriptedTransport.Step] {
        (0..<6).map { _ in
            switch random.below(12) {
            case 0: .status(503)
            case 1: .status(429, ["retry-after": "\(random.below(5))"])
            case 2: .fail(.connectionLost, .unknown)
            case 3: .fail(.connectionLost, .neverSent)
            case 4: .status(404, body: "nope")
            case 5: .status(302, ["location": random.below(2) == 0 ? "https://other.example/x" : "/y"])
            case 6: .status(503, ["retry-after": "\(random.below(90))"])
            case 7: .status(401)
            case 8:
                .run { _ in
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    return .scripted(random.below(2) == 0 ? 200 : 503)
                }
            default: .status(200, body: "fine")
            }
        }
    }

    /// Lives four calls and writes down all that anybody can see of them.
    private func live(_ seed: UInt64, isDriven: Bool) async -> [String] {
        let random = ByteMutator(seed: seed)
        let (listener, odd) = (Listener(), Odd(seed: seed))
        let script = steps(random)
        let (isOdd, redirectsInside, redirectsOutside, hasDeadline) =
            (random.below(2) == 0, random.below(4) == 0, random.below(3) == 0, random.below(2) == 0)
        let deadline = Duration.milliseconds(random.below(20_000))
        let bench = Bench(script, seed: seed) {
            if hasDeadline { Deadline(deadline) }
            if redirectsOutside { Redirects() }
            Recovery(
                maxWait: .seconds(30),
                budget: .ratio(.init(ratio: 0.2, burst: 1)),
                admissions: [listener]
            )
            if isOdd { odd }
            if redirectsInside { Redirects() }
            AttemptTimeout(.seconds(3))
        }
        var words: [String] = []
        for _ in 0..<4 {
            var options = isDriven ? RequestOptions(recorder: { _ in }) : RequestOptions()
            if random.below(5) == 0 { options.buffering = .streamed }
            if random.below(6) == 0 { options.deadline = .seconds(random.below(8)) }
            if random.below(6) == 0 { options.account = "a" }
            let (request, isCancelled) = (random.below(3) == 0 ? Bench.post : Bench.get, random.below(12) == 0)
            do {
                let response = try await bench.clock.skippingWaits { [options] in
                    if isCancelled { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
                    return try await bench.client.send(request, options: options)
                }
                words.append("\(response.status.code) \(response.outcome.kind) \(response.history)")
            } catch let error as RecoveryError {
                words.append("\(error) \(String(describing: error.retryAfter)) \(error.history)")
            } catch {
                words.append("\(type(of: error))")
            }
        }
        words += bench.events.events.map { "\($0.call) \($0.kind.words) \($0.time.sinceStart) \($0.method ?? "")" }
        words += bench.transport.received.map { "\($0.request.redactedURL) \(String(describing: $0.timeout))" }
        return words + listener.notes.withLock { $0 }
    }

    @Test func nobodyCanTellWhetherThereWasADriver() async throws {
        for seed in 0..<UInt64(2000) {
            let plain = await live(seed, isDriven: false)
            let driven = await live(seed, isDriven: true)
            #expect(plain == driven, "seed \(seed)")
            if plain != driven { return }
        }
    }
}
