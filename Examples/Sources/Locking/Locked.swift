import Glibc

/// A value behind a lock.
///
/// `Synchronization.Mutex` would do, were it not that the thread sanitizer does not see that lock on Linux and reports
/// races that are none; a pthread mutex it knows. `@unchecked Sendable` is right because `value` is reached in
/// ``withLock(_:)`` only, by one thread at a time.
@safe package final class Locked<Value: Sendable>: @unchecked Sendable {
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Puts the value behind a lock.
    package init(_ value: Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        _ = unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Hands the value to the body, and to nobody else meanwhile.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        _ = unsafe pthread_mutex_lock(mutex)
        defer { _ = unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
