import HTTPRecovery
import Testing

@Suite("First in, first out")
struct FIFOTests {
    /// Every step of a random history does what it does to an array.
    @Test(arguments: 1...20)
    func itBehavesAsAnArray(seed: Int) {
        let random = Runtime.RandomSource(seed: UInt64(seed))
        var queue = FIFO<Int>()
        var model: [Int] = []
        for step in 0..<2_000 {
            switch random.bits() % 32 {
            case 0..<15:
                queue.append(step)
                model.append(step)
            case 15..<29: #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            case 29:
                queue.prepend(step)
                model.insert(step, at: 0)
            case 30:
                let removed = queue.remove { $0 % 3 == 0 }
                #expect(removed == model.filter { $0 % 3 == 0 })
                model.removeAll { $0 % 3 == 0 }
            default:
                if step % 7 == 0 {
                    #expect(queue.removeAll() == model)
                    model = []
                }
            }
            #expect(queue.count == model.count && queue.isEmpty == model.isEmpty && queue.first == model.first)
        }
        #expect(queue.all == model)
    }

    /// What has left is let go at once, not when the queue is tidied.
    @Test func whatHasLeftIsLetGo() {
        final class Thing: Sendable {}
        var queue = FIFO<Thing>()
        weak var first: Thing?
        do {
            let thing = Thing()
            first = thing
            queue.append(thing)
            queue.append(Thing())
        }
        #expect(first != nil)
        _ = queue.popFirst()
        #expect(first == nil)
    }
}
