import HTTPRecovery
import HTTPRecoveryTesting
import Synchronization
import Testing

@testable import CurlTransport

/// The last bytes of a body come with its end, whenever the reader looks.
@Suite(.timeLimit(.minutes(30)))
struct LastBytesTests {
    /// A reader that asks while the loop ends the transfer must not take what is left for nothing.
    @Test
    func aReaderNeverMissesTheEnd() async throws {
        let loop = try #require(EventLoop(configuration: CurlTransport.Configuration()))
        let request = try EncodedRequest(.to("example.com"), body: nil, decompresses: false)
        var lost = 0
        let rounds = ByteMutator.rounds(20_000)
        for round in 0..<rounds {
            let transfer = Transfer(request: request, deadline: Monotonic.never, loop: loop)
            // As they are when the head was handed over, and the rest of the body came with the end.
            transfer.facts.sawHead = true
            transfer.isHeadDelivered = true
            transfer.withReception { $0.incoming = [1, 2, 3, 4] }
            let isReading = Atomic(false)
            async let bytes = {
                isReading.store(true, ordering: .releasing)
                return try await transfer.nextBytes(atLeast: 1)
            }()
            // The two meet at every distance.
            while !isReading.load(ordering: .acquiring) { await Task.yield() }
            for _ in 0..<(round % 64) { _ = isReading.load(ordering: .relaxed) }
            var resumptions: [Resumption] = []
            transfer.finish(nil, &resumptions)
            for resumption in resumptions { resumption.carryOut() }
            if try await bytes != [1, 2, 3, 4] { lost += 1 }
        }
        #expect(lost == 0, "of \(rounds)")
        await loop.stop()
    }
}
