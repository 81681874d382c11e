import Synchronization

/// Numbers the calls and operations of a client, from 1.
package final class CallNumbers: Sendable {
    private let count = Atomic(0)

    package init() {}

    package func next() -> Int {
        count.add(1, ordering: .relaxed).newValue
    }
}
