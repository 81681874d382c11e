import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Synchronization
import Testing

@Suite struct P10HostileInputIsBounded {
    @Test(arguments: [
        "nan", "inf", "-1", "1e400", String(repeating: "9", count: 100_000), "1.5", "0x10", "\u{0}", "", "٣",
        "Fri, 31 Dec 9999 23:59:59 GMT", "Sun, 99 Foo 99999 99:99:99 GMT",
    ])
    func anyRetryAfterEndsInAValueOrATypedError(value: String) async throws {
        let bench = Bench([.status(429, ["retry-after": value])])
        do {
            #expect(try await bench.sendSkippingWaits().status == .ok)
        } catch let error as RecoveryError {
            #expect(error.reason == .waitExceedsLimit || error.reason == .notRecoverable)
        }
    }

    @Test func anEndlessErrorBodyIsReadUpToALimit() async throws {
        let produced = Counter()
        let bench = Bench([
            .run { _ in
                let endless = AsyncStream<ArraySlice<UInt8>> {
                    produced.add(65_536)
                    return ArraySlice([UInt8](repeating: 0x41, count: 65_536))
                }
                return TransportResponse(head: HTTPResponse(status: .badRequest), body: MessageBody(once: endless))
            }
        ])
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        let body = try await error?.response?.body.collect(upTo: 1 << 20)
        #expect(body?.count == 1 << 20)
        #expect(produced.value <= (1 << 20) + 2 * 65_536)
    }

    @Test func aLargeSuccessStreamsOnBehindWhatWasRead() async throws {
        let bench = Bench([
            .run { _ in
                let chunks = AsyncStream<ArraySlice<UInt8>> { continuation in
                    for index in 0..<40 {
                        continuation.yield(ArraySlice([UInt8](repeating: UInt8(index), count: 65_536)))
                    }
                    continuation.finish()
                }
                return TransportResponse(head: HTTPResponse(status: .ok), body: MessageBody(once: chunks))
            }
        ])
        let response = try await bench.client.send(Bench.get)
        let bytes = try await response.body.collect(upTo: 1 << 24)
        #expect(bytes.count == 40 * 65_536)
        #expect(bytes.last == 39)
        await #expect(throws: MessageBody.ReadError.alreadyConsumed) { try await response.body.collect(upTo: 1) }
    }

    @Test func extremeNumbersDoNotTrap() {
        let extremes: [Double] = [.nan, .infinity, -.infinity, 1e308, -1e308, 0, -0.0]
        for value in extremes {
            #expect(Duration.saturating(seconds: value) <= .longest)
            _ = Backoff.exponential(base: .longest, cap: .longest, multiplier: value).delay(retry: .max, random: 0.5)
            _ = Backoff.exponential(jitter: .plusMinus(value)).delay(retry: 3, random: 0.5)
            _ = RetryBudget(.init(ratio: value, burst: .max))
        }
        #expect(Duration.longest.saturatingAdding(.longest) == .longest)
        #expect(Duration(secondsComponent: .max, attosecondsComponent: 0).saturatingAdding(.longest) == .longest)
    }
}

/// Counts from several tasks.
final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ number: Int) {
        count.add(number, ordering: .relaxed)
    }
}
