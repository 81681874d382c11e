import Dispatch
import Glibc
import Locking
import Synchronization

/// Why a question has no answer.
public struct InputEnded: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened.
    public var description: String { "the input ended before there was an answer" }

    /// Creates the error.
    public init() {}
}

extension Terminal {
    /// Whether somebody can be asked: a person types the input and sees the questions.
    public var canAsk: Bool {
        isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0
    }

    /// Asks a question and waits for a line.
    ///
    /// - Parameters:
    ///   - question: The question; the cursor stays behind it.
    ///   - isHidden: Whether what is typed is not shown.
    /// - Returns: The line without its end and without surrounding blanks; a hidden one keeps its blanks.
    /// - Throws: ``InputEnded`` at the end of the input; `CancellationError` as soon as the task is cancelled.
    public func ask(_ question: ScreenText, isHidden: Bool) async throws -> String {
        holdStatus(true)
        defer { holdStatus(false) }
        // Before the question: who types as soon as they see it must not see what they type.
        let echo = isHidden ? Echo() : nil
        // While the program is stopped the shell has the terminal, with settings and a line of its own: whoever sees the
        // question may stop it at once.
        Program.resumption.withLock { resumption in
            resumption = {
                echo?.suppress()
                try? FileDescriptor.write(question.description.utf8, to: STDERR_FILENO, name: "standard error")
            }
        }
        try? FileDescriptor.write(question.description.utf8, to: STDERR_FILENO, name: "standard error")
        defer {
            Program.resumption.withLock { $0 = nil }
            echo?.restore()
            // The return key was not shown either.
            if isHidden { try? FileDescriptor.write("\n".utf8, to: STDERR_FILENO, name: "standard error") }
        }
        let line: String
        do {
            line = try await Self.readLine()
        } catch {
            // What comes next, often the shell's prompt, stands on a line of its own.
            if !isHidden { try? FileDescriptor.write("\n".utf8, to: STDERR_FILENO, name: "standard error") }
            throw error
        }
        if isHidden { return line }
        var trimmed = line[...]
        while let first = trimmed.first, first.isWhitespace { trimmed = trimmed.dropFirst() }
        while let last = trimmed.last, last.isWhitespace { trimmed = trimmed.dropLast() }
        return String(trimmed)
    }

    /// Reads a line on a thread that may block, so that no task does.
    private static func readLine() async throws -> String {
        let wake = try WakePipe()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(with: Result { try readLine(until: wake.reading) })
                }
            }
        } onCancel: {
            wake.close()
        }
    }

    /// Reads byte by byte, so that nothing is taken from whoever reads the input next.
    private static func readLine(until wake: Int32) throws -> String {
        var line: [UInt8] = []
        while true {
            var descriptors = [
                pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            ]
            // The array outlives the call, which fills in what has happened.
            if unsafe poll(&descriptors, 2, -1) < 0, errno == EINTR { continue }
            if descriptors[1].revents != 0 { throw CancellationError() }
            var byte: UInt8 = 0
            // The buffer is the local byte.
            let count = unsafe read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count == 1 else {
                if line.isEmpty { throw InputEnded() }
                return String(decoding: line, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            if line.count < 65_536 { line.append(byte) }
        }
    }
}

/// Wakes a thread that polls, by closing the other end.
private final class WakePipe: Sendable {
    let reading: Int32
    private let writing: Int32
    private let isOpen = Atomic(true)

    init() throws(FileError) {
        var ends: [Int32] = [0, 0]
        // The array outlives the call, which fills it.
        guard unsafe pipe(&ends) == 0 else { throw FileError("opened", "a pipe", code: errno) }
        reading = ends[0]
        writing = ends[1]
    }

    deinit {
        close()
        _ = Glibc.close(reading)
    }

    func close() {
        if isOpen.exchange(false, ordering: .acquiringAndReleasing) { _ = Glibc.close(writing) }
    }
}

/// The terminal's echo, switched off for as long as something secret is typed.
private struct Echo: Sendable {
    private let previous: termios

    init?() {
        var settings = termios()
        // The call fills the local value.
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        previous = settings
        suppress()
    }

    /// Switches it off.
    func suppress() {
        var settings = previous
        settings.c_lflag &= ~tcflag_t(ECHO)
        // The call reads the local value.
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }

    func restore() {
        var settings = previous
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
}
