#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

// The system's lock, in memory that whoever guards something has for it.
extension UnsafeMutablePointer<pthread_mutex_t> {
    package func makeMutex() {
        unsafe initialize(to: pthread_mutex_t())
        _ = unsafe pthread_mutex_init(self, nil)
    }

    package func destroyMutex() {
        _ = unsafe pthread_mutex_destroy(self)
    }

    package func lock() {
        _ = unsafe pthread_mutex_lock(self)
    }

    package func unlock() {
        _ = unsafe pthread_mutex_unlock(self)
    }
}
