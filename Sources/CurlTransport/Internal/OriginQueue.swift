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
    /// One that it does not hold: who is in it waits in a queue, or runs.
    @safe
    private struct Item {
        let deadline: UInt64
        let transfer: Unmanaged<Transfer>
    }

    private var items: [Item] = []

    var first: UInt64 { items.first?.deadline ?? Monotonic.never }

    mutating func insert(_ transfer: Transfer) {
        items.append(unsafe Item(deadline: transfer.deadline, transfer: .passUnretained(transfer)))
        rise(from: items.count - 1)
    }

    mutating func removeFirst() -> Transfer? {
        guard let first = unsafe items.first?.transfer.takeUnretainedValue() else { return nil }
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
        sink(from: index)
        rise(from: index)
    }

    /// Puts one at a place, and tells it of that.
    private mutating func put(_ item: Item, at index: Int) {
        items[index] = item
        unsafe item.transfer._withUnsafeGuaranteedRef { $0.heapIndex = index }
    }

    private mutating func rise(from start: Int) {
        let item = items[start]
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            if items[parent].deadline <= item.deadline { break }
            put(items[parent], at: place)
            place = parent
        }
        put(item, at: place)
    }

    private mutating func sink(from start: Int) {
        let item = items[start]
        var place = start
        while true {
            var child = 2 * place + 1
            if child + 1 < items.count, items[child + 1].deadline < items[child].deadline { child += 1 }
            guard child < items.count, items[child].deadline < item.deadline else { break }
            put(items[child], at: place)
            place = child
        }
        put(item, at: place)
    }
}
