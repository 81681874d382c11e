#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The signals of the library's own threads.
package enum ThreadSignals {
    /// Leaves signals to the program's own threads; a SIGPIPE must not come at all.
    ///
    /// Those of a crash stay with the thread that caused them: blocked, they would kill the process without its crash
    /// handler. To be called on the new thread, first of all.
    package static func leaveToProgram() {
        var blocked = sigset_t()
        unsafe sigfillset(&blocked)
        for signal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] {
            unsafe sigdelset(&blocked, signal)
        }
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, nil)
    }
}
