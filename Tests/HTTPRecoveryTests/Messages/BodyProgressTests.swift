import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// How far the reading of a body has come.
@Suite struct BodyProgressTests {
    private final class Reports: Sendable {
        let all = Locked<[MessageBody.Progress]>([])
        var counts: [Int] { all.withLock { $0.map(\.byteCount) } }

        func observe(_ body: MessageBody) -> MessageBody {
            body.onProgress { progress in self.all.withLock { $0.append(progress) } }
        }
    }

    @Test func bytesInMemoryComeInPieces() async throws {
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        let reports = Reports()
        let body = reports.observe(MessageBody(bytes))
        #expect(body.length == bytes.count && body.replayability == .replayable)
        for _ in 0..<2 { #expect(try await body.collect(upTo: 1 << 20) == bytes) }
        let once = [65_536, 131_072, 196_608, 200_000]
        #expect(reports.counts == once + once, "each reading begins anew")
        #expect(reports.all.withLock { $0.last?.fraction } == 1)
        #expect(reports.all.withLock { $0.allSatisfy { $0.length == bytes.count } })
    }

    @Test func aStreamKeepsItsPiecesAndWhatItIs() async throws {
        let reports = Reports()
        let stream = AsyncStream<ArraySlice<UInt8>> { continuation in
            for size in [3, 0, 5] { continuation.yield(ArraySlice(repeating: 7, count: size)) }
            continuation.finish()
        }
        let body = reports.observe(MessageBody(once: stream))
        #expect(body.length == nil && body.replayability == .once && body.canBeRead)
        var sizes: [Int] = []
        for try await chunk in body { sizes.append(chunk.count) }
        #expect(sizes == [3, 0, 5])
        #expect(reports.counts == [3, 3, 8])
        #expect(reports.all.withLock { $0.last?.fraction } == nil)
        #expect(!body.canBeRead)
        await #expect(throws: MessageBody.ReadError.alreadyConsumed) { try await body.collect(upTo: 10) }
    }

    @Test func anEmptyBodyTellsNothing() async throws {
        let reports = Reports()
        #expect(try await reports.observe(.empty).collect(upTo: 10).isEmpty)
        #expect(reports.counts.isEmpty)
        #expect(MessageBody.Progress(byteCount: 0, length: 0).fraction == 1)
    }

    @Test func aReadingThatFailsTellsWhatCame() async throws {
        struct Broken: Error {}
        let reports = Reports()
        let stream = AsyncThrowingStream<ArraySlice<UInt8>, any Error> { continuation in
            continuation.yield([1, 2])
            continuation.finish(throwing: Broken())
        }
        await #expect(throws: Broken.self) { try await reports.observe(MessageBody(once: stream)).collect(upTo: 10) }
        #expect(reports.counts == [2])
    }

    /// An upload that is tried again is read again.
    @Test func eachAttemptCountsAnew() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(503), .status(200)])
        let client = RecoveringClient(transport: transport, runtime: .manual(clock))
        let reports = Reports()
        let body = reports.observe(MessageBody("hello"))
        let request = HTTPRequest(method: .put, scheme: "https", authority: "h", path: "/")
        let response = try await clock.skippingWaits { try await client.send(request, body: body) }
        #expect(response.status == .ok)
        #expect(reports.counts == [5, 5])
    }
}
