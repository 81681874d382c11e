/// The transfers to one origin: how many run, and who waits, in the order of arrival.
///
/// The limit is kept here and not in libcurl, whose own queue costs more than no limit at all and is unfair.
final class Origin {
    let key: String
    var active = 0
    private var queue: [Transfer?] = []
    private var head = 0

    init(key: String) {
        self.key = key
    }

    var isIdle: Bool { active == 0 && head == queue.count }

    func enqueue(_ transfer: Transfer) {
        queue.append(transfer)
    }

    /// The next that still waits.
    func next() -> Transfer? {
        while head < queue.count {
            let transfer = queue[head]
            queue[head] = nil
            head += 1
            if head == queue.count {
                queue.removeAll(keepingCapacity: true)
                head = 0
            } else if head > 1024, head * 2 > queue.count {
                queue.removeFirst(head)
                head = 0
            }
            // A cancelled or timed-out transfer has left its origin.
            if let transfer, transfer.origin != nil { return transfer }
        }
        return nil
    }
}

/// The deadlines of queued transfers: a binary heap, cleared of those that left the queue only when they come up.
struct DeadlineHeap {
    private var items: [Transfer] = []

    var first: UInt64 { items.first?.deadline ?? Monotonic.never }

    mutating func insert(_ transfer: Transfer) {
        items.append(transfer)
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if items[parent].deadline <= items[child].deadline { break }
            items.swapAt(parent, child)
            child = parent
        }
    }

    mutating func removeFirst() -> Transfer? {
        guard let first = items.first, let last = items.popLast() else { return nil }
        if items.isEmpty { return first }
        items[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < items.count {
                if items[child].deadline < items[least].deadline { least = child }
            }
            if least == parent { return first }
            items.swapAt(parent, least)
            parent = least
        }
    }
}
