#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A thread of the operating system, for what blocks or loops: it holds up none of the concurrency runtime's.
///
/// Unchecked for systems whose name of a thread is a pointer; it is only ever handed back.
@safe
package struct SystemThread: @unchecked Sendable {
    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    /// What the system calls all of them, in 15 bytes at most.
    ///
    /// Without a name of its own a thread has that of whoever began it, such as one of the concurrency runtime's.
    package static let name = "http-recovery"

    private let thread: pthread_t

    /// Begins the function on a thread of its own, which ends with it; nil if the system has no thread left.
    ///
    /// Either ``join()`` or ``detach()`` has to follow.
    package init?(_ body: @escaping @Sendable () -> Void) {
        #if canImport(Darwin)
        var created: pthread_t?
        #else
        var created = pthread_t()
        #endif
        // The thread takes over the retain.
        let context = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        let result = unsafe pthread_create(
            &created,
            nil,
            { (context: UnsafeMutableRawPointer?) in
                guard let context = unsafe context else { return nil }
                SystemThread.takeName()
                SystemThread.leaveSignalsToProgram()
                unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                return nil
            },
            context
        )
        #if canImport(Darwin)
        let present = created
        #else
        let present = Optional(created)
        #endif
        guard result == 0, let present else {
            unsafe Unmanaged<Work>.fromOpaque(context).release()
            return nil
        }
        thread = present
    }

    /// Runs the function on a thread of its own that nobody waits for; false if the system has no thread left.
    package static func run(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard let thread = SystemThread(body) else { return false }
        thread.detach()
        return true
    }

    /// Waits for the thread's end; the thread itself, which cannot, goes on by itself.
    package func join() {
        if pthread_equal(thread, pthread_self()) != 0 {
            detach()
        } else {
            _ = pthread_join(thread, nil)
        }
    }

    /// Lets the thread end by itself.
    package func detach() {
        pthread_detach(thread)
    }

    private static func takeName() {
        #if canImport(Darwin)
        unsafe pthread_setname_np(name)
        #else
        // Swift's modules of the C libraries have no function for it.
        let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = unsafe write(file, name, name.utf8.count)
        close(file)
        #endif
    }

    /// Leaves signals to the program's own threads; a SIGPIPE must not come at all.
    ///
    /// Those of a crash stay with the thread that caused them: blocked, they would kill the process without its crash
    /// handler.
    private static func leaveSignalsToProgram() {
        var blocked = sigset_t()
        unsafe sigfillset(&blocked)
        for signal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] {
            unsafe sigdelset(&blocked, signal)
        }
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, nil)
    }
}
