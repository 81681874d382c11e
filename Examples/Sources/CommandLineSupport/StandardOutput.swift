import Glibc
public import HTTPRecovery
import Synchronization

/// Standard output as a place for bodies and lines.
public final class StandardOutput: ByteSink {
    private let hasWritten = Atomic(false)
    private let isAtLineStart = Atomic(true)
    private let isScreen = isatty(STDOUT_FILENO) != 0
    private let terminal: Terminal

    /// Not for a regular file.
    public let mayGetStuck: Bool

    /// The thread on which bodies are written.
    public let thread = BlockingWork()

    /// Creates the sink.
    ///
    /// - Parameter terminal: Whose status line gives way if both are the same screen.
    public init(terminal: Terminal) {
        self.terminal = terminal
        var status = stat()
        mayGetStuck = unsafe fstat(STDOUT_FILENO, &status) != 0 || status.st_mode & S_IFMT != S_IFREG
    }

    /// Possible until the first byte has gone out.
    public var canRestart: Bool { !hasWritten.load(ordering: .relaxed) }

    /// Possible until the first byte has gone out.
    public func restart() -> Bool { canRestart }

    /// Writes a line for a person.
    public func write(_ line: ScreenText) throws {
        try write(Array("\(line.description)\n".utf8)[...])
    }

    /// Writes a value as a line of JSON, with everything escaped that is not printable.
    public func write(json value: JSONValue) throws {
        try write(ScreenText(json: value))
    }

    /// Writes the bytes as they are: a body.
    public func write(_ bytes: ArraySlice<UInt8>) throws {
        guard let last = bytes.last else { return }
        hasWritten.store(true, ordering: .relaxed)
        isAtLineStart.store(last == UInt8(ascii: "\n"), ordering: .relaxed)
        if isScreen { terminal.showStatus(nil) }
        try FileDescriptor.write(bytes, to: STDOUT_FILENO, name: FileError.outputName)
    }

    /// Ends an unfinished line on a screen, so that what follows stands by itself; files get the bytes as they are.
    public func endLine() {
        guard isScreen, !isAtLineStart.load(ordering: .relaxed) else { return }
        try? write([UInt8(ascii: "\n")])
    }
}
