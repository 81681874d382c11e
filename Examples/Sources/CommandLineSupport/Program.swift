import Glibc
import HTTPRecovery
import Locking
import Synchronization

/// Runs the work of a command-line program and ends it on a signal.
public enum Program {
    /// What is done when the program goes on after it was stopped, as by Ctrl-Z and `fg`.
    static let resumption = Locked<(@Sendable () -> Void)?>(nil)

    /// How long the work may take to end after an interruption, in milliseconds.
    private static let grace: Int32 = 500

    /// Makes sure that standard input, output and error exist; to be called first.
    ///
    /// Where one was closed by the caller, the next file would take its place, and get what was not meant for it.
    public static func openStandardDescriptors() {
        // The system takes the lowest free number.
        while case let descriptor = unsafe open("/dev/null", O_RDWR), descriptor >= 0 {
            if descriptor > STDERR_FILENO {
                close(descriptor)
                return
            }
        }
    }

    /// Ends the program before its work has begun.
    public static func exit(_ status: ExitStatus) -> Never {
        Glibc.exit(status.rawValue)
    }

    /// Runs the work as a task, and exits with its status.
    ///
    /// SIGINT, SIGTERM and SIGHUP cancel the task. Work that does not end at once, or a second signal, ends the program
    /// with status 130 after `emergency`. To be called on the main thread before there is any other.
    ///
    /// - Parameters:
    ///   - emergency: Writes what must not be lost when the work does not end by itself; it must not wait for it.
    ///   - work: The work.
    public static func run(
        emergency: @escaping @Sendable () -> Void = {},
        _ work: @escaping @Sendable () async -> ExitStatus
    ) -> Never {
        signal(SIGPIPE, SIG_IGN)
        var signals = sigset_t()
        // These calls read and fill a local value.
        unsafe sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGCONT] { unsafe sigaddset(&signals, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)

        let task = Task.detached {
            let status = await work()
            // Not `exit`: nothing is left to be flushed, and threads of libraries may still run.
            _exit(status.rawValue)
        }
        // The main thread waits for signals, so no other is ever interrupted by one.
        while true {
            let number = unsafe sigwaitinfo(&signals, nil)
            if number == SIGCONT { resumption.withLock { $0 }?() }
            if number > 0, number != SIGCONT { break }
        }
        task.cancel()
        waitForAnotherSignal(atMost: grace)
        // Whoever reads our output may have stopped; the program ends all the same.
        signal(SIGALRM) { _ in _exit(130) }
        alarm(1)
        emergency()
        _exit(ExitStatus.interrupted.rawValue)
    }

    /// Returns when a signal is pending, or after so many milliseconds.
    private static func waitForAnotherSignal(atMost milliseconds: Int32) {
        let step: Int32 = 20
        for _ in 0..<(milliseconds / step) {
            var pending = sigset_t()
            // The call fills a local value.
            unsafe sigpending(&pending)
            if [SIGINT, SIGTERM, SIGHUP].contains(where: { unsafe sigismember(&pending, $0) == 1 }) { return }
            _ = poll(nil, 0, step)
        }
    }
}
