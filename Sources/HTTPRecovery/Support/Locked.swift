#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A value behind a lock, for short critical sections.
///
/// `Synchronization.Mutex` would do, were it not that the thread sanitizer does not see that lock on Linux and reports
/// races that are none; a pthread mutex it knows. Unchecked, because the value is reached in ``withLock(_:)`` only, by
/// one thread at a time. A value without a size, such as `()`, shares its address with the object's header, which the
/// sanitizer would take for a race: lock a `Bool` instead.
@safe package final class Locked<Value: Sendable>: @unchecked Sendable {
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ value: Value) {
        self.value = value
        // A mutex must not move in memory, so it has a place of its own until the end of this object.
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        _ = unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Hands the value to the function, and to nobody else meanwhile.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        _ = unsafe pthread_mutex_lock(mutex)
        defer { _ = unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}

extension Locked: CustomReflectable {
    /// A mirror without children: whoever prints what holds a lock does not print, unlocked, what is behind it.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
