#if Redis
import Glibc
import HTTPRecovery

/// Threads of the operating system.
enum Thread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    /// Runs a function on a thread of its own, which ends with it; false where the system has no thread left.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        // The thread takes over the retain.
        let context = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread,
            nil,
            { context in
                guard let context = unsafe context else { return nil }
                ThreadSignals.leaveToProgram()
                unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                return nil
            },
            context
        )
        guard result == 0 else {
            unsafe Unmanaged<Work>.fromOpaque(context).release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
#endif
