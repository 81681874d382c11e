/// The transfers that libcurl has, in no order; each knows its place, so that it can leave.
struct RunningTransfers {
    private(set) var items: [Transfer] = []

    mutating func insert(_ transfer: Transfer) {
        transfer.runningIndex = items.count
        items.append(transfer)
    }

    mutating func remove(_ transfer: Transfer) {
        let index = transfer.runningIndex
        guard index >= 0, let last = items.popLast() else { return }
        transfer.runningIndex = -1
        guard index < items.count else { return }
        items[index] = last
        last.runningIndex = index
    }
}
