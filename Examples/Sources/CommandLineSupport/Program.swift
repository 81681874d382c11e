public import ArgumentParser
import Glibc
import HTTPRecovery
import Locking
import Synchronization

/// Runs the work of a command-line program and ends it on a signal.
public enum Program {
    /// What is done when the program goes on after it was stopped, as by Ctrl-Z and `fg`.
    static let resumption = Locked<(@Sendable () -> Void)?>(nil)

    /// How long the work may take to end after an interruption.
    private static let grace = Duration.milliseconds(500)

    /// How long it may take if it ends something that must not be cut off; a little more than a renewal may take.
    private static let longestGrace = Duration.seconds(32)

    /// Makes sure that standard input, output and error exist; to be called first.
    ///
    /// If one was closed by the caller, the next file would take its place, and get what was not meant for it. A standard
    /// output that was closed takes nothing, so that what would have gone there is not lost in silence.
    public static func openStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The system takes the lowest free number.
            _ = unsafe open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR)
        }
    }

    /// Ends the program before its work has begun.
    public static func exit(_ status: ExitStatus) -> Never {
        Glibc.exit(status.rawValue)
    }

    /// Says why the arguments are not accepted and ends the program; help and version go to standard output.
    ///
    /// What was written on the command line may have come from elsewhere: it is shown like all that is not ours.
    ///
    /// - Parameters:
    ///   - error: What is wrong with them.
    ///   - command: The program's command.
    ///   - arguments: What was parsed. Default: the command line.
    ///   - note: What there is to say beside a message, such as where an option comes from. Default: nothing.
    public static func refuse<Command: ParsableCommand>(
        _ error: any Error,
        by command: Command.Type,
        arguments: [String] = Array(CommandLine.arguments.dropFirst()),
        note: (String) -> String? = { _ in nil }
    ) -> Never {
        let code = command.exitCode(for: error)
        guard !code.isSuccess else { command.exit(withError: error) }
        let message = message(for: error, of: command, arguments)
        if !message.isEmpty { Terminal().write(ScreenText(lines: message)) }
        if let note = note(command.message(for: error)) { Terminal().write(ScreenText(lines: note)) }
        Glibc.exit(code.rawValue)
    }

    /// What is wrong and how the program is called.
    private static func message<Command: ParsableCommand>(
        for error: any Error,
        of command: Command.Type,
        _ arguments: [String]
    ) -> String {
        if arguments.isEmpty {
            // The whole help would push off the screen what is missing.
            let name = command.configuration.commandName ?? "the program"
            return """
                Error: \(command.message(for: error))
                Usage: \(command.usageString())
                  See '\(name) --help' for more information.
                """
        }
        let full = command.fullMessage(for: error)
        guard full.hasPrefix("Error: Unexpected argument") || full.contains("is invalid for '<command>'") else {
            return full
        }
        // Of a misspelt option the value is seen first, which stands there alone, or for the command.
        for index in arguments.indices where !arguments[index].hasPrefix("-") {
            var rest = arguments
            rest.remove(at: index)
            do {
                _ = try command.parseAsRoot(rest)
            } catch {
                let message = command.fullMessage(for: error)
                if message.hasPrefix("Error: Unknown option") { return message }
            }
        }
        return full
    }

    /// Runs the work as a task, and exits with its status.
    ///
    /// SIGINT, SIGTERM and SIGHUP cancel the task. Work that does not end at once, or a second signal, ends the program
    /// with status 130 after `emergency`. To be called on the main thread before there is any other.
    ///
    /// - Parameters:
    ///   - emergency: Writes what must not be lost when the work does not end by itself; it must not wait for it.
    ///   - isFinishing: Whether work that does not end at once is ending something that must not be cut off, but by a
    ///     second signal.
    ///   - work: The work.
    public static func run(
        emergency: @escaping @Sendable () -> Void = {},
        isFinishing: @escaping @Sendable () -> Bool = { false },
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
        waitForAnotherSignal(while: isFinishing)
        // Whoever reads our output may have stopped; the program ends all the same.
        signal(SIGALRM) { _ in _exit(130) }
        alarm(1)
        emergency()
        _exit(ExitStatus.interrupted.rawValue)
    }

    /// Returns when a signal is pending, or nothing is left to wait for.
    private static func waitForAnotherSignal(while isFinishing: () -> Bool) {
        let start = ContinuousClock.now
        while case let waited = ContinuousClock.now - start,
            waited < grace || (waited < longestGrace && isFinishing())
        {
            var pending = sigset_t()
            // The call fills a local value.
            unsafe sigpending(&pending)
            if [SIGINT, SIGTERM, SIGHUP].contains(where: { unsafe sigismember(&pending, $0) == 1 }) { return }
            _ = poll(nil, 0, 20)
        }
    }
}
