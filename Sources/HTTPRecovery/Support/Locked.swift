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
@safe package struct Locked<Value: Sendable>: @unchecked Sendable {
    /// Value and mutex in one allocation; a mutex must not move in memory.
    @safe private final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit {
            unsafe withUnsafeMutablePointerToElements { _ = unsafe pthread_mutex_destroy($0) }
        }
    }

    private let storage: ManagedBuffer<Value, pthread_mutex_t>

    package init(_ value: Value) {
        unsafe storage = Storage.create(minimumCapacity: 1) { buffer in
            unsafe buffer.withUnsafeMutablePointerToElements { mutex in
                unsafe mutex.initialize(to: pthread_mutex_t())
                _ = unsafe pthread_mutex_init(mutex, nil)
            }
            return value
        }
    }

    /// Hands the value to the function, and to nobody else meanwhile.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe storage.withUnsafeMutablePointers { value, mutex throws(Failure) in
            _ = unsafe pthread_mutex_lock(mutex)
            defer { _ = unsafe pthread_mutex_unlock(mutex) }
            return try unsafe body(&value.pointee)
        }
    }
}

extension Locked: CustomReflectable {
    /// A mirror without children: whoever prints what holds a lock does not print, unlocked, what is behind it.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
