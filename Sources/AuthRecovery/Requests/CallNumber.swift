package import HTTPRecovery
import Synchronization

/// Remembers which call it was that events spoke of.
package final class CallNumber: Sendable {
    private let number: Atomic<Int>

    package init(_ number: Int = 0) {
        self.number = Atomic(number)
    }

    package var latest: Int {
        number.load(ordering: .relaxed)
    }

    package func observe(_ event: RecoveryEvent) {
        number.store(event.parent ?? event.call, ordering: .relaxed)
    }
}
