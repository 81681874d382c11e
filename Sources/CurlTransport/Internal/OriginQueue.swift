import HTTPRecovery

/// The transfers to one origin: how many run, and who waits, in the order of arrival.
///
/// The limit is kept here and not in libcurl, whose own queue costs more than no limit at all and is unfair. Who waits is
/// linked to its neighbours, so that it can give up at any place.
final class OriginQueue {
    let key: EncodedRequest.Origin
    var active = 0
    var bodies = BodySizes()
    /// Whether a connection to it carries many transfers at a time; nil while that is not known.
    var isShared: Bool?
    /// Whether sharing is asked for, so that there may be a connection made for it even if the server knows none.
    let isSharingAskedFor: Bool
    /// How many may run while it is not known: one finds it out for all.
    var probes = 1
    private var (first, last): (Transfer?, Transfer?)

    init(key: EncodedRequest.Origin, isSharingAskedFor: Bool, isShared: Bool?) {
        self.key = key
        self.isSharingAskedFor = isSharingAskedFor
        self.isShared = isShared
    }

    var isIdle: Bool { active == 0 && first == nil }

    /// How many may run now, of so many at most.
    func places(of maximum: Int) -> Int { isShared == nil ? min(probes, maximum) : maximum }

    func enqueue(_ transfer: Transfer) {
        transfer.isQueued = true
        transfer.previous = last
        if let last { last.next = transfer } else { first = transfer }
        last = transfer
    }

    /// Takes the transfer out, if it waits.
    func remove(_ transfer: Transfer) {
        guard transfer.isQueued else { return }
        transfer.isQueued = false
        let (previous, next) = (transfer.previous, transfer.next)
        (transfer.previous, transfer.next) = (nil, nil)
        if let previous { previous.next = next } else { first = next }
        if let next { next.previous = previous } else { last = previous }
    }

    /// Takes the one that has waited longest.
    func next() -> Transfer? {
        guard let first else { return nil }
        remove(first)
        return first
    }
}

/// Deadlines of transfers: a binary heap whose members know their places, so that they can leave it early.
struct DeadlineHeap {
    private var items: [Transfer] = []

    var first: UInt64 { items.first?.deadline ?? Monotonic.never }

    mutating func insert(_ transfer: Transfer) {
        items.append(transfer)
        transfer.heapIndex = items.count - 1
        rise(from: items.count - 1)
    }

    mutating func removeFirst() -> Transfer? {
        guard let first = items.first else { return nil }
        remove(first)
        return first
    }

    /// Takes the transfer out, if it is in.
    mutating func remove(_ transfer: Transfer) {
        let index = transfer.heapIndex
        guard index >= 0, let last = items.popLast() else { return }
        transfer.heapIndex = -1
        guard index < items.count else { return }
        items[index] = last
        last.heapIndex = index
        sink(from: index)
        rise(from: index)
    }

    private mutating func rise(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            if items[parent].deadline <= items[child].deadline { return }
            exchange(parent, child)
            child = parent
        }
    }

    private mutating func sink(from start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < items.count {
                if items[child].deadline < items[least].deadline { least = child }
            }
            if least == parent { return }
            exchange(parent, least)
            parent = least
        }
    }

    private mutating func exchange(_ first: Int, _ second: Int) {
        items.swapAt(first, second)
        items[first].heapIndex = first
        items[second].heapIndex = second
    }
}
