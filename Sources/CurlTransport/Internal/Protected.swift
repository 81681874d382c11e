import CCurl
import Glibc
import HTTPRecovery

/// A value behind a lock, as `Locked` is: generic code of this module, which the compiler makes for each value anew.
///
/// Unchecked, because the value is reached in ``withLock(_:)`` only, by one thread at a time. A value without a size would
/// share its address with the object's header: guard something that has one.
@safe
final class Protected<Value: Sendable>: ManagedBuffer<Value, pthread_mutex_t> {
    static func make(_ value: Value) -> Protected {
        let buffer = unsafe create(minimumCapacity: 1) { buffer in
            unsafe buffer.withUnsafeMutablePointerToElements { unsafe $0.makeMutex() }
            return value
        }
        // What a class creates is of the class.
        return unsafe unsafeDowncast(buffer, to: Protected.self)
    }

    deinit {
        unsafe withUnsafeMutablePointerToElements { unsafe $0.destroyMutex() }
    }

    /// Hands the value to the function, and to nobody else meanwhile.
    @inline(__always)
    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe withUnsafeMutablePointers { value, mutex throws(Failure) in
            unsafe mutex.lock()
            defer { unsafe mutex.unlock() }
            return try unsafe body(&value.pointee)
        }
    }

    /// Hands the value to the function if nobody has it; otherwise returns false at once.
    @inline(__always)
    func withLockIfFree(_ body: (inout Value) -> Void) -> Bool {
        unsafe withUnsafeMutablePointers { value, mutex in
            guard unsafe pthread_mutex_trylock(mutex) == 0 else { return false }
            defer { unsafe mutex.unlock() }
            unsafe body(&value.pointee)
            return true
        }
    }

    /// Waits until nobody has the value, for so many nanoseconds at most.
    func wait(atMost nanoseconds: UInt64) {
        unsafe withUnsafeMutablePointerToElements { mutex in
            if unsafe ccurl_lock_within(mutex, nanoseconds) == 0 { unsafe mutex.unlock() }
        }
    }
}

extension Protected: CustomReflectable {
    /// A mirror without children: whoever prints what holds a lock does not print, unlocked, what is behind it.
    var customMirror: Mirror {
        Mirror(self, children: EmptyCollection<Mirror.Child>(), ancestorRepresentation: .suppressed)
    }
}
