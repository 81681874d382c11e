import Glibc
import HTTPRecovery
import Synchronization

/// Runs the work of a command-line program and ends it on a signal.
public enum Program {
    /// How long the work may take to end after an interruption, in milliseconds.
    private static let grace: Int32 = 500

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
        for number in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        let descriptor = unsafe signalfd(-1, &signals, Int32(SFD_CLOEXEC.rawValue))

        let task = Task.detached {
            let status = await work()
            // Not `exit`: nothing is left to be flushed, and threads of libraries may still run.
            _exit(status.rawValue)
        }
        // The main thread waits for signals, so no other is ever interrupted by one.
        waitForSignal(descriptor, timeout: -1)
        task.cancel()
        waitForSignal(descriptor, timeout: grace)
        // Whoever reads our output may have stopped; the program ends all the same.
        signal(SIGALRM) { _ in _exit(130) }
        alarm(1)
        emergency()
        _exit(ExitStatus.interrupted.rawValue)
    }

    /// Returns when a signal has come, or after so many milliseconds.
    private static func waitForSignal(_ descriptor: Int32, timeout: Int32) {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&poller, 1, timeout) < 0, errno == EINTR {}
        var information = [UInt8](repeating: 0, count: 128)
        // The size of the record; without taking it out the signal would be seen again.
        if poller.revents != 0 { _ = unsafe read(descriptor, &information, information.count) }
    }
}
