#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

/// The system's lock, by itself: for another module that guards what is its own, where a ``Locked`` would be generic code
/// of this one, which takes ten times as long.
///
/// Who holds one is sendable, though no compiler says so of a `ManagedBuffer`.
@safe
package final class SystemMutex: ManagedBuffer<Bool, pthread_mutex_t> {
    package static func make() -> SystemMutex {
        let buffer = unsafe create(minimumCapacity: 1) { buffer in
            unsafe buffer.withUnsafeMutablePointerToElements { unsafe $0.makeMutex() }
            return false
        }
        // What a class creates is of the class.
        return unsafe unsafeDowncast(buffer, to: SystemMutex.self)
    }

    deinit {
        unsafe withUnsafeMutablePointerToElements { unsafe $0.destroyMutex() }
    }

    package func lock() {
        unsafe withUnsafeMutablePointerToElements { unsafe $0.lock() }
    }

    package func unlock() {
        unsafe withUnsafeMutablePointerToElements { unsafe $0.unlock() }
    }
}

extension UnsafeMutablePointer<pthread_mutex_t> {
    func makeMutex() {
        unsafe initialize(to: pthread_mutex_t())
        _ = unsafe pthread_mutex_init(self, nil)
    }

    func destroyMutex() {
        _ = unsafe pthread_mutex_destroy(self)
    }

    func lock() {
        _ = unsafe pthread_mutex_lock(self)
    }

    func unlock() {
        _ = unsafe pthread_mutex_unlock(self)
    }
}
