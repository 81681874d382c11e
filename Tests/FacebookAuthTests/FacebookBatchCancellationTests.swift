import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Whoever gives up a batch takes nothing from the others.
@Suite("Cancelled callers of Facebook's batches", .timeLimit(.minutes(30)))
struct FacebookBatchCancellationTests {
    private static func item(_ code: Int, _ body: String, after seconds: Int? = nil) -> String {
        let headers = seconds.map { #"{"name":"Retry-After","value":"\#($0)"}"# } ?? ""
        return #"{"code":\#(code),"headers":[\#(headers)],"body":\#(JSONValue.string(body).description)}"#
    }

    private static let ok = item(200, #"{"id":"1"}"#)
    private static let limited = item(400, Recorded.error(613), after: 5)

    /// The paths of each batch that was sent.
    private static func paths(_ bench: FacebookBench) throws -> [[String]] {
        try bench.transport.received.compactMap { received in
            guard let batch = FormFields(parsing: received.text.utf8)["batch"].first else { return nil }
            return (try JSONValue(parsing: batch.reveal()).array ?? []).compactMap { $0["relative_url"]?.string }
        }
    }

    /// Its item's limit is stated to the other too, who waits for it, and goes on.
    @Test func whoeverWaitsForTheSameGateGoesOn() async throws {
        let bench = try FacebookBench([.answer("[\(Self.limited),\(Self.ok)]"), .answer("[\(Self.ok)]")])
        let facebook = bench.facebook
        let first = Task { try await facebook.batch([.init(path: "1"), .init(path: "2")]) }
        await bench.transport.waitForRequests(1)
        await bench.clock.waitForSleepers(1)
        let second = Task { try await facebook.batch([.init(path: "1")]) }
        await bench.clock.waitForSleepers(2)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let answers = try await bench.skippingWaits { try await second.value }
        #expect(answers.map(\.outcome.kind) == [.ok] && answers.map(\.attempts) == [1])
        #expect(try Self.paths(bench) == [["1", "2"], ["1"]])
    }

    /// A batch on its way is cancelled by itself, and counts against nothing.
    @Test func whoeverIsUnderWayGoesOn() async throws {
        let bench = try FacebookBench([.hang, .answer("[\(Self.ok),\(Self.ok)]"), .answer("[\(Self.ok)]")])
        let facebook = bench.facebook
        let first = Task { try await facebook.batch([.init(path: "1")]) }
        await bench.transport.waitForRequests(1)
        let second = Task { try await facebook.batch([.init(path: "2"), .init(path: "3")]) }
        await bench.transport.waitForRequests(2)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await second.value.map(\.outcome.kind) == [.ok, .ok])
        #expect(try await facebook.batch([.init(path: "1")]).map(\.outcome.kind) == [.ok])
        #expect(try Self.paths(bench) == [["1"], ["2", "3"], ["1"]])
    }
}
