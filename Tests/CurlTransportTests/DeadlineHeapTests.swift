import HTTPRecovery
import Testing

@testable import CurlTransport

/// The order in which the time of transfers is over.
struct DeadlineHeapTests {
    /// Whatever is put in and taken out, in whatever order, the rest leaves by its deadlines.
    @Test(arguments: 0..<20)
    func whoIsInLeavesByItsDeadline(seed: UInt64) async throws {
        let loop = try #require(EventLoop(configuration: CurlTransport.Configuration().normalized()))
        let request = try EncodedRequest(.to("127.0.0.1:9"), body: nil, decompresses: true)
        var random = SplitMix64(seed: seed)
        var heap = DeadlineHeap()
        var members: [Transfer] = []
        for _ in 0..<400 {
            if members.isEmpty || UInt8.random(in: 0..<3, using: &random) > 0 {
                // The same deadline comes more than once.
                let deadline = UInt64.random(in: 0..<100, using: &random)
                let transfer = Transfer(request: request, deadline: deadline, loop: loop)
                members.append(transfer)
                heap.insert(transfer)
            } else if Bool.random(using: &random) {
                let index = Int.random(in: members.indices, using: &random)
                heap.remove(members[index])
                #expect(members[index].heapIndex == -1)
                members.remove(at: index)
            } else {
                let removed = heap.removeFirst()
                let first = try #require(removed)
                #expect(first.deadline == members.map(\.deadline).min())
                members.removeAll { $0 === first }
            }
            #expect(heap.first == members.map(\.deadline).min() ?? Monotonic.never)
        }
        var rest: [UInt64] = []
        while let transfer = heap.removeFirst() { rest.append(transfer.deadline) }
        #expect(rest == members.map(\.deadline).sorted())
        await loop.stop()
    }
}
